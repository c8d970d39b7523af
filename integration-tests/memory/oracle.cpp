#include "oracle.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "base/counting_new.h"
#include "batchjob/operator.h"
#include "programs/scheduling/program.h"
#include "programs/testbed/program.h"
#include "standby.h"

namespace esi::memory {

namespace {

constexpr int copies = 10;
/// First one object of a fifth of the size is shown. What keeps little of it, and takes no more
/// while it is read than a reader of JSON does, is not read at all by the operator.
constexpr std::size_t probe_object = largest_object / 5;
constexpr std::int64_t little = 16 << 10;
constexpr std::int64_t reading = 8 << 20;
/// Tables that have grown and are reused.
constexpr std::int64_t rest = 512 << 10;

// Kinds of which no tenant makes objects, or of which one object by its name is watched.
constexpr std::string_view of_administrators[] = {"/customresourcedefinitions", "/leases"};

controller::operator_factory factory_of(const std::string& name) {
    using controller::environment;
    if (name == "testbed") {
        return [](environment& in) {
            programs::testbed_options chosen;
            chosen.gangs.enabled = chosen.slots.claims.enabled = true;
            return std::make_unique<programs::testbed_program>(in, chosen);
        };
    }
    if (name == "batchjob") {
        return [](environment& in) {
            return std::make_unique<batchjob::batchjob_operator>(in, batchjob::options());
        };
    }
    return [](environment& in) {
        return std::make_unique<programs::scheduling_program>(in, programs::scheduling_options());
    };
}

/// Objects that an operator keeps most of: each is tried with each place.
std::vector<json> bases_of(const std::string& list) {
    if (!list.ends_with("/pods")) return {json::object()};
    const json labels{{"esi.tu-berlin.de/job", "j"},
                      {"esi.tu-berlin.de/testbed", "t"},
                      {"scheduling.x-k8s.io/pod-group", "g"}};
    const auto gate = [](const char* name) { return json{{"name", name}}; };
    json waits{{"metadata", {{"labels", labels}}}};
    waits["spec"]["schedulingGates"] = {gate("esi.tu-berlin.de/slot")};
    json runs{{"metadata", {{"labels", labels}}}, {"spec", {{"nodeName", "n"}}}};
    return {waits, runs};
}

std::string line(const char* type, const std::string& list, json object, int copy) {
    auto& meta = object["metadata"];
    meta["name"] = fmt::format("o-ghost-{}", copy);
    meta["namespace"] = "lab";
    meta["uid"] = fmt::format("uid-{}", copy);
    meta["resourceVersion"] = std::to_string(copy + 10);
    // Kinds without namespaces have none.
    if (list.ends_with("/nodes") || list.ends_with("/namespaces") ||
        list.ends_with("/priorityclasses")) {
        meta.erase("namespace");
    }
    return json{{"type", type}, {"object", std::move(object)}}.dump() + "\n";
}

class experiment {
public:
    experiment(const std::string& name, const schemas& kinds)
        : name_(name), kinds_(kinds), of_(name, factory_of(name)) {}

    std::vector<verdict> run(const std::string& only) {
        std::vector<verdict> out;
        for (const auto& list : of_.watched()) {
            if (std::ranges::any_of(of_administrators,
                                    [&](auto part) { return list.ends_with(part); }) ||
                !list.contains(only)) {
                continue;
            }
            out.push_back(judge(list));
        }
        return out;
    }

private:
    verdict judge(const std::string& list) {
        verdict out;
        out.operator_name = name_;
        out.list = list;
        const auto kind = kinds_.kind_at(list);
        if (kind.is_null()) {
            out.wrong.push_back("the API server does not describe this kind");
            return out;
        }
        for (const auto& where : kinds_.places_of(kind)) {
            ++out.places;
            for (const auto& base : bases_of(list)) {
                if (!is_read(list, kinds_.stuffed(base, where, probe_object, false))) continue;
                ++out.read;
                for (const bool filled : {false, true}) {
                    try_place(list, where, kinds_.stuffed(base, where, largest_object, filled),
                              out);
                }
            }
        }
        return out;
    }

    bool is_read(const std::string& list, const json& object) {
        const auto before = bytes_held();
        auto text = line("ADDED", list, object, 0);
        forget_most_bytes_held();
        of_.show(list, std::move(text));
        const bool out = bytes_held() - before > little || most_bytes_held() - before > reading;
        of_.show(list, line("DELETED", list, json::object(), 0));
        return out;
    }

    void try_place(const std::string& list, const place& where, json object, verdict& into) {
        const auto where_text = where.text();
        const auto before = bytes_held();
        std::int64_t most = 0;
        for (int copy = 0; copy < copies; ++copy) {
            // Also the bytes of the event: the operator has read them from its connection.
            auto text = line("ADDED", list, object, copy);
            forget_most_bytes_held();
            of_.show(list, std::move(text));
            most = std::max(most, most_bytes_held() - before);
        }
        const auto kept = bytes_held() - before;
        for (int copy = 0; copy < copies; ++copy) {
            of_.show(list, line("DELETED", list, json::object(), copy));
        }
        const auto left = bytes_held() - before;
        if (most > into.most) std::tie(into.most, into.most_at) = std::tie(most, where_text);
        if (kept > into.kept) std::tie(into.kept, into.kept_at) = std::tie(kept, where_text);
        if (idle + most > chart_limit) {
            into.wrong.push_back(fmt::format("{}: {} objects make it hold {} bytes, with {} idle",
                                             where_text, copies, most, idle));
        }
        if (left > rest) {
            into.wrong.push_back(
                fmt::format("{}: {} bytes are still held after the deletion", where_text, left));
        }
    }

    std::string name_;
    const schemas& kinds_;
    standby of_;
};

}  // namespace

std::vector<verdict> judge(const std::string& operator_name, const schemas& kinds,
                           const std::string& only) {
    return experiment(operator_name, kinds).run(only);
}

}  // namespace esi::memory
