// A model API server with a clock that tests set, and short ways to speak to it.
#pragma once

#include <gtest/gtest.h>

#include "base/source_folder.h"
#include "server/api_server.h"
#include "server/desk.h"

namespace esi::simulation::testing {

struct world {
    steady_time now{};
    wall_time wall =
        wall_time(std::chrono::sys_days(std::chrono::year(2026) / 1 / 2)) + std::chrono::hours(3);
    api_server server;
    desk person;

    static server_settings settings(world& of) {
        server_settings out;
        out.now = [&of] { return of.now; };
        out.wall = [&of] { return of.wall; };
        out.crds = source_folder() + "/crds";
        return out;
    }
    explicit world(bool streaming_lists = true, bool gangs = false)
        : server([&] {
              auto how = settings(*this);
              how.streaming_lists = streaming_lists;
              how.gangs = gangs;
              return how;
          }()),
          person(server, "tests") {}

    /// Status and body; texts that are no JSON come as a string.
    std::pair<int, json> send(std::string method, std::string target, json body = nullptr,
                              std::string type = "application/json",
                              std::optional<std::uint64_t> visible = std::nullopt) {
        kube::request what(std::move(method), std::move(target));
        if (!body.is_null()) {
            what.content_type = std::move(type);
            what.body = body.is_string() ? body.get<std::string>() : body.dump();
        }
        const auto answer = server.answer(what, "tests", visible);
        auto out = json::parse(answer.body, nullptr, false);
        return {answer.status, out.is_discarded() ? json(answer.body) : out};
    }
    std::pair<int, json> merge(std::string target, json body) {
        return send("PATCH", std::move(target), std::move(body), "application/merge-patch+json");
    }
    std::unique_ptr<watch> watching(std::string target) {
        auto out = server.open(kube::request("GET", std::move(target)));
        if (auto* refused = std::get_if<kube::response>(&out)) {
            ADD_FAILURE() << refused->status << " " << refused->body;
            return nullptr;
        }
        return std::move(std::get<std::unique_ptr<watch>>(out));
    }
    /// "ADDED a, MODIFIED a" of what is due.
    std::string events(watch& from) { return events(from.read(server.objects().version())); }
    static std::string events(const std::string& lines) {
        std::string out;
        std::size_t at = 0;
        while (at < lines.size()) {
            const auto end = lines.find('\n', at);
            const auto line = json::parse(lines.substr(at, end - at));
            out += (out.empty() ? "" : ", ") + line["type"].get<std::string>();
            if (line["object"]["metadata"].contains("name")) {
                out += " " + line["object"]["metadata"]["name"].get<std::string>();
            }
            at = end + 1;
        }
        return out;
    }

    static json testbed(std::string name) {
        json out = {{"apiVersion", "esi.tu-berlin.de/v1alpha1"}, {"kind", "Testbed"}};
        out["metadata"] = {{"name", std::move(name)}};
        out["spec"] = {{"slotsPerNode", 2}, {"nodeLabel", "x/y"}};
        out["spec"]["resourcesPerSlot"] = {{"cpu", "1"}, {"memory", "1Gi"}};
        return out;
    }
    static json pod(std::string name) {
        json container = {{"name", "c"}, {"image", "i"}};
        json out = {{"apiVersion", "v1"}, {"kind", "Pod"}};
        out["metadata"] = {{"name", std::move(name)}};
        out["spec"]["containers"] = json::array();
        out["spec"]["containers"].push_back(std::move(container));
        return out;
    }
};

inline const std::string testbeds = "/apis/esi.tu-berlin.de/v1alpha1/namespaces/default/testbeds";
inline const std::string pods = "/api/v1/namespaces/default/pods";

}  // namespace esi::simulation::testing
