#include "server/validation/metadata_rules.h"

#include <algorithm>

#include "base/text.h"

namespace esi::simulation {

namespace {

// In the order of the alphabet: looked up in half the steps.
constexpr std::string_view members[] = {"annotations",
                                        "creationTimestamp",
                                        "deletionGracePeriodSeconds",
                                        "deletionTimestamp",
                                        "finalizers",
                                        "generateName",
                                        "generation",
                                        "labels",
                                        "managedFields",
                                        "name",
                                        "namespace",
                                        "ownerReferences",
                                        "resourceVersion",
                                        "selfLink",
                                        "uid"};

constexpr std::size_t label_limit = 63;
constexpr std::size_t subdomain_limit = 253;
constexpr std::size_t annotations_limit = std::size_t{256} << 10;

bool lower_or_digit(char each) {
    return (each >= 'a' && each <= 'z') || (each >= '0' && each <= '9');
}
bool letter_or_digit(char each) { return lower_or_digit(each) || (each >= 'A' && each <= 'Z'); }

bool is_dns_label(std::string_view text) {
    return !text.empty() && lower_or_digit(text.front()) && lower_or_digit(text.back()) &&
           std::ranges::all_of(text, [](char each) { return lower_or_digit(each) || each == '-'; });
}

bool is_dns_subdomain(std::string_view text) {
    while (true) {
        const auto dot = text.find('.');
        if (!is_dns_label(text.substr(0, dot))) return false;
        if (dot == std::string_view::npos) return true;
        text.remove_prefix(dot + 1);
    }
}

bool is_name_part(std::string_view text) {
    return !text.empty() && letter_or_digit(text.front()) && letter_or_digit(text.back()) &&
           std::ranges::all_of(text, [](char each) {
               return letter_or_digit(each) || each == '-' || each == '_' || each == '.';
           });
}

std::string too_long(std::size_t limit) {
    return "must be no more than " + std::to_string(limit) + " bytes";
}

void check_labels(const json& labels, faults& out) {
    for (auto each = labels.begin(); each != labels.end(); ++each) {
        if (auto why = wrong_qualified_name(each.key()); !why.empty()) {
            out.push_back(invalid("metadata.labels", each.key(), why));
        }
        if (auto why = wrong_label_value(text_of(&*each)); !why.empty()) {
            out.push_back(invalid("metadata.labels", *each, why));
        }
    }
}

void check_annotations(const json& annotations, faults& out) {
    std::size_t size = 0;
    for (auto each = annotations.begin(); each != annotations.end(); ++each) {
        size += each.key().size() + text_of(&*each).size();
        if (auto why = wrong_qualified_name(lower(each.key())); !why.empty()) {
            out.push_back(invalid("metadata.annotations", each.key(), why));
        }
    }
    if (size > annotations_limit) {
        out.push_back(
            {"metadata.annotations", "FieldValueTooLong",
             "Too long: may not be more than " + std::to_string(annotations_limit) + " bytes"});
    }
}

void check_owners(const json& owners, faults& out) {
    std::string controller;
    for (const auto& each : owners) {
        const std::string path = "metadata.ownerReferences";
        if (text_member(each, "apiVersion").empty()) {
            out.push_back(invalid(path + ".apiVersion", "", "version must not be empty"));
        }
        for (const char* name : {"kind", "name", "uid"}) {
            if (text_member(each, name).empty()) {
                out.push_back(invalid(path + "." + name, "", "must not be empty"));
            }
        }
        const auto* is_controller = find_member(each, "controller");
        if (!is_controller || !is_controller->is_boolean() || !is_controller->get<bool>()) continue;
        const std::string name(text_member(each, "name"));
        if (controller.empty()) {
            controller = name;
            continue;
        }
        out.push_back(invalid(path,
                              "Only one reference can have Controller set to true. Found \"true\" "
                              "in references for " +
                                  controller + " and " + name));
    }
}

void check_finalizers(const kube::resource_type& type, const json& finalizers, const json* before,
                      faults& out) {
    std::size_t i = 0;
    for (const auto& each : finalizers) {
        const auto path = "metadata.finalizers[" + std::to_string(i++) + "]";
        if (auto why = wrong_qualified_name(text_of(&each)); !why.empty()) {
            out.push_back(invalid("metadata.finalizers", each, why));
        }
        if (type.group.empty() && text_of(&each).find('/') == std::string_view::npos &&
            each != "orphan" && each != "foregroundDeletion" && each != "kubernetes") {
            out.push_back(invalid(
                path, each, "name is neither a standard finalizer name nor is it fully qualified"));
        }
    }
    const auto* old = before ? find_member(*before, "metadata") : nullptr;
    if (!old || !find_member(*old, "deletionTimestamp")) return;
    const auto* known = list_member(*old, "finalizers");
    json added = json::array();
    for (const auto& each : finalizers) {
        if (!known || std::ranges::find(*known, each) == known->end()) added.push_back(each);
    }
    if (added.empty()) return;
    out.push_back(
        forbidden("metadata.finalizers",
                  "no new finalizers can be added if the object is being deleted, found new "
                  "finalizers " +
                      shown(added)));
}

}  // namespace

std::string wrong_qualified_name(std::string_view text) {
    const auto slash = text.find('/');
    auto name = text;
    if (slash != std::string_view::npos) {
        if (text.find('/', slash + 1) != std::string_view::npos) {
            return "a valid label key must consist of alphanumeric characters, '-', '_' or '.', "
                   "and "
                   "must start and end with an alphanumeric character with an optional DNS "
                   "subdomain "
                   "prefix and '/'";
        }
        const auto prefix = text.substr(0, slash);
        name.remove_prefix(slash + 1);
        if (prefix.empty()) return "prefix part must be non-empty";
        if (auto why = wrong_dns_subdomain(prefix); !why.empty()) return "prefix part " + why;
    }
    if (name.empty()) return "name part must be non-empty";
    if (name.size() > label_limit) return "name part " + too_long(label_limit);
    if (is_name_part(name)) return {};
    return "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and "
           "end "
           "with an alphanumeric character";
}

std::string wrong_label_value(std::string_view text) {
    if (text.size() > label_limit) return too_long(label_limit);
    if (text.empty() || is_name_part(text)) return {};
    return "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' "
           "or "
           "'.', and must start and end with an alphanumeric character";
}

std::string wrong_dns_label(std::string_view text) {
    if (text.size() > label_limit) return too_long(label_limit);
    if (is_dns_label(text)) return {};
    return "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', "
           "and "
           "must start and end with an alphanumeric character";
}

std::string wrong_dns_subdomain(std::string_view text) {
    if (text.size() > subdomain_limit) return too_long(subdomain_limit);
    if (is_dns_subdomain(text)) return {};
    return "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' "
           "or "
           "'.', and must start and end with an alphanumeric character";
}

void prepare_metadata(json& body) {
    const auto at = body.find("metadata");
    if (at == body.end() || !at->is_object()) return;
    auto& metadata = *at;
    for (auto each = metadata.begin(); each != metadata.end();) {
        const bool known = std::ranges::binary_search(members, std::string_view(each.key()));
        const bool empty =
            each->empty() || (each->is_string() && each->get_ref<const std::string&>().empty());
        each = known && !empty ? std::next(each) : metadata.erase(each);
    }
}

void find_unknown_metadata(const json& body, std::vector<std::string>& out) {
    const auto* metadata = find_member(body, "metadata");
    if (!metadata || !metadata->is_object()) return;
    for (auto each = metadata->begin(); each != metadata->end(); ++each) {
        if (!std::ranges::binary_search(members, std::string_view(each.key()))) {
            out.push_back("metadata." + each.key());
        }
    }
}

void check_metadata(const kube::resource_type& type, const json& body, const json* before,
                    faults& out) {
    static const json none = json::object();
    const auto* found = find_member(body, "metadata");
    const auto& metadata = found && found->is_object() ? *found : none;
    // What did not change was judged before.
    const auto* old = before ? find_member(*before, "metadata") : nullptr;
    const auto changed = [&](const char* name) -> const json* {
        const auto* member = find_member(metadata, name);
        if (!member) return nullptr;
        const auto* other = old ? find_member(*old, name) : nullptr;
        return other && *other == *member ? nullptr : member;
    };
    if (const auto* labels = changed("labels")) check_labels(*labels, out);
    if (const auto* annotations = changed("annotations")) check_annotations(*annotations, out);
    if (const auto* owners = changed("ownerReferences")) check_owners(*owners, out);
    if (const auto* finalizers = changed("finalizers"))
        check_finalizers(type, *finalizers, before, out);
}

}  // namespace esi::simulation
