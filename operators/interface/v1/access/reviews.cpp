#include "interface/v1/access/reviews.h"

#include <algorithm>
#include <utility>

namespace esi::interface::v1 {

using json = nlohmann::json;

namespace {

/// The status of a review; null where there is none.
const json* status_of(const json& review) {
    if (!review.is_object()) return nullptr;
    const auto found = review.find("status");
    return found != review.end() && found->is_object() ? &*found : nullptr;
}

bool flag_in(const json& object, const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_boolean() && found->get<bool>();
}

std::string text_in(const json& object, const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

/// The texts of a list; other entries are left out.
std::vector<std::string> texts_of(const json& list) {
    std::vector<std::string> out;
    if (!list.is_array()) return out;
    for (const auto& each : list) {
        if (each.is_string()) out.push_back(each.get<std::string>());
    }
    return out;
}

std::vector<std::string> texts_in(const json& object, const char* key) {
    const auto found = object.find(key);
    return found == object.end() ? std::vector<std::string>() : texts_of(*found);
}

http::identity identity_in(const json& user) {
    http::identity out;
    out.name = text_in(user, "username");
    out.uid = text_in(user, "uid");
    out.groups = texts_in(user, "groups");
    const auto extra = user.find("extra");
    if (extra == user.end() || !extra->is_object()) return out;
    for (const auto& [key, values] : extra->items()) out.extra[key] = texts_of(values);
    return out;
}

}  // namespace

json token_review(std::string_view token, std::string_view audience) {
    return {{"apiVersion", token_review_type.api_version()},
            {"kind", token_review_type.kind},
            {"spec", {{"token", token}, {"audiences", json::array({audience})}}}};
}

result<token_verdict> read_token_review(std::string_view answer, std::string_view audience) {
    const auto review = json::parse(answer, nullptr, false);
    const auto* status = status_of(review);
    if (status == nullptr) return fail(errc::decode, "the answer is no TokenReview");
    token_verdict out;
    if (!flag_in(*status, "authenticated")) {
        out.why = text_in(*status, "error");
        return out;
    }
    const auto audiences = texts_in(*status, "audiences");
    if (std::ranges::find(audiences, audience) == audiences.end()) {
        // An authenticator that knows no audiences accepts the tokens of the API server itself.
        out.why = "the token is not for this audience";
        return out;
    }
    const auto user = status->find("user");
    if (user == status->end() || !user->is_object() || text_in(*user, "username").empty()) {
        return fail(errc::decode, "the TokenReview names no user");
    }
    out.who = std::make_shared<http::identity>(identity_in(*user));
    return out;
}

access_question question_of(const permission& what, std::string ns, std::string name) {
    access_question out{what, std::move(ns), std::move(name)};
    const bool cluster_wide = what.group.empty() && what.resource == "nodes";
    if (cluster_wide) {
        out.ns.clear();
        out.name.clear();
    }
    if (what.verb == "create" || what.verb == "list" || what.verb == "watch") out.name.clear();
    return out;
}

json access_review(const http::identity& who, const access_question& of) {
    json attributes{
        {"verb", of.what.verb}, {"group", of.what.group}, {"resource", of.what.resource}};
    if (!of.ns.empty()) attributes["namespace"] = of.ns;
    if (!of.name.empty()) attributes["name"] = of.name;
    json spec{{"user", who.name}, {"resourceAttributes", std::move(attributes)}};
    if (!who.uid.empty()) spec["uid"] = who.uid;
    if (!who.groups.empty()) spec["groups"] = who.groups;
    for (const auto& [key, values] : who.extra) spec["extra"][key] = values;
    return {{"apiVersion", access_review_type.api_version()},
            {"kind", access_review_type.kind},
            {"spec", std::move(spec)}};
}

result<bool> read_access_review(std::string_view answer) {
    const auto review = json::parse(answer, nullptr, false);
    const auto* status = status_of(review);
    if (status == nullptr) return fail(errc::decode, "the answer is no SubjectAccessReview");
    return flag_in(*status, "allowed") && !flag_in(*status, "denied");
}

std::size_t size_of(const http::identity& who) {
    auto out = sizeof(http::identity) + who.name.size() + who.uid.size();
    for (const auto& group : who.groups) out += sizeof(std::string) + group.size();
    for (const auto& [key, values] : who.extra) {
        out += 2 * sizeof(std::string) + key.size();
        for (const auto& value : values) out += sizeof(std::string) + value.size();
    }
    return out;
}

}  // namespace esi::interface::v1
