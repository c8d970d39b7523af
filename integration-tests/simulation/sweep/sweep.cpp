#include "sweep/sweep.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

#include "base/virtual_clock.h"
#include "check/end_state.h"
#include "server/desk.h"
#include "sweep/properties.h"

namespace esi::simulation {

namespace {

/// Of a long difference, what people read.
constexpr std::size_t most_shown = 6;
/// Of two changes after one another.
constexpr std::size_t sequences_of_base = 24;

/// One change of a spec, as the operations of a JSON patch, and the way back.
struct spec_change {
    std::string label;
    std::string property;  ///< first name of the path
    json there;
    json back;
    bool forbidden = false;
    /// Another way to say what the good spec says.
    bool same = false;
};

json operation(const char* op, const json::json_pointer& at, std::optional<json> value) {
    json out = {{"op", op}, {"path", "/spec" + at.to_string()}};
    if (value) out["value"] = std::move(*value);
    return out;
}

/// Sets (or takes away) the value in `spec`; false where its parent is not there.
bool put(json& spec, const property& of, const std::optional<json>& value) {
    const auto at = of.pointer();
    const auto parent = at.parent_pointer();
    if (!parent.empty() && !spec.contains(parent)) return false;
    auto& inside = parent.empty() ? spec : spec.at(parent);
    const auto& last = of.path.back();
    if (inside.is_array()) {
        const auto index = static_cast<std::size_t>(std::stoul(last));
        if (index >= inside.size() || !value) return false;
        inside[index] = *value;
        return true;
    }
    if (!inside.is_object()) return false;
    if (!value) return inside.erase(last) > 0;
    inside[last] = *value;
    return true;
}

/// The way from the present spec to one with the value. Where the property's parent is missing, the
/// whole of it is set from the base's example; nothing: there is no way.
std::optional<json> way_to(const sweep_base& base, const property& of,
                           const std::optional<json>& value) {
    const auto at = of.pointer();
    const auto parent = at.parent_pointer();
    json present = base.live_spec;
    if (parent.empty() || present.contains(parent)) {
        if (!put(present, of, value)) return std::nullopt;
        const bool replaces = base.live_spec.contains(at);
        return json::array({operation(!value     ? "remove"
                                      : replaces ? "replace"
                                                 : "add",
                                      at, value)});
    }
    const auto& top = of.path.front();
    if (!base.examples.contains(top)) return std::nullopt;
    json spec = {{top, base.examples.at(top)}};
    if (!put(spec, of, value)) return std::nullopt;
    return json::array({operation("add", json::json_pointer("/" + top), spec.at(top))});
}

json way_back(const sweep_base& base, const property& of) {
    const auto& top = of.path.front();
    const json::json_pointer at("/" + top);
    const auto& spec = base.object.at("spec");
    if (spec.contains(top)) return json::array({operation("add", at, spec.at(top))});
    return json::array({operation("remove", at, std::nullopt)});
}

std::vector<spec_change> changes_of(const sweep_base& base, const json& schema) {
    std::vector<spec_change> out;
    auto all = base.only_inside ? std::vector<property>() : properties(schema);
    const auto declared = all.size();
    for (const auto& [name, inner] : base.inside.items()) {
        for (auto& one : properties(inner)) {
            one.path.insert(one.path.begin(), name);
            one.required = false;
            all.push_back(std::move(one));
        }
    }
    for (std::size_t i = 0; i < all.size(); ++i) {
        const auto& of = all[i];
        const auto& top = of.path.front();
        std::optional<json> present;
        json known = base.live_spec;
        if (!known.contains(top) && base.examples.contains(top)) known[top] = base.examples.at(top);
        if (const auto at = of.pointer(); known.contains(at)) present = known.at(at);
        for (auto& one : trials(of, present)) {
            auto there = way_to(base, of, one.value);
            if (!there) continue;
            // An absent namespace is the object's own; slots are a set.
            const bool same = (of.path.back() == "namespace" && present == json("default") &&
                               (!one.value || one.value->is_null() || *one.value == "")) ||
                              (of.path.back() == "slotIds" && one.label == "turned-round");
            out.push_back({fmt::format("{}/{}", of.name(), one.label), top, std::move(*there),
                           way_back(base, of), one.forbidden && i < declared, same});
        }
    }
    return out;
}

/// A property that was there is taken for another: what one change of one property cannot reach.
std::vector<spec_change> changes_of_two(const sweep_base& base) {
    std::vector<spec_change> out;
    const auto& spec = base.object.at("spec");
    const json::json_pointer queue("/queueBased");
    const json::json_pointer slots("/slotBased");
    const json by_slots = {
        {"mode", "relaxed"},
        {"jobs", json::array({{{"name", {{"name", "second"}}}, {"slotIds", json::array({3})}}})}};
    const json in_queue = json::array({{{"name", "second"}}});
    auto exchange = [&](const json::json_pointer& from, const json::json_pointer& to, json value) {
        out.push_back({"spec/exchanged", "spec",
                       json::array({operation("remove", from, std::nullopt),
                                    operation("add", to, std::move(value))}),
                       json::array({operation("remove", to, std::nullopt),
                                    operation("add", from, spec.at(from))}),
                       false, false});
    };
    if (spec.contains("queueBased")) exchange(queue, slots, by_slots);
    if (spec.contains("slotBased")) exchange(slots, queue, in_queue);
    const json::json_pointer pool("/poolBased");
    if (spec.contains("poolBased")) exchange(pool, slots, by_slots);
    return out;
}

happening patch_at(milliseconds when, const sweep_base& base, json operations) {
    return {when,
            "patch",
            {{"kind", base.type->plural},
             {"ns", "default"},
             {"name", base.object.at("metadata").at("name")},
             {"type", "json"},
             {"patch", std::move(operations)}}};
}

/// An API server that knows only the swept object, to learn what it says to a change.
class probe {
public:
    explicit probe(const sweep_base& base, const std::string& crds)
        : base_(base), server_(settings(crds)), people_(server_, "people") {}

    /// The object as it is when the change comes; an error when the base itself is refused.
    result<json> begin() {
        auto made = people_.create(*base_.type, "default", base_.object);
        if (!made) return made;
        return people_.patch(*base_.type, "default", name(), kube::patch_kind::merge,
                             {{"spec", base_.live_spec}});
    }
    result<json> patch(const json& operations) {
        return people_.patch(*base_.type, "default", name(), kube::patch_kind::json, operations);
    }
    result<json> create(const json& object) {
        return people_.create(*base_.type, "default", object);
    }

private:
    std::string name() const { return base_.object.at("metadata").at("name").get<std::string>(); }
    server_settings settings(const std::string& crds) {
        server_settings out;
        out.now = [this] { return time_.now(); };
        out.wall = [this] { return time_.wall(); };
        out.crds = crds;
        return out;
    }

    const sweep_base& base_;
    virtual_clock time_;
    api_server server_;
    desk people_;
};

/// What the server says, and whether the stored spec differs then.
void ask(sweep_case& out, const result<json>& said, const json& before) {
    if (!said) {
        out.refusal = said.error();
        return;
    }
    out.changes = said->value("spec", json::object()) != before;
}

sweep_case case_of_change(const sweep_base& base, const spec_change& change,
                          const std::string& crds) {
    sweep_case out;
    out.name = fmt::format("{}/{}", base.name, change.label);
    out.base = &base;
    out.forbidden = change.forbidden;
    out.unread = change.same || base.unread.contains(change.property);
    out.taken_back = base.taken_back.contains(change.property);
    probe server(base, crds);
    const auto before = server.begin();
    if (!before) {
        out.refusal = error{errc::server, "the base is refused: " + before.error().text};
        return out;
    }
    ask(out, server.patch(change.there), before->value("spec", json::object()));
    if (!out.changes) return out;
    out.stays = base.undisturbed;
    out.stays.workload.push_back(patch_at(base.change, base, change.there));
    if (base.final_.contains(change.property) || out.taken_back) return out;
    out.back = out.stays;
    out.back.workload.push_back(patch_at(base.restore, base, change.back));
    return out;
}

std::optional<sweep_case> case_of_creation(const sweep_base& base, const spec_change& change,
                                           const std::string& crds) {
    sweep_case out;
    out.name = fmt::format("{}/{}/created", base.name, change.label);
    out.base = &base;
    out.forbidden = change.forbidden;
    out.unread = change.same || base.unread.contains(change.property);
    out.taken_back = base.taken_back.contains(change.property);
    json object;
    try {
        object = base.object.patch(change.there);
    } catch (const json::exception&) {
        return std::nullopt;
    }
    probe good(base, crds);
    const auto before = good.create(base.object);
    probe server(base, crds);
    ask(out, server.create(object), before ? before->value("spec", json::object()) : json());
    if (!out.changes) return out;
    auto created = base.undisturbed;
    for (auto& one : created.workload) {
        if (one.with.value("object", json()) == base.object) one.with["object"] = object;
    }
    // What is not the user's goes by itself; what cannot be changed later stays.
    if (base.final_.contains(change.property)) {
        out.stays = std::move(created);
        return out;
    }
    if (!out.taken_back) {
        created.workload.push_back(patch_at(base.restore, base, change.back));
    }
    out.back = std::move(created);
    return out;
}

/// `first`, then `second`, then both taken back. Nothing where either is refused or without effect,
/// so that there would be no sequence.
std::optional<sweep_case> case_of_sequence(const sweep_base& base, const spec_change& first,
                                           const spec_change& second, const std::string& crds) {
    // What the first has taken away the second adds.
    auto then = second.there;
    for (auto& one : then) {
        if (one["op"] == "replace") one["op"] = "add";
    }
    probe server(base, crds);
    const auto begun = server.begin();
    if (!begun) return std::nullopt;
    const auto one = server.patch(first.there);
    if (!one || one->value("spec", json()) == begun->value("spec", json())) return std::nullopt;
    const auto two = server.patch(then);
    if (!two || two->value("spec", json()) == one->value("spec", json())) return std::nullopt;
    json back = json::array();
    std::set<std::string> tops{first.property, second.property};
    for (const auto& top : tops) {
        const json::json_pointer at("/" + top);
        const auto& spec = base.object.at("spec");
        if (spec.contains(top)) {
            back.push_back(operation("add", at, spec.at(top)));
        } else if (two->at("spec").contains(top)) {
            back.push_back(operation("remove", at, std::nullopt));
        }
    }
    sweep_case out;
    out.name = fmt::format("{}/{}+{}", base.name, first.label, second.label);
    out.base = &base;
    out.changes = true;
    out.back = base.undisturbed;
    out.back.workload.push_back(patch_at(base.change, base, first.there));
    out.back.workload.push_back(patch_at((base.change + base.restore) / 2, base, std::move(then)));
    out.back.workload.push_back(patch_at(base.restore, base, std::move(back)));
    return out;
}

/// All pairs would be a thousand for each base: some, spread over all changes, every other one of
/// neighbours in the list (mostly of one property); the same in each run. `single`: the cases of
/// `changes`, in their order.
std::vector<sweep_case> sequences(const sweep_base& base, const std::vector<spec_change>& changes,
                                  const std::vector<sweep_case>& single, const std::string& crds) {
    std::vector<const spec_change*> possible;
    for (std::size_t i = 0; i < changes.size(); ++i) {
        const bool whole = changes[i].property == "spec";
        if (!whole && single[i].changes && !single[i].back.workload.empty()) {
            possible.push_back(&changes[i]);
        }
    }
    std::vector<sweep_case> out;
    std::set<std::string> names;
    const auto count = possible.size();
    for (std::size_t k = 0; k < 4 * sequences_of_base && out.size() < sequences_of_base; ++k) {
        if (count < 2) break;
        const auto first = (k * 37) % count;
        const auto second = (k % 2 == 0 ? first + 1 : k * 53 + 11) % count;
        if (first == second) continue;
        auto made = case_of_sequence(base, *possible[first], *possible[second], crds);
        if (made && names.insert(made->name).second) out.push_back(std::move(*made));
    }
    return out;
}

void drop(json& from, const std::set<std::string, std::less<>>& keys) {
    if (from.is_array()) {
        for (auto& one : from) drop(one, keys);
        return;
    }
    if (!from.is_object()) return;
    for (auto at = from.begin(); at != from.end();) {
        if (keys.contains(at.key())) {
            at = from.erase(at);
        } else {
            drop(at.value(), keys);
            ++at;
        }
    }
}

/// "layout 3 is what nodes and spec say" tells the revision.
void blank_revisions(json& from) {
    if (from.is_string()) {
        auto text = from.get<std::string>();
        constexpr std::string_view word = "layout ";
        for (auto at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
            const auto begin = at + word.size();
            const auto end = std::min(text.find_first_not_of("0123456789", begin), text.size());
            if (end > begin) text.replace(begin, end - begin, "N");
        }
        from = std::move(text);
        return;
    }
    if (!from.is_structured()) return;
    for (auto& one : from) blank_revisions(one);
}

void add_differences(std::string_view rule, const json& expected, const json& found,
                     std::vector<std::string>& out) {
    auto all = differences(expected, found);
    if (all.empty()) return;
    const auto count = all.size();
    if (count > most_shown) {
        all.resize(most_shown);
        all.push_back(fmt::format("and {} more", count - most_shown));
    }
    out.push_back(fmt::format("{}: {}", rule, fmt::join(all, "; ")));
}

}  // namespace

std::vector<sweep_case> sweep_cases(const std::string& crds) {
    std::vector<sweep_case> out;
    for (const auto& base : sweep_bases()) {
        const auto file = fmt::format("{}/{}.yaml", crds,
                                      base.object.at("kind") == "BatchJob"  ? "batchjob"
                                      : base.object.at("kind") == "Testbed" ? "testbed"
                                                                            : "scheduling");
        auto changes = changes_of(base, spec_schema(file));
        for (auto& one : changes_of_two(base)) changes.push_back(std::move(one));
        std::vector<sweep_case> single;
        for (const auto& one : changes) single.push_back(case_of_change(base, one, crds));
        auto pairs = sequences(base, changes, single, crds);
        std::ranges::move(single, std::back_inserter(out));
        std::ranges::move(pairs, std::back_inserter(out));
        if (!base.from_the_start) continue;
        for (const auto& one : changes) {
            if (auto made = case_of_creation(base, one, crds)) out.push_back(std::move(*made));
        }
    }
    return out;
}

json comparable(const json& end, const sweep_base& base, bool without_spec) {
    static const std::set<std::string, std::less<>> history = {
        "generation", "observedGeneration", "revision", "epoch", "lastRun", "resourceVersion"};
    json out = end;
    drop(out, history);
    blank_revisions(out);
    if (!without_spec) return out;
    const auto kind = out.find(base.type->plural);
    if (kind == out.end()) return out;
    const auto name = "default/" + base.object.at("metadata").at("name").get<std::string>();
    const auto object = kind->find(name);
    if (object != kind->end() && object->is_object()) object->erase("spec");
    return out;
}

std::vector<std::string> judge(const sweep_case& what, const json& good, const outcome& stays,
                               const outcome& back) {
    std::vector<std::string> out;
    if (what.refusal && what.refusal->code != errc::invalid &&
        what.refusal->code != errc::bad_request) {
        out.push_back(fmt::format("bad-answer: {}", what.refusal->text));
    }
    if (what.forbidden && what.changes) {
        out.push_back("bad-value-accepted: the schema forbids it");
    }
    for (const auto* one : {&stays, &back}) {
        for (const auto& broken : one->violations) {
            out.push_back(fmt::format("{}: {}", broken.rule, broken.text));
        }
    }
    if (!out.empty()) return out;
    if (!what.stays.workload.empty()) {
        const auto expected = comparable(good, *what.base, true);
        const auto found = comparable(stays.end, *what.base, true);
        if (what.taken_back) {
            add_differences("not-taken-back", comparable(good, *what.base, false),
                            comparable(stays.end, *what.base, false), out);
        } else if (!what.unread && differences(expected, found).empty()) {
            out.emplace_back(
                "not-shown: it was accepted, and neither the status nor another object "
                "tells of it");
        }
    }
    if (!what.back.workload.empty()) {
        add_differences("not-recovered", comparable(good, *what.base, false),
                        comparable(back.end, *what.base, false), out);
    }
    return out;
}

}  // namespace esi::simulation
