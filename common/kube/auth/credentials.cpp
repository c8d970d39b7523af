#include "kube/auth/credentials.h"

#include <atomic>
#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>
#include <optional>

#include "base/log.h"
#include "base/task_group.h"
#include "base/wait.h"

namespace esi::kube {

namespace {

constexpr auto reread_interval = std::chrono::seconds(60);
constexpr auto retry_interval = std::chrono::seconds(5);
constexpr auto plugin_time = std::chrono::seconds(30);
/// A token that ends within the flight of a request is of no use (client-go's leeway).
constexpr auto expiry_margin = std::chrono::seconds(10);

std::string trimmed(std::string text) {
    while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || text.back() == ' ')) {
        text.pop_back();
    }
    return text;
}

/// An empty file is one that is being written, or a mistake: it never means "none".
result<std::string> read_filled_file(const std::string& path) {
    auto out = read_small_file(path);
    if (out && trimmed(*out).empty()) return fail(errc::config, path + ": is empty");
    return out;
}

result<std::string> pem_of(const file_or_data& source) {
    if (!source.data.empty() || source.file.empty()) return source.data;
    return read_filled_file(source.file);
}

/// The result of a turn of the helper thread.
struct renewal {
    result<credential_set> set;
    std::optional<exec_credential> from_plugin;
};

renewal renew(const cluster_access& access, std::optional<exec_credential> known, bool ask_plugin,
              const std::atomic<bool>& stop) {
    if (access.user.exec && (ask_plugin || !known)) {
        auto ca = pem_of(access.cluster.ca);
        const auto info = exec_info(*access.user.exec, access.cluster, ca.value_or(std::string()));
        auto answer = run_exec_plugin(*access.user.exec, info,
                                      std::chrono::steady_clock::now() + plugin_time, stop);
        if (!answer) return {std::unexpected(std::move(answer).error()), std::nullopt};
        known = std::move(*answer);
    }
    auto set = read_credential_files(access, known ? &*known : nullptr);
    return {std::move(set), std::move(known)};
}

bool same_tls(const credential_set& a, const credential_set& b) {
    return a.ca_pem == b.ca_pem && a.certificate_pem == b.certificate_pem && a.key_pem == b.key_pem;
}

}  // namespace

result<credential_set> read_credential_files(const cluster_access& access,
                                             const exec_credential* from_plugin) {
    credential_set out;
    auto ca = pem_of(access.cluster.ca);
    if (!ca) return std::unexpected(std::move(ca).error());
    out.ca_pem = std::move(*ca);
    auto certificate = pem_of(access.user.client_certificate);
    if (!certificate) return std::unexpected(std::move(certificate).error());
    auto key = pem_of(access.user.client_key);
    if (!key) return std::unexpected(std::move(key).error());
    out.certificate_pem = std::move(*certificate);
    out.key_pem = std::move(*key);
    out.token = access.user.token;
    if (!access.user.token_file.empty()) {
        auto token = read_filled_file(access.user.token_file);
        if (!token) return std::unexpected(std::move(token).error());
        out.token = trimmed(std::move(*token));
    }
    if (from_plugin != nullptr) {
        if (!from_plugin->token.empty()) out.token = from_plugin->token;
        if (!from_plugin->certificate_pem.empty()) {
            out.certificate_pem = from_plugin->certificate_pem;
            out.key_pem = from_plugin->key_pem;
        }
    }
    for (const char c : out.token) {
        if (static_cast<unsigned char>(c) <= 0x20 || c == 0x7F) {
            return fail(errc::config, "the token contains white space or control characters");
        }
    }
    return out;
}

struct credentials::state : std::enable_shared_from_this<credentials::state> {
    state(asio::any_io_executor executor_, clock& time_, cluster_access access_)
        : executor(executor_), time(time_), access(std::move(access_)), renewed(executor_) {}

    asio::any_io_executor executor;
    clock& time;
    cluster_access access;
    notifier renewed;
    /// Read by the helper thread.
    std::shared_ptr<std::atomic<bool>> stop = std::make_shared<std::atomic<bool>>(false);
    std::optional<asio::thread_pool> helper;  ///< made when first needed

    pointer set;
    std::optional<exec_credential> from_plugin;
    error last_error;
    steady_time read_at{};
    steady_time not_before{};
    std::uint64_t turns = 0;
    bool refused = false;
    bool failed = false;  ///< the last renewal
    bool renewing = false;

    bool expired() const {
        return from_plugin && from_plugin->expires &&
               time.wall() + expiry_margin >= *from_plugin->expires;
    }
    bool must_renew() const { return !set || refused || expired(); }
    bool may_renew() const { return !renewing && time.now() >= not_before; }
    bool reads_files() const {
        return !access.user.token_file.empty() || !access.cluster.ca.file.empty() ||
               !access.user.client_certificate.file.empty() || !access.user.client_key.file.empty();
    }

    void start() {
        renewing = true;
        if (!helper) helper.emplace(1);
        asio::post(*helper, [weak = weak_from_this(), to = executor, what = access,
                             known = from_plugin, ask = refused || expired(), stopping = stop] {
            auto done = renew(what, known, ask, *stopping);
            asio::post(to, [weak, done = std::move(done)]() mutable {
                if (auto own = weak.lock()) own->finish(std::move(done));
            });
        });
    }

    void finish(renewal done) {
        renewing = false;
        ++turns;
        if (!done.set) {
            failed = true;
            last_error = done.set.error();
            not_before = time.now() + retry_interval;
            log::warn("credentials cannot be renewed", {{"error", last_error.text}});
        } else {
            from_plugin = std::move(done.from_plugin);
            // A failed renewal must not be repeated for every request.
            if (refused || expired()) not_before = time.now() + retry_interval;
            refused = false;
            failed = false;
            read_at = time.now();
            done.set->tls_revision = set ? set->tls_revision : 1;
            if (set && !same_tls(*set, *done.set)) {
                ++done.set->tls_revision;
                log::info("certificates loaded again");
            }
            set = std::make_shared<const credential_set>(std::move(*done.set));
        }
        renewed.notify();
    }
};

credentials::credentials(asio::any_io_executor executor, clock& time, cluster_access access,
                         std::optional<credential_set> first)
    : state_(std::make_shared<state>(std::move(executor), time, std::move(access))) {
    if (!first) return;
    state_->set = std::make_shared<const credential_set>(std::move(*first));
    state_->read_at = time.now();
}

credentials::~credentials() {
    *state_->stop = true;
    if (!state_->helper) return;
    state_->helper->stop();
    state_->helper->join();
}

asio::awaitable<result<credentials::pointer>> credentials::current(steady_time deadline) {
    auto own = state_;
    const auto turn = own->turns;
    for (;;) {
        if (!own->must_renew()) {
            const bool old =
                own->reads_files() && own->time.now() - own->read_at >= reread_interval;
            if (old && own->may_renew()) own->start();
            co_return own->set;
        }
        if (own->may_renew() && own->turns == turn) own->start();
        if (!own->renewing) {
            // Tried now or a moment ago. Whether a fresh answer that looks expired here is still
            // valid is decided by the server: clocks differ.
            if (own->set && (!own->failed || !own->expired())) co_return own->set;
            co_return std::unexpected(own->last_error);
        }
        const bool woken = co_await ends_by(own->time, deadline, own->renewed.wait());
        if (!woken) co_return fail(errc::timeout, "credentials were not renewed in time");
    }
}

void credentials::rejected(const pointer& used) {
    if (used == state_->set && used) state_->refused = true;
}

const cluster_access& credentials::access() const { return state_->access; }

}  // namespace esi::kube
