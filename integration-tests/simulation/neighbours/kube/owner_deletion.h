// The garbage collector: deletes objects all of whose owners are gone. An owner that it does not
// know is looked for by a live read, and by uid. Owners of kinds that are not served here are taken
// to be there. It does not know foreground deletion and orphaning. Owned by the controller manager.
#pragma once

#include <map>
#include <set>
#include <string>

#include "neighbours/kube/duty.h"

namespace esi::simulation {

class owner_deletion {
public:
    explicit owner_deletion(duty& of) : of_(of) {}

    /// Whether a change may matter: owners came or changed, or an object went.
    static bool wanted(const change& made);
    void seen(const kube::resource_type& type, const object& what);
    void gone(const object& what);
    void forget();

private:
    struct dependent {
        const kube::resource_type* type;
        std::string ns;
        std::string name;
    };

    bool exists(const object& dependent, const json& owner) const;
    void look(const dependent& at, const std::string& uid);

    duty& of_;
    /// By uid.
    std::map<std::string, dependent, std::less<>> known_;
    std::map<std::string, std::set<std::string>, std::less<>> dependents_;
};

}  // namespace esi::simulation
