#include "controller/leader_election.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <random>
#include <utility>

#include "base/log.h"
#include "base/wait.h"
#include "model/meta.h"

namespace esi::controller {

namespace {

using namespace std::chrono_literals;
using json = nlohmann::json;

/// A request must leave time for another before the renew deadline (client-go: renew / 2).
constexpr int requests_per_deadline = 2;

std::optional<wall_time> time_member(const json& spec, const char* name) {
    auto at = spec.find(name);
    if (at == spec.end() || !at->is_string()) return std::nullopt;
    auto parsed = model::timestamp::parse(at->get_ref<const std::string&>());
    if (!parsed) return std::nullopt;
    return parsed->value;
}

int int_member(const json& spec, const char* name) {
    auto at = spec.find(name);
    return at != spec.end() && at->is_number_integer() ? at->get<int>() : 0;
}

std::string text_member(const json& object, const char* name) {
    auto at = object.find(name);
    return at != object.end() && at->is_string() ? at->get<std::string>() : std::string();
}

std::string verb_of(lease_step::kind what) {
    switch (what) {
        case lease_step::kind::create:
            return "create";
        case lease_step::kind::update:
            return "update";
        default:
            return "get";
    }
}

}  // namespace

result<lease_record> read_lease(const json& object) {
    if (!object.is_object()) return fail(errc::decode, "Lease: is not an object");
    lease_record out;
    if (auto metadata = object.find("metadata");
        metadata != object.end() && metadata->is_object()) {
        out.version = text_member(*metadata, "resourceVersion");
    }
    if (out.version.empty()) return fail(errc::decode, "Lease: has no resourceVersion");
    auto spec = object.find("spec");
    // A Lease made by hand may have no spec: it has no holder.
    if (spec == object.end() || !spec->is_object()) return out;
    out.holder = text_member(*spec, "holderIdentity");
    out.duration_seconds = int_member(*spec, "leaseDurationSeconds");
    out.acquired = time_member(*spec, "acquireTime");
    out.renewed = time_member(*spec, "renewTime");
    out.transitions = int_member(*spec, "leaseTransitions");
    return out;
}

void write_lease(const lease_record& record, json& object) {
    if (!object.is_object()) object = json::object();
    auto& spec = object["spec"];
    if (!spec.is_object()) spec = json::object();
    spec["holderIdentity"] = record.holder;
    spec["leaseDurationSeconds"] = record.duration_seconds;
    spec["leaseTransitions"] = record.transitions;
    if (record.acquired) spec["acquireTime"] = model::timestamp{*record.acquired}.micro();
    if (record.renewed) spec["renewTime"] = model::timestamp{*record.renewed}.micro();
    if (!record.version.empty()) object["metadata"]["resourceVersion"] = record.version;
}

process_names name_process() {
    std::random_device entropy;
    const auto random = fmt::format("{:08x}{:08x}", entropy(), entropy());
    const char* pod = std::getenv("POD_NAME");
    const char* uid = std::getenv("POD_UID");
    if (pod != nullptr && uid != nullptr && *pod != '\0' && *uid != '\0') {
        const auto own = fmt::format("{}_{}_", pod, uid);
        return {own + random, own};
    }
    std::array<char, 256> host{};
    if (gethostname(host.data(), host.size() - 1) != 0 || host[0] == '\0') {
        std::string_view("unknown").copy(host.data(), host.size() - 1);
    }
    return {fmt::format("{}_{}", host.data(), random), {}};
}

struct leader_election::state {
    state(kube::client& api_, clock& time_, metrics& numbers_, election_options options_,
          std::function<void()> on_leading_)
        : api(api_),
          time(time_),
          options(std::move(options_)),
          on_leading(std::move(on_leading_)),
          random(std::hash<std::string>{}(options.identity)),
          machine(
              options.identity, options.times,
              [this] { return std::generate_canonical<double, 53>(random); }, options.pod),
          master(numbers_.gauge("leader_election_master_status",
                                "1 when this process leads, 0 when it is a standby",
                                {{"name", options.lease_name}})),
          slow_paths(numbers_.counter("leader_election_slowpath_total",
                                      "Renewals that had to read the lease first",
                                      {{"name", options.lease_name}})) {}

    asio::awaitable<lease::event> ask(lease_step step);
    asio::awaitable<void> request(lease_step step, result<std::string>& answer);
    lease::event read_answer(lease_step::kind what, result<std::string> answer);
    void tell_failure(lease_step::kind what, const error& why);
    void tell_mended();
    void show();

    kube::client& api;
    clock& time;
    election_options options;
    std::function<void()> on_leading;
    std::mt19937_64 random;
    lease_machine machine;
    prometheus::Gauge& master;
    prometheus::Counter& slow_paths;
    std::uint64_t counted_slow_paths = 0;
    bool told = false;
    kube::trouble_memory memory;
    /// The failure of requests is in the log.
    bool told_trouble = false;
    std::string shown_holder;
    /// The Lease as last read: our updates keep other writers' fields.
    json known;
};

leader_election::leader_election(kube::client& api, clock& time, metrics& numbers,
                                 election_options options, std::function<void()> on_leading)
    : state_(
          std::make_unique<state>(api, time, numbers, std::move(options), std::move(on_leading))) {}
leader_election::~leader_election() = default;

bool leader_election::leading() const { return state_->machine.leading(); }
std::string leader_election::holder() const { return state_->machine.holder(); }
const std::optional<kube::trouble>& leader_election::present_trouble() const {
    return state_->memory.present();
}
bool leader_election::known() const { return !state_->known.is_null(); }

steady_time leader_election::may_write_until() const {
    return state_->machine.may_write_until().value_or(steady_time::min());
}

asio::awaitable<void> leader_election::run() {
    auto& own = *state_;
    own.api.set_default_deadline(own.options.times.renew_deadline / requests_per_deadline);
    lease::event event = lease::started();
    while (true) {
        auto step = own.machine.resume(event, own.time.now(), own.time.wall());
        own.show();
        switch (step.what) {
            case lease_step::kind::lost:
                log::error("lease lost",
                           {{"lease", own.options.lease_name}, {"holder", own.machine.holder()}});
                co_return;
            case lease_step::kind::done:
                co_return;
            case lease_step::kind::wait:
                co_await own.time.sleep_for(step.delay);
                event = lease::waited();
                break;
            default:
                event = co_await own.ask(std::move(step));
                break;
        }
    }
}

asio::awaitable<void> leader_election::release(steady_time deadline) {
    auto& own = *state_;
    auto step = own.machine.resume(lease::stopping(), own.time.now(), own.time.wall());
    while (step.what == lease_step::kind::get || step.what == lease_step::kind::update) {
        if (own.time.now() >= deadline) break;
        auto event = co_await own.ask(std::move(step));
        step = own.machine.resume(event, own.time.now(), own.time.wall());
    }
    own.show();
}

asio::awaitable<lease::event> leader_election::state::ask(lease_step step) {
    const auto what = step.what;
    auto until = time.now() + options.times.renew_deadline / requests_per_deadline;
    // A request that outlasts the lease is of no use to a leader.
    if (auto end = machine.may_write_until()) until = std::min(until, *end);
    result<std::string> answer = fail(errc::timeout, "lease request: the deadline passed");
    co_await ends_by(time, until, request(std::move(step), answer));
    co_return read_answer(what, std::move(answer));
}

asio::awaitable<void> leader_election::state::request(lease_step step,
                                                      result<std::string>& answer) {
    const auto& type = kube::types::lease;
    if (step.what == lease_step::kind::get) {
        answer = co_await api.get(type, options.lease_namespace, options.lease_name);
        co_return;
    }
    json object;
    if (step.what == lease_step::kind::create) {
        object = json::object();
        object["metadata"] = json::object();
    } else {
        object = known;
        // The server manages the field ownership of others.
        if (auto metadata = object.find("metadata"); metadata != object.end()) {
            metadata->erase("managedFields");
        }
    }
    object["apiVersion"] = type.api_version();
    object["kind"] = type.kind;
    object["metadata"]["name"] = options.lease_name;
    object["metadata"]["namespace"] = options.lease_namespace;
    write_lease(step.record, object);
    if (step.what == lease_step::kind::create) {
        answer = co_await api.create(type, options.lease_namespace, std::move(object));
    } else {
        answer = co_await api.update(type, options.lease_namespace, options.lease_name,
                                     std::move(object));
    }
}

lease::event leader_election::state::read_answer(lease_step::kind what,
                                                 result<std::string> answer) {
    if (!answer) {
        tell_failure(what, answer.error());
        return lease::failed{std::move(answer).error()};
    }
    auto object = json::parse(*answer, nullptr, false);
    auto record = read_lease(object);
    if (!record) return lease::failed{std::move(record).error()};
    known = std::move(object);
    tell_mended();
    if (what == lease_step::kind::get) return lease::found{std::move(*record)};
    return lease::written{std::move(*record)};
}

/// A change is logged once, a repeat is not, except for a leader, whose lease runs out meanwhile.
void leader_election::state::tell_failure(lease_step::kind what, const error& why) {
    const bool ordinary = why.code == errc::conflict || why.code == errc::already_exists ||
                          (why.code == errc::not_found && what == lease_step::kind::get);
    const bool silence = why.code == errc::transport || why.code == errc::timeout;
    bool news = false;
    std::string remedy;
    if (!ordinary) {
        kube::trouble found{verb_of(what), &kube::types::lease, options.lease_namespace, why.code,
                            time.now()};
        remedy = found.remedy();
        // A server that gives no answer is reported for all requests together (kube/reach.h).
        news = memory.failed(std::move(found)) && !silence;
    }
    if (news) {
        told_trouble = true;
        log::error("lease request failed, trying again",
                   {{"lease", options.lease_namespace + "/" + options.lease_name},
                    {"status", kube::status_of(why.code)},
                    {"error", why.text},
                    {"remedy", remedy}});
        return;
    }
    const bool urgent = !ordinary && machine.leading();
    log::write(urgent ? log::level::warn : log::level::debug, "lease request failed",
               {{"lease", options.lease_name}, {"error", why.text}});
}

void leader_election::state::tell_mended() {
    memory.mended();
    if (!std::exchange(told_trouble, false)) return;
    log::info("lease requests work",
              {{"lease", options.lease_namespace + "/" + options.lease_name}});
}

void leader_election::state::show() {
    master.Set(machine.leading() ? 1 : 0);
    slow_paths.Increment(static_cast<double>(
        machine.slow_paths() - std::exchange(counted_slow_paths, machine.slow_paths())));
    if (machine.holder() != shown_holder) {
        shown_holder = machine.holder();
        log::info("lease holder", {{"lease", options.lease_name},
                                   {"holder", shown_holder.empty() ? "nobody" : shown_holder}});
    }
    if (machine.leading() && !told) {
        told = true;
        log::info("leading", {{"lease", options.lease_name}, {"identity", options.identity}});
        on_leading();
    }
}

}  // namespace esi::controller
