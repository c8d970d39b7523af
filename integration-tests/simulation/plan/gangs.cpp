#include "plan/gangs.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/fields.h"
#include "base/group_kinds.h"
#include "base/random.h"
#include "plan/cast.h"
#include "plan/faults.h"

namespace esi::simulation {

namespace {

constexpr const char* prefix = "esi.tu-berlin.de/";
constexpr int first_ms = 1500;
constexpr int horizon_ms = 150000;

struct gang {
    const group_kind* kind = nullptr;
    std::string ns;
    std::string name;
    int members = 0;
    int least = 0;
    milliseconds at{0};
};

class gang_author {
public:
    explicit gang_author(std::uint64_t seed)
        : chance_(random_source(seed).fork("gangs")),
          faults_(random_source(seed).fork("faults of gangs")) {
        plan_.seed = seed;
        plan_.gangs = true;
        plan_.scenario = "gangs";
        plan_.patience = std::chrono::minutes(60);
    }

    plan write() {
        plan_.replicas = chance_.chance(650) ? 1 : 2;
        plan_.streaming_lists = !chance_.chance(150);
        if (!plan_.streaming_lists && chance_.chance(600)) plan_.page_size = chance_.between(2, 6);
        plan_.layouts = chance_.chance(500) ? "listed" : "compact";
        put_cluster();
        if (chance_.fork("siege").chance(150)) {
            put_siege();
            return std::move(plan_);
        }
        const int gangs = chance_.between(2, 7);
        for (int i = 0; i < gangs; ++i) put_gang(i);
        put_strangers();
        put_people();
        put_claims();
        put_faults();
        return std::move(plan_);
    }

private:
    void add(milliseconds at, std::string what, json with) {
        plan_.workload.push_back({at, std::move(what), std::move(with)});
    }
    void create(milliseconds at, json object) {
        add(at, "create", {{"object", std::move(object)}});
    }
    milliseconds moment(int least, int most) { return milliseconds(chance_.between(least, most)); }
    template <class T>
    const T& any(const std::vector<T>& of) {
        return chance_.one_of(of);
    }

    void put_cluster() {
        const milliseconds now{0};
        add(now, "patch", {{"kind", "namespaces"}, {"name", "default"}, {"patch", enabled()}});
        for (const char* name : {"team-a", "elsewhere"}) {
            json space{{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", name}}}};
            if (std::string_view(name) == "team-a") space.merge_patch(enabled());
            create(now, std::move(space));
        }
        create(milliseconds(0), priority_class("esi-ghost", 1000000, "Never"));
        for (const auto& [name, value] :
             {std::pair("low", -10), std::pair("mid", 100), std::pair("high", 1000)}) {
            create(milliseconds(0), priority_class(name, value, "PreemptLowerPriority"));
        }
        nodes_ = chance_.between(3, 6);
        const int beds = chance_.chance(500) ? chance_.between(1, 2) : 0;
        dedicated_ = chance_.chance(300) ? nodes_ - 1 : -1;
        static const std::vector<int> sizes{1000, 2000, 2000, 3000, 4000};
        for (int i = 0; i < nodes_; ++i) put_node(i, any(sizes), i < beds);
        if (beds == 0) return;
        bed grid{"grid", "example.com/slots", beds, 1, chance_.chance(600)};
        cast stage(ignored_);
        stage.at(moment(50, 300));
        ignored_.workload.clear();
        stage.testbed(grid);
        plan_.workload.push_back(std::move(ignored_.workload.back()));
        on_.beds.push_back(grid);
    }

    static json enabled() {
        return {{"metadata", {{"labels", {{fmt::format("{}gangs", prefix), "enabled"}}}}}};
    }

    void put_node(int number, int cpu, bool of_bed) {
        const auto name = fmt::format("worker-{}", number);
        json labels{{"kubernetes.io/hostname", name},
                    {"topology.kubernetes.io/zone", number % 2 == 0 ? "a" : "b"}};
        if (number % 3 == 0) labels["example.com/disk"] = "ssd";
        if (of_bed) labels["example.com/slots"] = std::to_string(number);
        const json room{{"cpu", fmt::format("{}m", cpu)},
                        {"memory", fmt::format("{}Mi", cpu * 2)},
                        {"pods", chance_.chance(850) ? "110" : "6"}};
        json node{{"apiVersion", "v1"},
                  {"kind", "Node"},
                  {"metadata", {{"name", name}, {"labels", std::move(labels)}}},
                  {"status",
                   {{"capacity", room},
                    {"allocatable", room},
                    {"conditions",
                     json::array(
                         {{{"type", "Ready"}, {"status", "True"}, {"reason", "KubeletReady"}}})}}}};
        if (number == dedicated_) {
            node["spec"]["taints"] =
                json::array({{{"key", "dedicated"}, {"value", "gangs"}, {"effect", "NoSchedule"}}});
        }
        create(milliseconds(0), std::move(node));
        on_.nodes.push_back(name);
    }

    static json container(int cpu, int mib) {
        return {{"name", "main"},
                {"image", "example/member:1"},
                {"resources",
                 {{"requests",
                   {{"cpu", fmt::format("{}m", cpu)}, {"memory", fmt::format("{}Mi", mib)}}}}}};
    }

    /// How a member looks, by what its author wants of nodes.
    json member_of(const gang& of, int cpu) {
        json pod{{"metadata", {{"labels", {{"app", of.name}}}, {"annotations", json::object()}}},
                 {"spec",
                  {{"restartPolicy", "Never"},
                   {"terminationGracePeriodSeconds", chance_.chance(700) ? 1 : 10},
                   {"containers", json::array({container(cpu, chance_.between(50, 400))})}}}};
        auto& metadata = pod["metadata"];
        auto& spec = pod["spec"];
        const auto& kind = *of.kind;
        if (!kind.label.empty()) metadata["labels"][std::string(kind.label)] = of.name;
        if (!kind.annotation.empty()) {
            metadata["annotations"][std::string(kind.annotation)] = of.name;
        }
        if (!kind.type) {
            metadata["annotations"]["scheduling.k8s.io/group-min-member"] =
                std::to_string(of.least);
        }
        if (!kind.scheduler.empty() && chance_.chance(500)) {
            spec["schedulerName"] = kind.scheduler;
        }
        // Where the policy is not installed the author writes the gate.
        if (of.ns != "elsewhere" && chance_.chance(250)) {
            spec["schedulingGates"] = json::array({{{"name", fmt::format("{}gang", prefix)}}});
            metadata["labels"][fmt::format("{}gang", prefix)] = "true";
        }
        if (const auto wish = chance_.below(100); wish < 20) {
            spec["priorityClassName"] = "mid";
        } else if (wish < 32) {
            spec["priorityClassName"] = "low";
        }
        if (chance_.chance(300)) {
            spec["tolerations"] =
                json::array({{{"key", "dedicated"}, {"operator", "Equal"}, {"value", "gangs"}}});
        }
        if (chance_.chance(120)) spec["nodeSelector"] = {{"example.com/disk", "ssd"}};
        if (chance_.chance(150)) {
            json terms = json::array();
            for (const char* zone : {"a", "b"}) {
                terms.push_back(
                    {{"matchExpressions", json::array({{{"key", "topology.kubernetes.io/zone"},
                                                        {"operator", "In"},
                                                        {"values", json::array({zone})}}})}});
            }
            spec["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
                ["nodeSelectorTerms"] = std::move(terms);
        }
        return pod;
    }

    json group_object(const gang& of) {
        json spec{{"minMember", of.least}};
        if (of.kind->name == "coscheduling" && chance_.chance(500)) {
            spec["scheduleTimeoutSeconds"] = chance_.between(5, 40);
        }
        if (of.kind->name == "tenstack" && chance_.chance(500)) {
            spec["maxScheduleTime"] = fmt::format("{}s", chance_.between(5, 40));
        }
        if ((of.kind->name == "incubator" || of.kind->name == "sigs") && chance_.chance(250)) {
            spec["priorityClassName"] = chance_.chance(500) ? "mid" : "low";
        }
        json annotations = json::object();
        if (chance_.chance(200)) annotations[fmt::format("{}on-partial", prefix)] = "Delete";
        return {
            {"apiVersion", of.kind->type->api_version()},
            {"kind", "PodGroup"},
            {"metadata", {{"name", of.name}, {"namespace", of.ns}, {"annotations", annotations}}},
            {"spec", std::move(spec)}};
    }

    void patch_group(milliseconds at, const gang& of, json body) {
        if (!of.kind->type) return;
        add(at, "patch",
            {{"kind", std::string(known_as(*of.kind->type))},
             {"ns", of.ns},
             {"name", of.name},
             {"patch", std::move(body)}});
        moments_.push_back(at);
    }
    static json suspended(json value) {
        return {{"metadata",
                 {{"annotations", {{fmt::format("{}suspend", prefix), std::move(value)}}}}}};
    }

    void put_gang(int number) {
        gang made;
        made.kind = &group_kinds()[chance_.below(group_kinds().size())];
        made.name = fmt::format("gang-{}", static_cast<char>('a' + number));
        made.ns = chance_.chance(750) ? "default" : chance_.chance(700) ? "team-a" : "elsewhere";
        made.least = chance_.between(1, 5);
        made.members = made.least + (chance_.chance(250) ? chance_.between(1, 2) : 0);
        const bool giant = chance_.chance(120);
        if (giant) made.members = made.least = chance_.between(20, 30);
        // Some never have all their members.
        if (chance_.chance(60)) made.members = std::max(1, made.least - 1);
        made.at = moment(first_ms, horizon_ms * 2 / 3);
        const int cpu = chance_.between(2, giant ? 9 : 12) * 100;
        auto pod = member_of(made, cpu);
        if (made.kind->type) {
            const auto at = made.at + milliseconds(chance_.between(-1000, 8000));
            create(at, group_object(made));
            put_wishes(made, at);
        }
        put_members(made, cpu, std::move(pod));
        moments_.push_back(made.at);
        gangs_.push_back(std::move(made));
    }

    void put_members(const gang& of, int cpu, json pod) {
        const auto how = chance_.below(10);
        const bool service = how >= 8;
        if (!service) {
            pod["metadata"]["annotations"]["example.com/runs-ms"] =
                std::to_string(chance_.between(3, 60) * 1000);
        }
        json cpus = json::array();
        if (chance_.chance(400)) {
            for (int i = chance_.between(2, 3); i > 0; --i) {
                cpus.push_back(
                    fmt::format("{}m", std::max(100, cpu - 100 * chance_.between(0, 5))));
            }
        }
        if (how < 6 || service) {
            json with{{"ns", of.ns},
                      {"name", of.name},
                      {"count", of.members},
                      {"template", pod},
                      {"again", service ? "always" : "failed"},
                      {"cpus", cpus}};
            if (!service && chance_.chance(200)) with["fails"] = chance_.between(1, 2);
            add(of.at, "members", with);
            if (chance_.chance(120)) {
                with["count"] = of.members + chance_.between(1, 2);
                add(of.at + moment(2000, 30000), "members", with);
            }
            // Services end some time, so that others come to their turn.
            if (chance_.chance(service ? 700 : 120)) {
                const auto at = of.at + moment(2000, 60000);
                add(at, "members-gone", {{"ns", of.ns}, {"name", of.name}});
                moments_.push_back(at);
            }
            return;
        }
        for (int i = 0; i < of.members; ++i) {
            json one = pod;
            one["apiVersion"] = "v1";
            one["kind"] = "Pod";
            one["metadata"]["namespace"] = of.ns;
            one["metadata"]["name"] = fmt::format("{}-{}", of.name, i);
            if (!cpus.empty()) {
                one["spec"]["containers"][0]["resources"]["requests"]["cpu"] =
                    cpus[static_cast<std::size_t>(i) % cpus.size()];
            }
            create(of.at + milliseconds(chance_.between(0, 3000)), std::move(one));
            if (!chance_.chance(60)) continue;
            add(of.at + moment(500, 40000), "delete",
                {{"kind", "pods"}, {"ns", of.ns}, {"name", fmt::format("{}-{}", of.name, i)}});
        }
    }

    /// What people ask of a group while it waits or runs.
    void put_wishes(const gang& of, milliseconds at) {
        const auto later = [&] { return at + moment(200, 50000); };
        if (chance_.chance(150)) {
            const auto begin = chance_.chance(500) ? at + milliseconds(1) : later();
            patch_group(begin, of, suspended("true"));
            if (chance_.chance(850)) {
                patch_group(begin + moment(500, 40000), of, suspended(nullptr));
            }
        }
        if (chance_.chance(120)) {
            patch_group(later(), of, {{"spec", {{"minMember", chance_.between(1, of.least + 1)}}}});
        }
        if (chance_.chance(120)) {
            const auto when = later();
            add(when, "delete",
                {{"kind", std::string(known_as(*of.kind->type))},
                 {"ns", of.ns},
                 {"name", of.name}});
            moments_.push_back(when);
            if (chance_.chance(400)) create(when + moment(100, 20000), group_object(of));
        }
    }

    void put_strangers() {
        static const std::vector<std::string> classes{"", "", "", "low", "low", "mid", "high"};
        const int count = chance_.between(0, 14);
        for (int i = 0; i < count; ++i) {
            json spec{{"restartPolicy", "Never"},
                      {"terminationGracePeriodSeconds", 1},
                      {"containers", json::array({container(chance_.between(1, 12) * 100, 64)})}};
            const auto& its_class = any(classes);
            if (!its_class.empty()) spec["priorityClassName"] = its_class;
            if (chance_.chance(400)) {
                spec["nodeSelector"] = {{"kubernetes.io/hostname", any(on_.nodes)}};
            }
            json metadata{{"name", fmt::format("stranger-{}", i)}, {"namespace", "default"}};
            if (chance_.chance(900)) {
                metadata["annotations"] = {
                    {"example.com/runs-ms", std::to_string(chance_.between(2, 70) * 1000)}};
            }
            create(moment(600, horizon_ms * 2 / 3), {{"apiVersion", "v1"},
                                                     {"kind", "Pod"},
                                                     {"metadata", std::move(metadata)},
                                                     {"spec", std::move(spec)}});
        }
    }

    /// Testbeds whose nodes ESI chooses, beside the gangs: out of the same room.
    void put_claims() {
        auto chance = chance_.fork("claims");
        if (!chance.chance(400)) return;
        for (const auto& [name, value] :
             {std::pair("esi-claim-0", 0), std::pair("esi-claim-100", 100)}) {
            create(milliseconds(0), priority_class(name, value, "Never"));
        }
        const int count = chance.between(1, 3);
        milliseconds at{0};
        for (int i = 0; i < count; ++i) {
            json shapes = json::array();
            const auto shape = [&](const char* name, const char* role, int places, int cpu) {
                shapes.push_back({{"name", name},
                                  {"role", role},
                                  {"count", places},
                                  {"resources",
                                   {{"cpu", fmt::format("{}m", cpu)},
                                    {"memory", fmt::format("{}Mi", chance.between(50, 400))}}}});
            };
            if (chance.chance(500)) shape("driver", "coordinator", 1, chance.between(1, 5) * 100);
            shape("executors", "worker", chance.between(1, 5), chance.between(1, 12) * 100);
            if (chance.chance(200)) {
                shapes.back()["constraints"] = {{"nodeSelector", {{"example.com/disk", "ssd"}}}};
            }
            if (chance.chance(200)) {
                shapes.back()["constraints"]["tolerations"] = json::array(
                    {{{"key", "dedicated"}, {"operator", "Equal"}, {"value", "gangs"}}});
            }
            const bool sleeps = chance.chance(150);
            json claim{{"shapes", std::move(shapes)},
                       {"packing", chance.chance(700) ? "Pack" : "Spread"},
                       {"priority", chance.chance(700) ? 0 : 100},
                       {"suspend", sleeps},
                       {"timeoutSeconds", chance.between(5, 40)}};
            const auto name = fmt::format("claim-{}", i);
            // Some come together, and want the same room.
            if (i == 0 || !chance.chance(500)) {
                at = milliseconds(chance.between(first_ms, horizon_ms * 2 / 3));
            }
            create(at, {{"apiVersion", "esi.tu-berlin.de/v1alpha1"},
                        {"kind", "Testbed"},
                        {"metadata", {{"name", name}, {"namespace", "default"}}},
                        {"spec", {{"claim", std::move(claim)}}}});
            if (sleeps && chance.chance(800)) {
                add(at + milliseconds(chance.between(500, 40000)), "patch",
                    {{"kind", "testbeds"},
                     {"ns", "default"},
                     {"name", name},
                     {"patch", {{"spec", {{"claim", {{"suspend", false}}}}}}}});
            }
            if (chance.chance(350)) {
                const auto gone = at + milliseconds(chance.between(500, 60000));
                add(gone, "delete", {{"kind", "testbeds"}, {"ns", "default"}, {"name", name}});
                moments_.push_back(gone);
            }
            moments_.push_back(at);
        }
    }

    void put_people() {
        if (chance_.chance(300)) {
            const auto at = moment(5000, horizon_ms);
            add(at, "node-drain",
                {{"name", any(on_.nodes)}, {"back_ms", chance_.between(1000, 40000)}});
            moments_.push_back(at);
        }
        if (chance_.chance(80)) {
            add(moment(20000, horizon_ms), "namespace-delete", {{"name", "team-a"}});
        }
    }

    /// All nodes are full; a gang has waited so long that what becomes free is kept for it; the
    /// scheduler starts without its memory, and then something becomes free that others want, too.
    void put_siege() {
        plan_.scenario = "siege";
        for (const auto& one : plan_.workload) {
            if (fields::text(one.with, {"object", "kind"}) == "Node") walls_of(one.with["object"]);
        }
        for (auto& wall : walls_) create(milliseconds(500), std::move(wall));
        gang made;
        made.kind = &group_kind_named("annotation");
        made.ns = "default";
        made.name = "besieged";
        made.members = made.least = 2;
        auto pod = member_of(made, 700);
        pod["spec"].erase("priorityClassName");
        pod["spec"].erase("nodeSelector");
        const milliseconds begin{10000};
        add(begin, "members",
            {{"ns", made.ns},
             {"name", made.name},
             {"count", made.members},
             {"template", std::move(pod)},
             {"again", "always"}});
        const auto kept = begin + gang_reserve_after;
        for (int i = 0; i < 6; ++i) {
            create(kept + moment(3000, 15000),
                   {{"apiVersion", "v1"},
                    {"kind", "Pod"},
                    {"metadata",
                     {{"name", fmt::format("besieger-{}", i)},
                      {"namespace", "default"},
                      {"annotations", {{"example.com/runs-ms", "20000"}}}}},
                    {"spec",
                     {{"restartPolicy", "Never"},
                      {"terminationGracePeriodSeconds", 1},
                      {"containers", json::array({container(700, 64)})}}}});
        }
        const int crashes = chance_.between(1, 2);
        for (int i = 0; i < crashes; ++i) {
            plan_.faults.push_back(
                {kept + moment(1000, 10000),
                 "neighbour-crash",
                 {{"name", "kube-scheduler"}, {"down_ms", chance_.between(300, 2000)}}});
        }
        std::ranges::sort(plan_.faults, {}, &happening::at);
        std::ranges::sort(plan_.workload, [](const happening& a, const happening& b) {
            return std::tuple(a.at, a.what, a.with) < std::tuple(b.at, b.what, b.with);
        });
    }

    /// Fills a node until some time after the scheduler has started again.
    void walls_of(const json& node) {
        const std::string name(fields::text(node, {"metadata", "name"}));
        const std::string cpu(fields::text(node, {"status", "allocatable", "cpu"}));
        const int milli = std::stoi(cpu);
        for (int left = milli - 200; left >= 200; left -= 800) {
            json spec{{"restartPolicy", "Never"},
                      {"terminationGracePeriodSeconds", 1},
                      {"nodeSelector", {{"kubernetes.io/hostname", name}}},
                      {"tolerations", json::array({{{"operator", "Exists"}}})},
                      {"containers", json::array({container(std::min(left, 800), 64)})}};
            walls_.push_back(
                {{"apiVersion", "v1"},
                 {"kind", "Pod"},
                 {"metadata",
                  {{"name", fmt::format("wall-{}-{}", name, left)},
                   {"namespace", "default"},
                   {"annotations",
                    {{"example.com/runs-ms", std::to_string(chance_.between(105, 150) * 1000)}}}}},
                 {"spec", std::move(spec)}});
        }
    }

    // The faults: those of the other plans, of the one operator and the kinds that are there.

    void put_faults() {
        on_.replicas = plan_.replicas;
        on_.paged = plan_.page_size > 0;
        on_.jobs.push_back({});
        on_.schedulings.emplace_back("none");
        moments_.push_back(milliseconds(500));
        const int wanted = faults_.chance(120) ? 0 : faults_.between(1, 10);
        std::vector<std::string> families;
        for (int i = faults_.between(1, 4); i > 0; --i) {
            families.push_back(faults_.one_of(fault_families()));
        }
        // What the feature hangs on: a scheduler without its memory.
        if (faults_.chance(450)) families.emplace_back("neighbour-crash");
        if (faults_.chance(250)) families.emplace_back("nodes");
        if (on_.beds.empty()) on_.beds.emplace_back();
        auto& out = plan_.faults;
        for (int tries = 0; static_cast<int>(out.size()) < wanted && tries < 3 * wanted; ++tries) {
            auto at = milliseconds(faults_.between(300, horizon_ms));
            if (faults_.chance(700)) {
                at = std::max(milliseconds(200),
                              faults_.one_of(moments_) + milliseconds(faults_.between(-300, 5000)));
            }
            for (auto& one : draw_fault(faults_.one_of(families), at, on_, faults_)) {
                if (suits(one) && duration_of(one) < std::chrono::minutes(5)) {
                    out.push_back(std::move(one));
                }
            }
        }
        if (out.size() > 10) out.resize(10);
        std::ranges::sort(out, [](const happening& a, const happening& b) {
            return std::tuple(a.at, a.what, a.with) < std::tuple(b.at, b.what, b.with);
        });
        std::ranges::sort(plan_.workload, [](const happening& a, const happening& b) {
            return std::tuple(a.at, a.what, a.with) < std::tuple(b.at, b.what, b.with);
        });
    }

    bool suits(happening& one) {
        auto& with = one.with;
        if (with.contains("operator") && with["operator"] != "testbed") {
            if (one.what == "replace" || one.what == "terminate") return false;
            with["operator"] = "testbed";
        }
        if (with.contains("plural") && one.what != "crd") {
            static const std::vector<std::string> plurals{
                "pods", "pods", "nodes", "namespaces", "leases", "testbeds", "*"};
            auto plural = faults_.one_of(plurals);
            if (plural == "*" && one.what == "watch") plural = "pods";
            const auto& kind = group_kinds()[faults_.below(group_kinds().size())];
            if (kind.type && faults_.chance(300)) plural = known_as(*kind.type);
            with["plural"] = plural;
        }
        if (one.what.starts_with("neighbour-")) {
            static const std::vector<std::string> names{"kube-scheduler", "kube-scheduler",
                                                        "kube-scheduler", "kubelet",
                                                        "controllers",    "member-controllers"};
            with["name"] = faults_.one_of(names);
        }
        return true;
    }

    plan plan_;
    /// For the pieces of the other plans.
    plan ignored_;
    random_source chance_;
    random_source faults_;
    stage on_;
    std::vector<gang> gangs_;
    std::vector<json> walls_;
    std::vector<milliseconds> moments_;
    int nodes_ = 0;
    int dedicated_ = -1;
};

}  // namespace

plan generate_gangs(std::uint64_t seed) { return gang_author(seed).write(); }

}  // namespace esi::simulation
