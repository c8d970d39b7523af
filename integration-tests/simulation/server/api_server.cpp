#include "server/api_server.h"

#include "base/group_kinds.h"
#include "server/api/state.h"

namespace esi::simulation {

api_server::state::state(server_settings how)
    : settings(std::move(how)), store(settings.now), rules(settings.crds) {
    put_first_objects();
}

bool api_server::state::serves(const kube::resource_type& type) const {
    return !is_custom(type) || installed.contains(known_as(type));
}

kube::response api_server::state::answer(const call& in, std::uint64_t visible) {
    const auto& type = *in.type;
    const auto& method = in.request->method;
    if (!serves(type)) return page_not_found();
    if (in.subresource == "status" && !rules.has_status(type)) {
        return resource_not_found();
    }
    if (method == "GET") {
        if (is_kind(type, kinds::token_review)) return method_not_allowed(type, "list");
        if (in.subresource == "binding" || in.subresource == "finalize") {
            return method_not_allowed(type, "get");
        }
        return in.name.empty() ? list(in, visible) : get(in);
    }
    if (auto dry = in.option("dryRun"); !dry.empty() && dry != "All") {
        const auto options = method == "POST"     ? "CreateOptions"
                             : method == "DELETE" ? "DeleteOptions"
                             : method == "PUT"    ? "UpdateOptions"
                                                  : "PatchOptions";
        return invalid_options(options, {{"dryRun", "FieldValueNotSupported",
                                          "Unsupported value: [\"" + std::string(dry) +
                                              "\"]: supported values: \"All\""}});
    }
    if (is_kind(type, kinds::token_review)) {
        return method == "POST" ? review_token(in) : method_not_allowed(type, method);
    }
    if (is_kind(type, kinds::custom_resource_definition)) return method_not_allowed(type, method);
    if (method == "POST") {
        if (in.subresource == "binding") return bind(in);
        if (!in.subresource.empty()) return method_not_allowed(type, "create");
        return create(in);
    }
    if (in.name.empty()) {
        return method == "PUT" ? bad_request("name must be provided")
                               : method_not_allowed(type, "deletecollection");
    }
    if (in.subresource == "binding") return method_not_allowed(type, "update");
    if (method == "PUT") return replace(in);
    if (method == "PATCH" && in.subresource != "finalize") return patch(in);
    if (method == "DELETE" && in.subresource.empty()) return remove(in);
    return method_not_allowed(type, method);
}

api_server::api_server(server_settings settings)
    : state_(std::make_unique<state>(std::move(settings))) {}
api_server::~api_server() = default;

kube::response api_server::answer(const kube::request& what, std::string_view,
                                  std::optional<std::uint64_t> visible) {
    if (auto kinds = state_->resources_of(what)) return std::move(*kinds);
    auto in = read_call(what);
    if (!in) return std::move(in).error();
    auto out = state_->answer(*in, visible.value_or(state_->store.version()));
    const bool collection = what.method == "GET" && in->name.empty();
    return in->metadata_only() && !collection ? with_metadata_only(std::move(out)) : out;
}

std::variant<kube::response, std::unique_ptr<watch>> api_server::open(
    const kube::request& what, std::optional<std::uint64_t> visible) {
    auto in = read_call(what);
    if (!in) return std::move(in).error();
    if (!state_->serves(*in->type)) return page_not_found();
    return state_->open(*in, visible.value_or(state_->store.version()));
}

void api_server::set_away(bool away) {
    state_->away = away;
    while (!state_->away && !state_->waiting.empty()) {
        auto what = std::move(state_->waiting.front());
        state_->waiting.pop_front();
        what();
    }
}

bool api_server::away() const { return state_->away; }

void api_server::when_there(std::function<void()> what) {
    if (!state_->away) return what();
    state_->waiting.push_back(std::move(what));
}

storage& api_server::objects() { return state_->store; }
const storage& api_server::objects() const { return state_->store; }

void api_server::install(std::string_view plural) {
    if (state_->installed.contains(plural)) return;
    for (const auto* type : all_kinds()) {
        if (known_as(*type) == plural && is_custom(*type)) state_->put_definition(*type);
    }
}

void api_server::uninstall(std::string_view plural) {
    const auto found = state_->installed.find(plural);
    if (found == state_->installed.end()) return;
    *found->second = false;
    state_->installed.erase(found);
    for (const auto* type : all_kinds()) {
        if (known_as(*type) != plural) continue;
        // Instances go before their definition (finalizer customresourcecleanup).
        for (const auto& one : state_->store.all(*type))
            state_->store.erase(*type, one->ns(), one->name());
        state_->store.erase(kinds::custom_resource_definition, {}, qualified(*type));
    }
}

}  // namespace esi::simulation
