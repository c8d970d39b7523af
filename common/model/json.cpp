#include "model/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <set>
#include <utility>

#include "model/names.h"
#include "model/text.h"

namespace esi::model {

namespace {

/// Deeper values are not passed on: writing, copying and comparing them would recurse as deep.
constexpr int deepest_raw = 256;
/// The longest reason, id or state, which are one word.
constexpr std::size_t longest_reason = 256;
/// The most topology keys of one pod that are distinguished.
constexpr std::size_t most_domains = 16;
/// Finalizers that are read: to remove one of more than these, a writer reads them all
/// (controller/finalizers.h).
constexpr std::size_t most_finalizers = 64;

bool too_deep(const element& from, int left) {
    if (left < 0) return true;
    if (simdjson::dom::array list; from.get(list) == simdjson::SUCCESS) {
        for (element item : list) {
            if (too_deep(item, left - 1)) return true;
        }
    } else if (simdjson::dom::object members; from.get(members) == simdjson::SUCCESS) {
        for (auto member : members) {
            if (too_deep(member.value, left - 1)) return true;
        }
    }
    return false;
}

std::string_view text_of(const element& from) {
    std::string_view text;
    return from.get(text) == simdjson::SUCCESS ? text : std::string_view{};
}

/// The element at a path of member names; a null-like miss gives false.
bool at(const element& from, std::initializer_list<std::string_view> path, element& out) {
    out = from;
    for (auto name : path) {
        element next;
        if (out.at_key(name).get(next) != simdjson::SUCCESS) return false;
        out = next;
    }
    return !out.is_null();
}

std::string text_at(const element& from, std::initializer_list<std::string_view> path) {
    element found;
    return at(from, path, found) ? std::string(text_of(found)) : std::string{};
}

/// The error as one of the member at `path`.
error under(std::initializer_list<std::string_view> path, error why) {
    std::string where;
    for (auto name : path) where += "." + std::string(name);
    why.text = where + why.text;
    return why;
}

template <class T>
result<void> read(const element& from, std::initializer_list<std::string_view> path, T& out) {
    element found;
    if (!at(from, path, found)) return {};
    auto done = codec<T>::decode(found, out);
    if (done) return done;
    return std::unexpected(under(path, std::move(done).error()));
}

error more_than(std::size_t count, std::string_view of, std::size_t most) {
    return {errc::decode,
            fmt::format(": has {} {}, of which ESI reads {} at most", count, of, most)};
}

std::size_t entries_of(const element& from) {
    simdjson::dom::array list;
    if (from.get(list) == simdjson::SUCCESS) return list.size();
    simdjson::dom::object members;
    return from.get(members) == simdjson::SUCCESS ? members.size() : 0;
}

/// A list or map of more than `most` entries is not read: it counts as unreadable.
template <class T>
result<void> read_at_most(std::size_t most, const element& from,
                          std::initializer_list<std::string_view> path, T& out) {
    element found;
    if (!at(from, path, found)) return {};
    const auto entries = entries_of(found);
    if (entries <= most) return read(from, path, out);
    return std::unexpected(under(path, more_than(entries, "entries", most)));
}

/// The same for a part that is passed on as text, in bytes.
result<void> read_text(std::size_t most, const element& from,
                       std::initializer_list<std::string_view> path, raw_json& out) {
    auto done = read(from, path, out);
    if (out.text.size() <= most) return done;
    const auto bytes = std::exchange(out.text, {}).size();
    return std::unexpected(under(path, more_than(bytes, "bytes", most)));
}

/// The first error is reported; what follows is read all the same.
void note(result<void> done, result<void>& first) {
    if (!done && first) first = std::move(done);
}

std::optional<timestamp> time_at(const element& from,
                                 std::initializer_list<std::string_view> path) {
    element found;
    if (!at(from, path, found)) return std::nullopt;
    auto parsed = timestamp::parse(text_of(found));
    return parsed ? std::optional(*parsed) : std::nullopt;
}

result<amounts> requests_of(const element& container) {
    resource_list list;
    if (auto done = read(container, {"resources", "requests"}, list); !done) {
        return std::unexpected(done.error());
    }
    return to_amounts(list);
}

/// KEP-753: sidecars (init containers with restartPolicy Always) count for all that starts after
/// them; an ordinary init container counts beside the sidecars before it.
result<amounts> effective_requests(const element& spec) {
    amounts sidecars;
    amounts largest_init;
    element list;
    if (at(spec, {"initContainers"}, list) && list.is_array()) {
        for (element container : simdjson::dom::array(list)) {
            auto own = requests_of(container);
            if (!own) return own;
            if (text_at(container, {"restartPolicy"}) == "Always") {
                add(sidecars, *own);
                raise(largest_init, sidecars);
            } else {
                amounts beside = sidecars;
                add(beside, *own);
                raise(largest_init, beside);
            }
        }
    }
    amounts total = sidecars;
    if (at(spec, {"containers"}, list) && list.is_array()) {
        for (element container : simdjson::dom::array(list)) {
            auto own = requests_of(container);
            if (!own) return own;
            add(total, *own);
        }
    }
    raise(total, largest_init);
    // KEP-2837: requests of the pod as a whole replace the sum of its containers.
    auto of_pod = requests_of(spec);
    if (!of_pod) return of_pod;
    for (const auto& [name, amount] : *of_pod) total[name] = amount;
    resource_list overhead;
    if (auto done = read(spec, {"overhead"}, overhead); !done) return std::unexpected(done.error());
    add(total, to_amounts(overhead));
    return total;
}

void read_ports(const element& spec, pod& out) {
    for (std::string_view which : {"containers", "initContainers"}) {
        element list;
        if (!at(spec, {which}, list) || !list.is_array()) continue;
        for (element container : simdjson::dom::array(list)) {
            element ports;
            if (!at(container, {"ports"}, ports) || !ports.is_array()) continue;
            const bool runs_on =
                which == "containers" || text_at(container, {"restartPolicy"}) == "Always";
            for (element each : simdjson::dom::array(ports)) {
                host_port port{text_at(each, {"protocol"}), text_at(each, {"hostIP"}), 0};
                if (each["hostPort"].get(port.port) != simdjson::SUCCESS || port.port <= 0)
                    continue;
                if (port.protocol.empty()) port.protocol = "TCP";
                if (port.ip == "0.0.0.0") port.ip.clear();
                if (runs_on) out.host_ports.push_back(std::move(port));
            }
        }
    }
}

error more_in(std::string_view where, std::size_t count, std::string_view what, std::size_t most) {
    auto why = more_than(count, what, most);
    why.text.insert(0, where);
    return why;
}

/// Its first entries, at most `most`.
template <class List>
void cut_to(List& entries, std::size_t most) {
    if (entries.size() <= most) return;
    entries.erase(std::next(entries.begin(), static_cast<std::ptrdiff_t>(most)), entries.end());
}

/// A list gathered from several places is cut to the same number of entries.
template <class List>
result<void> bound(List& entries, std::string_view where, std::string_view what,
                   std::size_t most = most_entries) {
    const auto count = entries.size();
    if (count <= most) return {};
    cut_to(entries, most);
    return std::unexpected(more_in(where, count, what, most));
}

/// If there are too many kinds, those with a request above zero stay, and before all others those
/// of Kubernetes itself (cpu, memory), whatever their order by name.
result<void> bound_requests(amounts& of) {
    const auto count = of.size();
    if (count <= most_requests) return {};
    std::erase_if(of, [](const auto& each) { return each.second == 0; });
    for (auto at = of.end(); of.size() > most_requests && at != of.begin();) {
        --at;
        if (at->first.contains('/')) at = of.erase(at);
    }
    cut_to(of, most_requests);
    return std::unexpected(
        more_in(".containers", count, "kinds of resources requested", most_requests));
}

/// An empty list is the same as none.
result<void> read_list_text(const element& from, std::initializer_list<std::string_view> path,
                            raw_json& out) {
    element list;
    if (!at(from, path, list) || !list.is_array()) return {};
    if (simdjson::dom::array(list).size() == 0) return {};
    return read_text(most_rule_text, from, path, out);
}

/// Required terms of a bound pod. Terms that are too long to be kept may select any pod: they are
/// kept as terms for all pods, in the domains of their topology keys.
result<void> read_anti_affinity(const element& spec, raw_json& out) {
    static constexpr std::string_view required = "requiredDuringSchedulingIgnoredDuringExecution";
    const std::initializer_list<std::string_view> path{"affinity", "podAntiAffinity", required};
    auto done = read_list_text(spec, path, out);
    element list;
    if (done || !at(spec, path, list)) return done;
    std::set<std::string> domains;
    simdjson::dom::array terms;
    if (list.get(terms) == simdjson::SUCCESS) {
        for (element term : terms) {
            if (domains.size() < most_domains) domains.insert(text_at(term, {"topologyKey"}));
        }
    }
    auto for_all = json::array();
    for (const auto& key : domains) {
        for_all.push_back({{"labelSelector", json::object()},
                           {"namespaceSelector", json::object()},
                           {"topologyKey", key}});
    }
    out.text = for_all.dump(-1, ' ', false, json::error_handler_t::replace);
    return done;
}

/// Constraints that no plan covers.
std::vector<std::string> read_unplanned(const element& spec) {
    std::vector<std::string> out;
    for (std::string_view name : {"resourceClaims", "schedulingGroup", "workloadRef"}) {
        element found;
        if (!at(spec, {name}, found)) continue;
        if (found.is_array() && simdjson::dom::array(found).size() == 0) continue;
        out.emplace_back(name);
    }
    element volumes;
    if (!at(spec, {"volumes"}, volumes) || !volumes.is_array()) return out;
    // A claim of the pod's own that does not exist yet, and volumes that kube-scheduler counts or
    // refuses to mount twice.
    for (std::string_view kind : {"ephemeral", "iscsi", "rbd", "gcePersistentDisk",
                                  "awsElasticBlockStore", "azureDisk", "cinder"}) {
        for (element volume : simdjson::dom::array(volumes)) {
            element found;
            if (!at(volume, {kind}, found)) continue;
            out.push_back("volumes." + std::string(kind));
            break;
        }
    }
    return out;
}

void read_claims(const element& spec, pod& out) {
    element volumes;
    if (!at(spec, {"volumes"}, volumes) || !volumes.is_array()) return;
    for (element volume : simdjson::dom::array(volumes)) {
        auto name = text_at(volume, {"persistentVolumeClaim", "claimName"});
        if (!name.empty()) out.claims.push_back(std::move(name));
    }
}

bool is_kept_annotation(std::string_view key) {
    return key.starts_with(names::prefix) || key == names::group_name ||
           key == names::group_min_member;
}

/// If there are too many, they are left out, except those that ESI itself writes, as it decides by
/// these.
result<void> read_labels(const element& from, string_map& out) {
    const auto count = entries_of(from);
    if (count <= most_labels) return codec<string_map>::decode(from, out);
    for (const auto& name : names::decisive) {
        if (element value; from.at_key(name).get(value) == simdjson::SUCCESS) {
            out.emplace(name, text_of(value));
        }
    }
    return std::unexpected(more_than(count, "entries", most_labels));
}

result<void> read_annotations(const element& from, string_map& out) {
    simdjson::dom::object annotations;
    if (from.get(annotations) != simdjson::SUCCESS) return {};
    std::size_t count = 0;
    for (auto each : annotations) count += is_kept_annotation(each.key) ? 1 : 0;
    std::size_t bytes = 0;
    std::size_t kept = 0;
    for (auto each : annotations) {
        // If there are too many, those that are not ESI's own are left out.
        const bool own = count <= most_annotations ||
                         std::ranges::find(names::decisive, each.key) != names::decisive.end();
        if (!own || !is_kept_annotation(each.key)) continue;
        auto value = text_of(each.value);
        bytes += value.size();
        if (kept + value.size() > most_annotation_bytes) continue;
        kept += value.size();
        out.emplace(each.key, std::move(value));
    }
    if (bytes == kept) return {};
    return std::unexpected(more_than(bytes, "bytes", most_annotation_bytes));
}

/// If there are too many, only those that ESI writes are read.
result<void> read_finalizers(const element& from, std::vector<std::string>& out) {
    const auto count = entries_of(from);
    if (count <= most_finalizers) return codec<std::vector<std::string>>::decode(from, out);
    simdjson::dom::array list;
    if (from.get(list) == simdjson::SUCCESS) {
        for (element each : list) {
            const auto name = text_of(each);
            const bool own =
                name == names::scheduling_finalizer || name == names::testbed_finalizer;
            if (own && out.empty()) out.emplace_back(name);
        }
    }
    return std::unexpected(more_than(count, "entries", most_finalizers));
}

/// An owner with a name longer than any object's is dropped.
result<void> leave_out_long(std::vector<owner_reference>& owners) {
    std::size_t longest = 0;
    std::erase_if(owners, [&](const owner_reference& each) {
        const auto bytes =
            each.api_version.size() + each.kind.size() + each.name.size() + each.uid.size();
        longest = std::max(longest, bytes);
        return bytes > most_name_bytes;
    });
    if (longest <= most_name_bytes) return {};
    return std::unexpected(more_than(longest, "bytes in one entry", most_name_bytes));
}

/// If there are too many, only the controller is read, by which ESI decides.
result<void> read_some_owners(const element& from, std::vector<owner_reference>& out) {
    const auto count = entries_of(from);
    if (count <= most_owners) return codec<std::vector<owner_reference>>::decode(from, out);
    simdjson::dom::array list;
    if (from.get(list) == simdjson::SUCCESS) {
        for (element each : list) {
            bool controls = false;
            if (each["controller"].get(controls) != simdjson::SUCCESS || !controls) continue;
            if (codec<owner_reference>::decode(each, out.emplace_back())) break;
            out.pop_back();
        }
    }
    return std::unexpected(more_than(count, "entries", most_owners));
}

result<void> read_owners(const element& from, std::vector<owner_reference>& out) {
    auto done = read_some_owners(from, out);
    note(leave_out_long(out), done);
    return done;
}

/// "OOMKilled (exit code 137)"; empty for a container that has not ended, or ended well.
std::string bad_end(const element& container, std::string_view state) {
    element ended;
    std::int64_t code = 0;
    if (!at(container, {state, "terminated"}, ended)) return {};
    if (ended["exitCode"].get(code) != simdjson::SUCCESS || code == 0) return {};
    // Kubelets write one word there; other writers may write more.
    const auto reason = cut(text_at(ended, {"reason"}), 64);
    return fmt::format("{} (exit code {})", reason.empty() ? "Error" : reason, code);
}

void read_deaths(const element& status, pod& out) {
    element list;
    if (at(status, {"containerStatuses"}, list) && list.is_array()) {
        for (element container : simdjson::dom::array(list)) {
            for (std::string_view state : {"state", "lastState"}) {
                if (out.died_of.empty()) out.died_of = bad_end(container, state);
            }
        }
    }
    if (out.died_of.empty() && out.phase == "Failed") {
        out.died_of = cut(text_at(status, {"reason"}), 64);
    }
}

void read_container_states(const element& status, pod& out) {
    for (std::string_view which : {"containerStatuses", "initContainerStatuses"}) {
        element list;
        if (!at(status, {which}, list) || !list.is_array()) continue;
        for (element container : simdjson::dom::array(list)) {
            auto started = time_at(container, {"state", "running", "startedAt"});
            if (!started) started = time_at(container, {"state", "terminated", "startedAt"});
            if (which == "containerStatuses" && started &&
                (!out.started_at || *started < *out.started_at)) {
                out.started_at = started;
            }
            auto finished = time_at(container, {"state", "terminated", "finishedAt"});
            if (which == "containerStatuses" && finished &&
                (!out.finished_at || *out.finished_at < *finished)) {
                out.finished_at = finished;
            }
            for (std::string_view kind : {"terminated", "waiting"}) {
                element state;
                if (!out.reason.empty() || !at(container, {"state", kind}, state)) continue;
                auto reason = text_at(state, {"reason"});
                if (reason == "Completed" || reason == "ContainerCreating") continue;
                out.reason = reason;
                out.message = text_at(state, {"message"});
            }
        }
    }
}

/// A node of a layout as one line: "NAME UID ID".
struct node_line {
    layout_node node;
};

/// A layout as JSON has it: one of the two lists.
struct layout_text {
    std::int64_t revision = 0;
    std::vector<layout_node> nodes;
    std::vector<node_line> compact_nodes;
    int slots_per_node = 0;
    resource_list resources_per_slot;
    std::vector<layout_shape> shapes;
    std::vector<int> places;
};
BOOST_DESCRIBE_STRUCT(layout_text, (),
                      (revision, nodes, compact_nodes, slots_per_node, resources_per_slot, shapes,
                       places))

/// The next field of a line; `line` keeps what follows the space behind it.
std::string_view take_field(std::string_view& line) {
    const auto field = line.substr(0, line.find(' '));
    line.remove_prefix(std::min(line.size(), field.size() + 1));
    return field;
}

}  // namespace

template <>
struct codec<node_line> {
    static result<void> decode(const element& from, node_line& out) {
        std::string_view line;
        if (from.get(line) != simdjson::SUCCESS) return fail(errc::decode, ": is not a string");
        auto rest = line;
        auto& [name, uid, id] = out.node;
        name = take_field(rest);
        uid = take_field(rest);
        const auto number = take_field(rest);
        const auto* const end = number.data() + number.size();
        const auto read = std::from_chars(number.data(), end, id);
        if (name.empty() || uid.empty() || read.ec != std::errc() || read.ptr != end) {
            return fail(errc::decode,
                        fmt::format(": \"{}\" does not begin with NAME UID ID", cut(line, 100)));
        }
        return {};
    }
    static json encode(const node_line& value) {
        const auto& [name, uid, id] = value.node;
        return fmt::format("{} {} {}", name, uid, id);
    }
};

std::string json_name(std::string_view member) {
    std::string out;
    bool upper = false;
    for (char c : member) {
        if (c == '_') {
            upper = true;
            continue;
        }
        out += upper ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
        upper = false;
    }
    return out;
}

result<void> codec<std::string>::decode(const element& from, std::string& out) {
    if (from.is_null()) return {};
    std::string_view text;
    if (from.get(text) != simdjson::SUCCESS) return fail(errc::decode, ": is not a string");
    out = text;
    return {};
}
json codec<std::string>::encode(const std::string& value) {
    return value.empty() ? json(nullptr) : json(value);
}

result<void> codec<bool>::decode(const element& from, bool& out) {
    if (from.is_null()) return {};
    if (from.get(out) != simdjson::SUCCESS) return fail(errc::decode, ": is not true or false");
    return {};
}
json codec<bool>::encode(const bool& value) { return value; }

result<void> codec<std::int64_t>::decode(const element& from, std::int64_t& out) {
    if (from.is_null()) return {};
    if (from.get(out) != simdjson::SUCCESS) return fail(errc::decode, ": is not a whole number");
    return {};
}
json codec<std::int64_t>::encode(const std::int64_t& value) { return value; }

result<void> codec<double>::decode(const element& from, double& out) {
    if (from.is_null()) return {};
    if (from.get(out) != simdjson::SUCCESS) return fail(errc::decode, ": is not a number");
    return {};
}
json codec<double>::encode(const double& value) { return value; }

result<void> codec<int>::decode(const element& from, int& out) {
    std::int64_t wide = out;
    if (auto done = codec<std::int64_t>::decode(from, wide); !done) return done;
    if (wide < std::numeric_limits<int>::min() || wide > std::numeric_limits<int>::max()) {
        return fail(errc::decode, ": is out of range");
    }
    out = static_cast<int>(wide);
    return {};
}
json codec<int>::encode(const int& value) { return value; }

result<void> codec<timestamp>::decode(const element& from, timestamp& out) {
    std::string_view text;
    if (from.get(text) != simdjson::SUCCESS) return fail(errc::decode, ": is not a time");
    auto parsed = timestamp::parse(text);
    if (!parsed) return fail(errc::decode, ": " + parsed.error().text);
    out = *parsed;
    return {};
}
json codec<timestamp>::encode(const timestamp& value) {
    const bool whole = value.value == std::chrono::floor<std::chrono::seconds>(value.value);
    return whole ? value.whole_seconds() : value.micro();
}

result<void> codec<quantity>::decode(const element& from, quantity& out) {
    std::string text;
    std::int64_t number = 0;
    double fraction = 0;
    std::string_view view;
    if (from.get(view) == simdjson::SUCCESS) {
        text = view;
    } else if (from.get(number) == simdjson::SUCCESS) {
        text = std::to_string(number);
    } else if (from.get(fraction) == simdjson::SUCCESS) {
        text = fmt::format("{}", fraction);
    } else {
        return fail(errc::decode, ": is not a quantity");
    }
    auto parsed = quantity::parse(text);
    if (!parsed) return fail(errc::decode, ": " + parsed.error().text);
    out = std::move(*parsed);
    return {};
}
json codec<quantity>::encode(const quantity& value) { return value.text; }

result<void> codec<raw_json>::decode(const element& from, raw_json& out) {
    if (too_deep(from, deepest_raw)) {
        return fail(errc::decode, fmt::format(": nests deeper than {} levels", deepest_raw));
    }
    out.text = simdjson::to_string(from);
    return {};
}
json codec<raw_json>::encode(const raw_json& value) {
    auto parsed = json::parse(value.text, nullptr, false);
    return parsed.is_discarded() ? json(nullptr) : parsed;
}

result<void> codec<testbed_layout>::decode(const element& from, testbed_layout& out) {
    layout_text text;
    auto done = codec<layout_text>::decode(from, text);
    out.revision = text.revision;
    out.slots_per_node = text.slots_per_node;
    out.resources_per_slot = std::move(text.resources_per_slot);
    out.shapes = std::move(text.shapes);
    out.places = std::move(text.places);
    if (!text.nodes.empty() && !text.compact_nodes.empty()) {
        note(fail(errc::decode, ": has both nodes and compactNodes"), done);
        return done;
    }
    out.nodes = std::move(text.nodes);
    out.compact = !text.compact_nodes.empty();
    out.nodes.reserve(out.nodes.size() + text.compact_nodes.size());
    for (auto& line : text.compact_nodes) out.nodes.push_back(std::move(line.node));
    return done;
}
json codec<testbed_layout>::encode(const testbed_layout& value) {
    layout_text out{value.revision,           {},           {},          value.slots_per_node,
                    value.resources_per_slot, value.shapes, value.places};
    if (value.compact) {
        out.compact_nodes.reserve(value.nodes.size());
        for (const auto& node : value.nodes) out.compact_nodes.push_back({node});
    } else {
        out.nodes = value.nodes;
    }
    return codec<layout_text>::encode(out);
}

result<void> codec<object_meta>::decode(const element& from, object_meta& out) {
    if (from.is_null()) return {};
    simdjson::dom::object members;
    if (from.get(members) != simdjson::SUCCESS) return fail(errc::decode, ": is not an object");
    result<void> first;
    for (auto member : members) {
        result<void> done;
        const std::string_view key = member.key;
        if (key == "name") done = codec<std::string>::decode(member.value, out.name);
        if (key == "namespace") done = codec<std::string>::decode(member.value, out.namespace_);
        if (key == "uid") done = codec<std::string>::decode(member.value, out.uid);
        if (key == "resourceVersion") {
            done = codec<std::string>::decode(member.value, out.resource_version);
        }
        if (key == "generation") done = codec<std::int64_t>::decode(member.value, out.generation);
        if (key == "creationTimestamp") {
            done = codec<std::optional<timestamp>>::decode(member.value, out.creation_timestamp);
        }
        if (key == "deletionTimestamp") {
            done = codec<std::optional<timestamp>>::decode(member.value, out.deletion_timestamp);
        }
        if (key == "labels") done = read_labels(member.value, out.labels);
        if (key == "ownerReferences") done = read_owners(member.value, out.owner_references);
        if (key == "finalizers") done = read_finalizers(member.value, out.finalizers);
        if (key == "annotations") done = read_annotations(member.value, out.annotations);
        if (!done) note(fail(errc::decode, "." + std::string(key) + done.error().text), first);
    }
    return first;
}
json codec<object_meta>::encode(const object_meta& value) {
    json out = json::object();
    out["name"] = value.name;
    if (!value.namespace_.empty()) out["namespace"] = value.namespace_;
    if (!value.uid.empty()) out["uid"] = value.uid;
    if (!value.labels.empty()) out["labels"] = value.labels;
    if (!value.annotations.empty()) out["annotations"] = value.annotations;
    return out;
}

result<void> codec<pod>::decode(const element& from, pod& out) {
    result<void> first = read(from, {"metadata"}, out.metadata);
    element spec;
    if (at(from, {"spec"}, spec)) {
        const auto note_spec = [&first](result<void> done) {
            if (!done) done = std::unexpected(under({"spec"}, std::move(done).error()));
            note(std::move(done), first);
        };
        out.node_name = text_at(spec, {"nodeName"});
        // The API server does not bound it, and schedulers have short names.
        out.scheduler_name = text_at(spec, {"schedulerName"});
        out.scheduler_name.resize(cut_size(out.scheduler_name, most_name_bytes));
        out.priority_class_name = text_at(spec, {"priorityClassName"});
        if (auto requests = effective_requests(spec)) {
            out.requests = std::move(*requests);
        } else {
            note_spec(std::unexpected(requests.error()));
        }
        note_spec(bound_requests(out.requests));
        element list;
        if (at(spec, {"schedulingGates"}, list) && list.is_array()) {
            for (element gate : simdjson::dom::array(list)) {
                out.scheduling_gates.push_back(text_at(gate, {"name"}));
            }
        }
        if (out.scheduling_gates.size() > most_gates) {
            std::ranges::partition(out.scheduling_gates, [](const std::string& gate) {
                return gate.starts_with(names::prefix);
            });
        }
        note_spec(bound(out.scheduling_gates, ".schedulingGates", "entries", most_gates));
        note_spec(read(spec, {"priority"}, out.priority));
        read_ports(spec, out);
        note_spec(bound(out.host_ports, ".containers", "host ports"));
        if (out.node_name.empty()) {
            note_spec(read_at_most(most_entries, spec, {"tolerations"}, out.tolerations));
            note_spec(read_text(most_rule_text, spec, {"affinity"}, out.affinity));
            note_spec(read_at_most(most_entries, spec, {"nodeSelector"}, out.node_selector));
            if (!out.scheduling_gates.empty()) {
                note_spec(read_list_text(spec, {"topologySpreadConstraints"}, out.topology_spread));
                read_claims(spec, out);
                note_spec(bound(out.claims, ".volumes", "PersistentVolumeClaims"));
                out.unplanned = read_unplanned(spec);
            }
        } else {
            note_spec(read_anti_affinity(spec, out.anti_affinity));
        }
    }
    element status;
    if (!at(from, {"status"}, status)) return first;
    out.phase = text_at(status, {"phase"});
    out.nominated_node_name = text_at(status, {"nominatedNodeName"});
    element conditions;
    if (at(status, {"conditions"}, conditions) && conditions.is_array()) {
        for (element condition : simdjson::dom::array(conditions)) {
            if (text_at(condition, {"type"}) != "PodScheduled") continue;
            out.scheduled_status = text_at(condition, {"status"});
            out.scheduled_reason = cut(text_at(condition, {"reason"}), longest_reason);
            out.scheduled_message = cut(text_at(condition, {"message"}));
            out.scheduled_time = time_at(condition, {"lastTransitionTime"});
        }
    }
    read_container_states(status, out);
    read_deaths(status, out);
    if (out.reason.empty()) {
        out.reason = text_at(status, {"reason"});
        out.message = text_at(status, {"message"});
    }
    out.reason = cut(out.reason, longest_reason);
    out.message = cut(out.message);
    return first;
}
json codec<pod>::encode(const pod& value) { return {{"metadata", model::encode(value.metadata)}}; }

result<void> codec<node>::decode(const element& from, node& out) {
    result<void> first = read(from, {"metadata"}, out.metadata);
    resource_list allocatable;
    note(read_at_most(most_entries, from, {"status", "allocatable"}, allocatable), first);
    out.allocatable = to_amounts(allocatable);
    note(read_at_most(most_entries, from, {"spec", "taints"}, out.taints), first);
    note(read(from, {"spec", "unschedulable"}, out.unschedulable), first);
    element conditions;
    if (at(from, {"status", "conditions"}, conditions) && conditions.is_array()) {
        for (element condition : simdjson::dom::array(conditions)) {
            if (text_at(condition, {"type"}) == "Ready") {
                out.ready = text_at(condition, {"status"}) == "True";
            }
        }
    }
    return first;
}
json codec<node>::encode(const node& value) {
    return {{"metadata", model::encode(value.metadata)}};
}

result<void> codec<spark_application>::decode(const element& from, spark_application& out) {
    result<void> first = read(from, {"metadata"}, out.metadata);
    out.state = cut(text_at(from, {"status", "applicationState", "state"}), longest_reason);
    out.error_message = cut(text_at(from, {"status", "applicationState", "errorMessage"}));
    out.submission_id = cut(text_at(from, {"status", "submissionID"}), longest_reason);
    out.driver_pod_name = cut(text_at(from, {"status", "driverInfo", "podName"}), longest_reason);
    note(read(from, {"status", "executionAttempts"}, out.execution_attempts), first);
    note(read(from, {"status", "submissionAttempts"}, out.submission_attempts), first);
    out.last_submission_attempt = time_at(from, {"status", "lastSubmissionAttemptTime"});
    out.termination_time = time_at(from, {"status", "terminationTime"});
    return first;
}
json codec<spark_application>::encode(const spark_application& value) {
    return {{"metadata", model::encode(value.metadata)}};
}

result<void> codec<custom_resource_definition>::decode(const element& from,
                                                       custom_resource_definition& out) {
    if (auto done = read(from, {"metadata"}, out.metadata); !done) return done;
    out.group = text_at(from, {"spec", "group"});
    out.kind = text_at(from, {"spec", "names", "kind"});
    element conditions;
    if (at(from, {"status", "conditions"}, conditions) && conditions.is_array()) {
        for (element condition : simdjson::dom::array(conditions)) {
            if (text_at(condition, {"type"}) == "Established") {
                out.established = text_at(condition, {"status"}) == "True";
            }
        }
    }
    return {};
}
json codec<custom_resource_definition>::encode(const custom_resource_definition& value) {
    return {{"metadata", model::encode(value.metadata)}};
}

}  // namespace esi::model
