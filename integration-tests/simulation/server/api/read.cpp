// GET of one object and of collections: selectors, pages, and what a resourceVersion means in a
// list (kubernetes.io/docs/reference/using-api/api-concepts, "resource versions").
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "server/api/state.h"

namespace esi::simulation {

namespace {

constexpr std::string_view base64_letters =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

std::string base64(std::string_view text) {
    std::string out;
    unsigned bits = 0;
    int have = 0;
    for (const char c : text) {
        bits = (bits << 8) | static_cast<unsigned char>(c);
        have += 8;
        while (have >= 6) {
            have -= 6;
            out += base64_letters[(bits >> have) & 63];
        }
    }
    if (have > 0) out += base64_letters[(bits << (6 - have)) & 63];
    return out;
}

std::string from_base64(std::string_view text) {
    std::string out;
    unsigned bits = 0;
    int have = 0;
    for (const char c : text) {
        const auto at = base64_letters.find(c);
        if (at == std::string_view::npos) return {};
        bits = (bits << 6) | static_cast<unsigned>(at);
        have += 6;
        if (have < 8) continue;
        have -= 8;
        out += static_cast<char>((bits >> have) & 255);
    }
    return out;
}

struct page_token {
    /// 0: whatever is newest.
    std::uint64_t version = 0;
    std::string ns;
    std::string name;

    std::string text() const {
        json out = {{"v", "meta.k8s.io/v1"}};
        out["rv"] = version == 0 ? -1 : static_cast<std::int64_t>(version);
        out["start"] = ns + "/" + name;
        return base64(out.dump());
    }
};

std::optional<page_token> read_token(std::string_view text) {
    const auto from = json::parse(from_base64(text), nullptr, false);
    if (!from.is_object()) return std::nullopt;
    const auto start = text_in(from, "start");
    const auto slash = start.find('/');
    const auto version = from.find("rv");
    if (slash == std::string_view::npos || version == from.end() || !version->is_number_integer()) {
        return std::nullopt;
    }
    page_token out;
    out.version =
        static_cast<std::uint64_t>(std::max<std::int64_t>(version->get<std::int64_t>(), 0));
    out.ns = start.substr(0, slash);
    out.name = start.substr(slash + 1);
    return out;
}

/// What says which kind an object is, as it is encoded.
struct head_of_object {
    std::string version;
    std::string kind;
};

/// Items of built-in kinds do not say what they are. Both members come before any object of the
/// kinds in question in which they could come again.
void append_without(std::string& to, std::string_view text, const head_of_object& head) {
    for (const auto& part : {head.version, head.kind}) {
        const auto found = text.find(part);
        if (found == std::string_view::npos) continue;
        to += text.substr(0, found);
        text = text.substr(found + part.size());
    }
    to += text;
}

/// Which state a list shows, and how.
struct list_plan {
    std::uint64_t version = 0;
    std::size_t limit = 0;
    std::optional<page_token> from;
};

/// ValidateListOptions of apimachinery.
std::vector<fault_cause> option_faults(const call& in) {
    std::vector<fault_cause> out;
    const auto forbid = [&](const char* field, std::string_view why) {
        out.push_back({field, "FieldValueForbidden", fmt::format("Forbidden: {}", why)});
    };
    if (in.query.contains("sendInitialEvents")) {
        forbid("sendInitialEvents", "sendInitialEvents is forbidden for list");
    }
    const auto match = in.option("resourceVersionMatch");
    if (match.empty()) return out;
    if (in.option("resourceVersion").empty()) {
        forbid("resourceVersionMatch",
               "resourceVersionMatch is forbidden unless resourceVersion is provided");
    }
    if (!in.option("continue").empty()) {
        forbid("resourceVersionMatch", "resourceVersionMatch is forbidden with continue");
    }
    if (match != "Exact" && match != "NotOlderThan") {
        out.push_back({"resourceVersionMatch", "FieldValueNotSupported",
                       fmt::format("Unsupported value: \"{}\": supported values: \"Exact\", "
                                   "\"NotOlderThan\", \"\"",
                                   match)});
    }
    if (match == "Exact" && in.option("resourceVersion") == "0") {
        forbid("resourceVersionMatch",
               "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"");
    }
    return out;
}

kube::response expired_page(const page_token& at) {
    return expired(
        "The provided continue parameter is too old to display a consistent list result. You can "
        "start a new list without the continue parameter, or use the continue token in this "
        "response to retrieve the remainder of the results. Continuing with the provided token "
        "results in an inconsistent list - objects that were created, modified, or deleted between "
        "the time the first chunk was returned and now may show up in the list.",
        page_token{0, at.ns, at.name}.text());
}

or_refused<list_plan> plan_list(const call& in, const storage& store, std::uint64_t visible,
                                int page_size) {
    list_plan out;
    const auto text = in.option("resourceVersion");
    const auto match = in.option("resourceVersionMatch");
    const auto faults = option_faults(in);
    if (!faults.empty()) return refused(invalid_options("ListOptions", faults));
    std::uint64_t version = 0;
    if (!text.empty()) {
        const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), version);
        if (code != std::errc() || end != text.data() + text.size()) {
            return refused(bad_request(
                fmt::format("invalid resource version: resourceVersion: Invalid value: \"{}\": "
                            "strconv.ParseUint: parsing \"{}\": invalid syntax",
                            text, text)));
        }
    }
    if (const auto limit = in.option("limit"); !limit.empty()) {
        std::from_chars(limit.data(), limit.data() + limit.size(), out.limit);
        if (out.limit > 0 && page_size > 0) {
            out.limit = std::min(out.limit, static_cast<std::size_t>(page_size));
        }
    }
    if (const auto token = in.option("continue"); !token.empty()) {
        if (version != 0) {
            return refused(
                bad_request("specifying resource version is not allowed when using continue"));
        }
        out.from = read_token(token);
        if (!out.from) {
            return refused(bad_request("invalid continue token: continue key is not valid"));
        }
        out.version = out.from->version == 0 ? store.version() : out.from->version;
        if (out.version < store.compacted()) return refused(expired_page(*out.from));
        return out;
    }
    if (text.empty()) {
        out.version = store.version();
        return out;
    }
    // A limit with a version was once an order to etcd, and still means: exactly this version.
    const bool exact = match == "Exact" || (match.empty() && out.limit > 0 && version > 0);
    if (exact) {
        if (version > store.version()) return refused(too_large_version(version, store.version()));
        if (version < store.compacted()) {
            return refused(expired("The resourceVersion for the provided list is too old."));
        }
        out.version = version;
        return out;
    }
    if (version > visible) return refused(too_large_version(version, visible));
    out.version = std::max(visible, store.compacted());
    // The watch cache gives all at once.
    out.limit = 0;
    return out;
}

std::vector<std::string> offered_fields(const kube::resource_type& type, const validation& rules) {
    std::vector<std::string> out = {"metadata.name", "metadata.namespace"};
    const auto add = [&](std::initializer_list<const char*> more) {
        out.insert(out.end(), more.begin(), more.end());
    };
    if (is_kind(type, kinds::pod)) {
        add({"spec.nodeName", "spec.restartPolicy", "spec.schedulerName", "spec.serviceAccountName",
             "status.phase", "status.nominatedNodeName"});
    }
    if (is_kind(type, kinds::node)) add({"spec.unschedulable"});
    if (is_kind(type, kinds::name_space)) add({"status.phase"});
    for (const auto& path : rules.selectable_fields(type)) {
        out.push_back(path.starts_with('.') ? path.substr(1) : path);
    }
    return out;
}

}  // namespace

or_refused<selection> api_server::state::select(const call& in) const {
    selection out;
    out.ns = in.ns;
    auto labels = label_selector::parse(in.option("labelSelector"));
    if (!labels) return refused(bad_request(std::move(labels).error()));
    out.labels = std::move(*labels);
    if (const auto text = in.option("fieldSelector"); !text.empty()) {
        auto fields = field_selector::parse(text, offered_fields(*in.type, rules));
        if (!fields) return refused(bad_request(std::move(fields).error()));
        out.fields = std::move(*fields);
    }
    return out;
}

kube::response api_server::state::get(const call& in) const {
    const auto found = store.find(*in.type, in.ns, in.name);
    return found ? answer_with(200, found->text()) : not_found(*in.type, in.name);
}

kube::response api_server::state::list(const call& in, std::uint64_t visible) const {
    const auto& type = *in.type;
    const auto chosen = select(in);
    if (!chosen) return chosen.error();
    const auto plan = plan_list(in, store, visible, settings.page_size);
    if (!plan) return plan.error();

    const head_of_object head{fmt::format(R"("apiVersion":"{}",)", type.api_version()),
                              fmt::format(R"("kind":"{}",)", type.kind)};
    std::string items;
    std::string continue_token;
    std::size_t shown = 0;
    std::size_t left = 0;
    const object* last = nullptr;
    for (const auto& each : store.all_at(type, in.ns, plan->version)) {
        if (plan->from &&
            std::tie(each->ns(), each->name()) <= std::tie(plan->from->ns, plan->from->name)) {
            continue;
        }
        if (!chosen->takes(*each)) continue;
        if (plan->limit > 0 && shown == plan->limit) {
            if (left == 0) {
                continue_token = page_token{plan->version, last->ns(), last->name()}.text();
            }
            ++left;
            continue;
        }
        if (shown++ > 0) items += ',';
        if (is_custom(type)) {
            items += each->text();
        } else {
            append_without(items, each->text(), head);
        }
        last = each.get();
    }
    std::string body =
        fmt::format(R"({{"kind":"{}List","apiVersion":"{}","metadata":{{"resourceVersion":"{}")",
                    type.kind, type.api_version(), plan->version);
    if (!continue_token.empty()) {
        body += R"(,"continue":")" + continue_token + '"';
        if (chosen->everything()) body += fmt::format(R"(,"remainingItemCount":{})", left);
    }
    body += R"(},"items":[)";
    body += items;
    body += "]}";
    return answer_with(200, std::move(body));
}

}  // namespace esi::simulation
