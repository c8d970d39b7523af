// What an operator would cost that decides nothing: the same lists and watches over the same client
// library, read until SIGTERM. The benchmark starts it beside an operator and compares.
//
//   esi-bench-floor SERVER WHAT KIND...
//   esi-bench-floor create KUBECONFIG FILE
//
// SERVER: http://127.0.0.1:PORT. WHAT: "parse" validates each line and throws it away; "keep"
// decodes each object and keeps it in a store, as an informer of the operators does, without
// indexes. KIND: plural, or plural/label for the objects that carry the label. Prints "listed" and
// the number of objects when the first list of each kind is complete.
#include <malloc.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <cstdio>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "base/task_group.h"
#include "kube/auth/kubeconfig.h"
#include "kube/client.h"
#include "kube/connection/http_transport.h"
#include "kube/watch/informer.h"
#include "model/json.h"

namespace esi {
namespace {

/// One kind under way. It lives as long as the program.
class follower {
public:
    virtual ~follower() = default;
    virtual asio::awaitable<void> run() = 0;
    virtual bool listed() const = 0;
    virtual std::size_t objects() const = 0;
};

class parsed_only final : public follower, private kube::sink {
public:
    parsed_only(kube::client& api, clock& time, const kube::resource_type& type,
                kube::watch_scope scope)
        : source_(api, time, type, std::move(scope), "", *this) {}

    asio::awaitable<void> run() override { return source_.run(); }
    bool listed() const override { return listed_; }
    std::size_t objects() const override { return count_; }

private:
    result<void> upsert(const simdjson::dom::element&) override {
        ++count_;
        return {};
    }
    result<void> erase(const simdjson::dom::element&) override { return {}; }
    void begin_list() override { count_ = 0; }
    void end_list() override { listed_ = true; }
    void version(std::string) override {}

    std::size_t count_ = 0;
    bool listed_ = false;
    kube::reflector source_;
};

template <class T>
class kept final : public follower {
public:
    kept(kube::client& api, clock& time, const kube::resource_type& type, kube::watch_scope scope)
        : cache_(api, time, type, std::move(scope)) {}

    asio::awaitable<void> run() override { return cache_.run(); }
    bool listed() const override { return cache_.synced(); }
    std::size_t objects() const override { return cache_.items().size(); }

private:
    kube::informer<T> cache_;
};

std::unique_ptr<follower> make(kube::client& api, clock& time, bool keeps, std::string_view what) {
    const auto slash = what.find('/');
    const auto plural = what.substr(0, slash);
    kube::watch_scope scope;
    if (slash != std::string_view::npos) scope.label_selector = what.substr(slash + 1);
    std::unique_ptr<follower> out;
    const auto take = [&]<class T>(const kube::resource_type& type) {
        if (plural != type.plural) return;
        if (keeps) {
            out = std::make_unique<kept<T>>(api, time, type, scope);
        } else {
            out = std::make_unique<parsed_only>(api, time, type, scope);
        }
    };
    take.operator()<model::pod>(kube::types::pod);
    take.operator()<model::node>(kube::types::node);
    take.operator()<model::testbed>(kube::types::testbed);
    take.operator()<model::batchjob>(kube::types::batchjob);
    take.operator()<model::scheduling>(kube::types::scheduling);
    return out;
}

asio::awaitable<void> report(clock& time, const std::vector<std::unique_ptr<follower>>& all) {
    for (const auto& each : all) {
        while (!each->listed()) co_await time.sleep_for(milliseconds(1));
    }
    // As the operators do once their caches are full (controller/process.cpp).
    malloc_trim(0);
    std::size_t objects = 0;
    for (const auto& each : all) objects += each->objects();
    std::printf("listed %zu\n", objects);
    std::fflush(stdout);
}

/// Requests that are under way at a time (testbed/act.cpp).
constexpr int at_a_time = 16;

struct creation {
    std::ifstream file;
    int refused = 0;
};

asio::awaitable<void> create_some(kube::client& api, creation& work) {
    std::string line;
    while (std::getline(work.file, line)) {
        auto object = nlohmann::json::parse(line);
        const auto ns = object["metadata"]["namespace"].get<std::string>();
        auto made = co_await api.create(kube::types::pod, ns, std::move(object));
        if (!made) {
            ++work.refused;
            std::fprintf(stderr, "%s\n", made.error().text.c_str());
        }
    }
}

asio::awaitable<void> create_all(asio::io_context& loop, kube::client& api, creation& work) {
    task_group tasks(loop.get_executor());
    for (int i = 0; i < at_a_time; ++i) tasks.spawn("create", create_some(api, work));
    co_await tasks.join();
    loop.stop();
}

int create(const std::string& kubeconfig, const std::string& file) {
    asio::io_context loop(1);
    system_clock time;
    auto access = kube::load_access(kubeconfig, "");
    auto wire = access ? kube::http_transport::make(loop.get_executor(), time, *access)
                       : std::unexpected(access.error());
    if (!wire) {
        std::fprintf(stderr, "%s\n", wire.error().text.c_str());
        return 1;
    }
    kube::client api(**wire, time);
    creation work{std::ifstream(file)};
    task_group whole(loop.get_executor());
    whole.spawn("create all", create_all(loop, api, work));
    loop.run();
    return work.refused == 0 ? 0 : 1;
}

int run(int argc, char** argv) {
    if (argc < 4) {
        std::fprintf(stderr,
                     "esi-bench-floor SERVER parse|keep KIND...\n"
                     "esi-bench-floor create KUBECONFIG FILE\n");
        return 2;
    }
    if (std::string_view(argv[1]) == "create") return create(argv[2], argv[3]);
    // The operators' settings (controller/process.cpp).
    mallopt(M_MMAP_THRESHOLD, 128 << 10);
    mallopt(M_TRIM_THRESHOLD, 256 << 10);
    log::configure(log::level::warn, log::format::text);
    asio::io_context loop(1);
    system_clock time;
    kube::cluster_access access;
    access.cluster.server = argv[1];
    kube::http_transport_options how;
    how.user_agent = std::string("floor-") + argv[2];
    auto wire = kube::http_transport::make(loop.get_executor(), time, access, how);
    if (!wire) {
        std::fprintf(stderr, "%s\n", wire.error().text.c_str());
        return 1;
    }
    kube::client api(**wire, time);
    std::vector<std::unique_ptr<follower>> all;
    for (int i = 3; i < argc; ++i) {
        auto made = make(api, time, std::string_view(argv[2]) == "keep", argv[i]);
        if (!made) {
            std::fprintf(stderr, "the kind %s is not known\n", argv[i]);
            return 2;
        }
        all.push_back(std::move(made));
    }
    task_group tasks(loop.get_executor());
    for (const auto& each : all) tasks.spawn("follow", each->run());
    tasks.spawn("report", report(time, all));
    asio::signal_set signals(loop, SIGTERM, SIGINT);
    signals.async_wait([](auto, int) { std::_Exit(0); });
    loop.run();
    return 0;
}

}  // namespace
}  // namespace esi

int main(int argc, char** argv) { return esi::run(argc, argv); }
