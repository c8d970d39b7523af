#include "batchjob/backends/kind.h"

#include <fmt/format.h>

#include "base/hash.h"

namespace esi::batchjob {

std::string hash_of(const application_kind* kind, const model::batchjob_spec& spec) {
    // The fingerprint guards against accidental equality, not against an attacker, who could only
    // spare himself a check of his own job.
    auto hash = fnv1a(kind ? kind->type() : std::string_view());
    const auto* text = kind ? kind->spec_in(spec) : nullptr;
    if (text) hash = fnv1a(text->text, hash);
    if (text && !spec.sizing.empty()) hash = fnv1a(spec.sizing, hash);
    return fmt::format("{:016x}", hash);
}

}  // namespace esi::batchjob
