// Descriptions of the interface's own answers and bodies, which no CRD has, and the codes of
// problems. Pure data.
#pragma once

#include <span>
#include <string_view>

namespace esi::interface::v1 {

struct schema_text {
    std::string_view schema;
    std::string_view member;  ///< empty: of the schema as a whole
    std::string_view text;
    /// A text or reference that is always there, or must be given.
    bool required = false;
};
std::span<const schema_text> schema_texts();

struct problem_code_text {
    std::string_view code;
    int status;  ///< with which it comes; 0: of one fault among the `errors` of a problem
    std::string_view text;
};
/// All codes, those of whole problems first.
std::span<const problem_code_text> problem_codes();

}  // namespace esi::interface::v1
