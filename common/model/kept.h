// The part of an object that caches keep: the fields that decisions need, and no more of the fields
// that its author may fill without limit.
#pragma once

#include <boost/describe.hpp>
#include <boost/mp11/algorithm.hpp>
#include <string>

#include "model/batchjob.h"
#include "model/cluster.h"
#include "model/footprint.h"
#include "model/json.h"
#include "model/scheduling.h"
#include "model/testbed.h"

namespace esi::model {

// --- transforms: by what one operator asks for ---

/// Drops the text of the application's spec (up to 1 MiB), but not which kind it is of: for the
/// caches of operators that submit no job. A driver's spec is a uid, and is kept.
void drop_application_specs(batchjob& job);
/// Drops all but the slots of the job: its order, its placements, and in which Testbed they are.
void keep_rights(batchjob& job);
/// Drops all but which job has which slots.
void keep_rights(scheduling& of);
/// Drops fields for people alone: rows, problems, messages.
void keep_layout(testbed& of);
/// Drops the rules where the pod may run.
void drop_placement_rules(pod& of);

// --- what is left of an object where its namespace stores more than a cache keeps ---

/// The metadata by which an object is identified, owned, released and deleted.
object_meta essential(object_meta meta);

/// The same with the finalizers. They are written as a whole: an unknown one would be removed.
object_meta essential_with_finalizers(object_meta meta);

/// Drops what its author wrote. Fields of operators are kept: they contain rights and states. For a
/// kind that is not ESI's own only a few short members are read at all, and these stay.
template <object T>
void leave_out_content(T& of) {
    of.metadata = essential_with_finalizers(std::move(of.metadata));
}
void leave_out_content(batchjob& of);
void leave_out_content(scheduling& of);
void leave_out_content(testbed& of);
void leave_out_content(pod& of);

/// The member of a record that takes most memory, as a path (".spec.slotBased.jobs"), for people.
template <class T>
std::string largest_member(const T& of) {
    std::string out;
    if constexpr (boost::describe::has_describe_members<T>::value) {
        std::size_t most = 0;
        using members = boost::describe::describe_members<T, boost::describe::mod_public>;
        boost::mp11::mp_for_each<members>([&](auto member) {
            const auto& value = of.*member.pointer;
            const auto bytes = held_by(value);
            if (bytes <= most) return;
            most = bytes;
            out = "." + json_name(member.name) + largest_member(value);
        });
    }
    return out;
}
template <class T>
std::string largest_member(const std::optional<T>& of) {
    return of ? largest_member(*of) : std::string();
}
std::string largest_member(const pod& of);

}  // namespace esi::model
