// The reviews sent to the API server, and what its answers say: the owner of a token (TokenReview),
// and a caller's right (SubjectAccessReview). Pure.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/result.h"
#include "http/message.h"
#include "interface/v1/wire/operation.h"
#include "kube/resource.h"

namespace esi::interface::v1 {

inline constexpr kube::resource_type token_review_type{"authentication.k8s.io", "v1",
                                                       "tokenreviews", "TokenReview", false};
inline constexpr kube::resource_type access_review_type{
    "authorization.k8s.io", "v1", "subjectaccessreviews", "SubjectAccessReview", false};

nlohmann::json token_review(std::string_view token, std::string_view audience);

struct token_verdict {
    /// Null: the token is not valid, or was made for another audience.
    std::shared_ptr<const http::identity> who;
    /// Why, in the words of the API server; for the log.
    std::string why;
};
/// An answer without the status that a TokenReview has is an error.
result<token_verdict> read_token_review(std::string_view answer, std::string_view audience);

/// The question of a review: the resource of `what` in the namespace `ns` (empty: in all) with the
/// name `name` (empty: any). Objects without a namespace, and verbs without a single object, leave
/// it out.
struct access_question {
    permission what;
    std::string ns;
    std::string name;
};
access_question question_of(const permission& what, std::string ns, std::string name);

nlohmann::json access_review(const http::identity& who, const access_question& of);
result<bool> read_access_review(std::string_view answer);

/// Bytes that an identity keeps, about.
std::size_t size_of(const http::identity& who);

}  // namespace esi::interface::v1
