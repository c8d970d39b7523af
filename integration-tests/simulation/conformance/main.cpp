// esi-conformance: runs request scripts against the model API server or a real one and prints the
// answers, comparable, as JSON: {"SCRIPT": [answers]}.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <cstdio>
#include <stdexcept>

#include "base/source_folder.h"
#include "conformance/model_wire.h"
#include "conformance/run_script.h"
#include "kube/auth/kubeconfig.h"
#include "kube/connection/http_transport.h"

namespace esi::simulation {
namespace {

using namespace std::chrono_literals;

struct flags {
    std::vector<std::string> scripts;
    std::string kubeconfig;
    std::string ns = "esi-conformance";
    std::string root = source_folder();
};

asio::awaitable<int> status_of(kube::transport& wire, clock& time, kube::request what) {
    const auto deadline = time.now() + 30s;
    auto answer = co_await wire.send(std::move(what), deadline);
    if (!answer) throw std::runtime_error(answer.error().text);
    co_return answer->status;
}

/// The namespace of one script, in which pods are accepted.
asio::awaitable<void> make_namespace(kube::transport& wire, clock& time, std::string name,
                                     bool real) {
    kube::request create("POST", "/api/v1/namespaces");
    create.content_type = "application/json";
    create.body =
        json{{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", name}}}}.dump();
    const int made = co_await status_of(wire, time, std::move(create));
    if (made != 201) throw std::runtime_error(fmt::format("namespace {}: {}", name, made));
    for (int i = 0; real && i < 300; ++i) {
        // Until a controller has made it, pods are refused.
        kube::request look("GET", "/api/v1/namespaces/" + name + "/serviceaccounts/default");
        const int there = co_await status_of(wire, time, std::move(look));
        if (there == 200) co_return;
        co_await time.sleep_for(100ms);
    }
    if (real) throw std::runtime_error("no default service account in " + name);
}

asio::awaitable<json> run_one(const script& what, kube::transport& wire, clock& time,
                              const conformance_options& options, bool real) {
    const auto name = options.ns;
    co_await make_namespace(wire, time, name, real);
    auto out = co_await run_script(what, wire, time, options);
    if (real) {
        kube::request remove("DELETE", "/api/v1/namespaces/" + name);
        co_await status_of(wire, time, std::move(remove));
    }
    co_return out;
}

/// Each script has a namespace, and a model server, of its own.
int run_all(const flags& given) {
    json out = json::object();
    for (const auto& file : given.scripts) {
        const auto what = read_script(file);
        asio::io_context loop;
        system_clock time;
        conformance_options options;
        options.ns = given.ns + "-" + what.name;
        options.root = given.root;
        std::unique_ptr<kube::transport> wire;
        const bool real = !given.kubeconfig.empty();
        if (real) {
            auto access = kube::load_access(given.kubeconfig, "");
            if (!access) throw std::runtime_error(access.error().text);
            auto made = kube::http_transport::make(loop.get_executor(), time, std::move(*access));
            if (!made) throw std::runtime_error(made.error().text);
            wire = std::move(*made);
        } else {
            auto model = std::make_unique<model_wire>(given.root + "/crds");
            auto* server = model.get();
            options.compact = [server] { server->compact(); };
            wire = std::move(model);
        }
        std::exception_ptr failed;
        asio::co_spawn(loop, run_one(what, *wire, time, options, real),
                       [&](std::exception_ptr error, json answers) {
                           failed = error;
                           out[what.name] = std::move(answers);
                           loop.stop();
                       });
        loop.run();
        if (failed) std::rethrow_exception(failed);
    }
    fmt::print("{}\n", out.dump(1));
    return 0;
}

int conformance_main(int argc, char** argv) {
    flags given;
    CLI::App app("Runs request scripts against an API server", "esi-conformance");
    app.add_option("scripts", given.scripts, "YAML files")->required();
    app.add_option("--kubeconfig", given.kubeconfig, "A real API server; without it the model");
    app.add_option("--namespace", given.ns, "Beginning of the names of the scripts' namespaces");
    app.add_option("--root", given.root, "Folder of the repository, for crds/");
    CLI11_PARSE(app, argc, argv);
    try {
        return run_all(given);
    } catch (const std::exception& error) {
        fmt::print(stderr, "{}\n", error.what());
        return 1;
    }
}

}  // namespace
}  // namespace esi::simulation

int main(int argc, char** argv) { return esi::simulation::conformance_main(argc, argv); }
