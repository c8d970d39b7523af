// Answers of two API servers made comparable: what differs from server to server and from run to
// run is masked. uids become numbers in the order in which they are first seen, resourceVersions
// the number of writes seen so far, times and random names a word. Messages are for people and left
// out; their causes' fields and reasons are kept.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>

namespace esi::simulation {

using json = nlohmann::json;

class normal_form {
public:
    /// Texts of the run (such as the namespace) and what stands for them, longest first.
    explicit normal_form(std::map<std::string, std::string, std::greater<>> words);

    /// What is shown of an answer: a Status without message, an object, a list.
    json answer(int code, const json& body);
    /// One event of a watch.
    json event(const json& event);
    /// Puts the order of writes in the place of resourceVersions; once, at the end.
    json finished(const json& shown) const;

private:
    std::map<std::string, std::string, std::greater<>> words_;
    std::map<std::string, std::string> uids_;
    std::set<unsigned long long> writes_;

    json status(const json& body);
    json object(const json& body, bool written);
    json value(const std::string& key, const json& from);
    std::string text(const std::string& from) const;
    json version(const json& from) const;
};

}  // namespace esi::simulation
