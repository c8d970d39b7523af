#include "scheduling/action.h"

#include <iterator>

namespace esi::scheduling {

namespace {

/// In the order of the variant's alternatives.
constexpr std::string_view action_names[] = {
    "wait",          "read_testbed",     "read_job",      "read_pods", "read_release",
    "add_finalizer", "remove_finalizer", "hold",          "acquire",   "commit",
    "request",       "release",          "remove_hold",   "reset_job", "delete",
    "make_testbed",  "steer_claim",      "remove_testbed"};
static_assert(std::size(action_names) == std::variant_size_v<action>);

}  // namespace

std::string_view name_of(const action& what) { return action_names[what.index()]; }

}  // namespace esi::scheduling
