#include "neighbours/gangs/member_sets.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/fields.h"
#include "neighbours/controller_rows.h"

namespace esi::simulation {

namespace {

constexpr std::string_view index_label = "example.com/index";
/// A Job's backoffLimit: what fails for ever ends.
constexpr int most_failures = 6;

std::optional<int> index_of(const json& pod) {
    const auto text = fields::label(pod, index_label);
    int out = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), out);
    return text.empty() || read.ec != std::errc() ? std::nullopt : std::optional(out);
}

struct row : controller_row {
    member_set wanted;
    std::string uid;
    /// Attempts by index.
    std::map<int, int> attempts;
};

}  // namespace

struct member_sets::state : controller_rows<state, row> {
    explicit state(surroundings& around)
        : controller_rows(around, "member-controllers", "member controllers") {}

    std::map<std::string, std::string, std::less<>> by_uid;

    void noticed(const change& what) {
        if (what.type->plural != kinds::pod.plural) return;
        const auto found = by_uid.find(fields::controller(what.after->body()));
        if (found != by_uid.end()) soon(found->second);
    }

    void remove_pod(const object& pod) {
        if (fields::deleting(pod.body())) return;
        (void)own.remove(kinds::pod, pod.ns(), pod.name(), kube::preconditions(pod.uid()));
    }

    /// The indices that need no pod of their own: one lives, or has ended as it should.
    std::set<int> served(const row& one, const std::vector<object_pointer>& pods) {
        std::set<int> out;
        for (const auto& pod : pods) {
            const auto& body = pod->body();
            const auto index = index_of(body);
            if (!index) continue;
            const bool ended_well = fields::phase(body) == "Succeeded" &&
                                    one.wanted.again == "failed" && !fields::deleting(body);
            const bool lives = !fields::deleting(body) && !fields::terminal(body);
            if (ended_well || lives) out.insert(*index);
        }
        return out;
    }

    void look(const std::string& key) {
        const auto found = rows.find(key);
        if (found == rows.end()) return;
        auto& one = found->second;
        one.look_due = false;
        const auto home = in.server.objects().find(kinds::name_space, {}, one.wanted.ns);
        if (!home || fields::deleting(home->body())) one.deleting = true;
        std::vector<object_pointer> pods;
        for (auto& pod : in.server.objects().all(kinds::pod, one.wanted.ns)) {
            if (fields::controller(pod->body()) == one.uid) pods.push_back(std::move(pod));
        }
        if (one.deleting) {
            for (const auto& pod : pods) remove_pod(*pod);
            if (!pods.empty()) return;
            by_uid.erase(one.uid);
            rows.erase(found);
            return;
        }
        for (const auto& pod : pods) {
            const auto index = index_of(pod->body());
            if (index && *index >= one.wanted.count) remove_pod(*pod);
        }
        const auto there = served(one, pods);
        for (int i = 0; i < one.wanted.count; ++i) {
            if (there.contains(i)) continue;
            if (one.attempts[i] > most_failures && one.wanted.again == "failed") continue;
            if (make_pod(one, i)) continue;
            return again(one, key);
        }
        one.retry = first_retry;
    }

    bool make_pod(row& one, int index) {
        const auto& wanted = one.wanted;
        json pod = wanted.pod;
        pod["apiVersion"] = "v1";
        pod["kind"] = "Pod";
        auto& metadata = pod["metadata"];
        metadata["namespace"] = wanted.ns;
        metadata["name"] = fmt::format("{}-{}-{}", wanted.name, index, word(5));
        metadata["labels"][index_label] = std::to_string(index);
        const bool job = wanted.again == "failed";
        metadata["ownerReferences"] = json::array({{{"apiVersion", job ? "batch/v1" : "apps/v1"},
                                                    {"kind", job ? "Job" : "ReplicaSet"},
                                                    {"name", wanted.name},
                                                    {"uid", one.uid},
                                                    {"controller", true},
                                                    {"blockOwnerDeletion", true}}});
        if (index == 0 && one.attempts[0] < wanted.fails) {
            metadata["annotations"]["example.com/exit"] = "1";
        }
        if (!wanted.cpus.empty()) {
            const auto at = static_cast<std::size_t>(index) % wanted.cpus.size();
            pod["spec"]["containers"][0]["resources"]["requests"]["cpu"] = wanted.cpus[at];
        }
        const auto done = own.create(kinds::pod, wanted.ns, std::move(pod));
        if (done) {
            ++one.attempts[index];
            return true;
        }
        in.told.tell("member-controllers", [&] {
            return fmt::format("{}/{}: no pod: {}", wanted.ns, wanted.name, done.error().text);
        });
        return false;
    }
};

member_sets::member_sets(surroundings& in) : state_(std::make_shared<state>(in)) {
    in.server.objects().on_change([weak = std::weak_ptr<state>(state_)](const change& what) {
        if (const auto self = weak.lock(); self && !self->rows.empty()) self->noticed(what);
    });
}
member_sets::~member_sets() = default;

void member_sets::crash() { state_->crash(); }
void member_sets::restart() { state_->restart(); }
void member_sets::set_pace(pace speed) { state_->speed = speed; }

void member_sets::put(member_set what) {
    const auto key = state::key_of(what.ns, what.name);
    auto [at, fresh] = state_->rows.try_emplace(key);
    at->second.wanted = std::move(what);
    if (fresh) {
        at->second.uid = fmt::format("{:08x}-6a46-4000-8000-000000000000", ++state_->made);
        state_->by_uid[at->second.uid] = key;
    }
    state_->soon(key);
}

void member_sets::remove(std::string_view ns, std::string_view name) {
    const auto found = state_->rows.find(state::key_of(ns, name));
    if (found == state_->rows.end()) return;
    found->second.deleting = true;
    state_->soon(found->first);
}

}  // namespace esi::simulation
