#include "neighbours/gangs/member_sets.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/fields.h"

namespace esi::simulation {

namespace {

constexpr std::string_view index_label = "example.com/index";
constexpr std::string_view letters = "bcdfghjklmnpqrstvwxz2456789";
constexpr auto first_retry = seconds(1);
constexpr auto longest_retry = seconds(15);
/// A Job's backoffLimit: what fails for ever ends.
constexpr int most_failures = 6;

std::optional<int> index_of(const json& pod) {
    const auto text = fields::label(pod, index_label);
    int out = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), out);
    return text.empty() || read.ec != std::errc() ? std::nullopt : std::optional(out);
}

}  // namespace

struct member_sets::state : std::enable_shared_from_this<state> {
    explicit state(surroundings& around)
        : in(around),
          own(around.server, "member-controllers"),
          chance(around.chance.fork("member controllers")) {}

    struct row {
        member_set wanted;
        std::string uid;
        bool deleting = false;
        bool look_due = false;
        steady_time::duration retry = first_retry;
        /// Attempts by index.
        std::map<int, int> attempts;
    };

    surroundings& in;
    desk own;
    random_source chance;
    pace speed;
    bool up = true;
    int life = 0;
    std::uint64_t made = 0;
    /// By "namespace/name".
    std::map<std::string, row, std::less<>> rows;
    std::map<std::string, std::string, std::less<>> by_uid;

    static std::string key_of(std::string_view ns, std::string_view name) {
        return fmt::format("{}/{}", ns, name);
    }

    void noticed(const change& what) {
        if (what.type->plural != kinds::pod.plural) return;
        const auto found = by_uid.find(fields::controller(what.after->body()));
        if (found != by_uid.end()) soon(found->second);
    }

    void soon(const std::string& key) {
        const auto found = rows.find(key);
        if (!up || found == rows.end() || found->second.look_due) return;
        found->second.look_due = true;
        at(chance.between(speed.least, speed.most), key);
    }
    void at(steady_time::duration time, std::string key) {
        in.time.after(time, [weak = weak_from_this(), born = life, key = std::move(key)] {
            const auto self = weak.lock();
            if (self && self->up && self->life == born) self->look(key);
        });
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
            one.look_due = true;
            at(one.retry, key);
            one.retry = std::min<steady_time::duration>(one.retry * 2, longest_retry);
            return;
        }
        one.retry = first_retry;
    }

    bool make_pod(row& one, int index) {
        const auto& wanted = one.wanted;
        json pod = wanted.pod;
        pod["apiVersion"] = "v1";
        pod["kind"] = "Pod";
        auto& metadata = pod["metadata"];
        std::string word;
        for (int i = 0; i < 5; ++i) word += letters[chance.below(letters.size())];
        metadata["namespace"] = wanted.ns;
        metadata["name"] = fmt::format("{}-{}-{}", wanted.name, index, word);
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

void member_sets::crash() {
    state_->up = false;
    ++state_->life;
}

void member_sets::restart() {
    if (state_->up) return;
    state_->up = true;
    for (auto& [key, one] : state_->rows) {
        one.look_due = false;
        one.retry = first_retry;
        state_->soon(key);
    }
}

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
