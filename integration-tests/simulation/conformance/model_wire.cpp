#include "conformance/model_wire.h"

namespace esi::simulation {

namespace {

using namespace std::chrono_literals;

/// 2026-01-01.
constexpr wall_time start{std::chrono::microseconds(
    std::chrono::sys_days(std::chrono::year(2026) / 1 / 1).time_since_epoch())};

class model_stream final : public kube::stream {
public:
    model_stream(api_server& server, std::unique_ptr<watch> lines)
        : server_(server), lines_(std::move(lines)) {
        // What there is when a watch begins is sent at once, not when a client reads.
        first_ = lines_->read(server_.objects().version());
    }

    int status() const override { return 200; }
    int retry_after_seconds() const override { return -1; }
    asio::awaitable<result<std::string>> read(steady_time) override {
        auto text = std::exchange(first_, {}) + lines_->read(server_.objects().version());
        // A server that shows nothing more tells where it is before it ends the watch.
        if (text.empty() && !lines_->ended() && !marked_) {
            text = lines_->bookmark(server_.objects().version());
            marked_ = true;
        }
        if (text.empty() && !lines_->ended()) co_return fail(errc::timeout, "nothing is due");
        co_return text;
    }

private:
    api_server& server_;
    std::unique_ptr<watch> lines_;
    std::string first_;
    bool marked_ = false;
};

class refused_stream final : public kube::stream {
public:
    explicit refused_stream(kube::response what) : what_(std::move(what)) {}
    int status() const override { return what_.status; }
    int retry_after_seconds() const override { return what_.retry_after_seconds; }
    asio::awaitable<result<std::string>> read(steady_time) override {
        co_return std::exchange(what_.body, {});
    }

private:
    kube::response what_;
};

server_settings settings(const std::string& crds) {
    server_settings out;
    out.now = [] { return steady_time(1h); };
    out.wall = [] { return start; };
    out.crds = crds;
    return out;
}

}  // namespace

model_wire::model_wire(const std::string& crds) : server_(settings(crds)) {}

asio::awaitable<result<kube::response>> model_wire::send(kube::request what, steady_time) {
    co_return server_.answer(what, "esi-conformance");
}

asio::awaitable<result<std::unique_ptr<kube::stream>>> model_wire::open(kube::request what,
                                                                        steady_time) {
    auto opened = server_.open(what);
    if (auto* refused = std::get_if<kube::response>(&opened)) {
        co_return std::make_unique<refused_stream>(std::move(*refused));
    }
    co_return std::make_unique<model_stream>(server_,
                                             std::move(std::get<std::unique_ptr<watch>>(opened)));
}

void model_wire::compact() { server_.objects().compact(server_.objects().version()); }

}  // namespace esi::simulation
