// For tests: an API server that answers reviews out of a table, over a scripted transport and
// virtual time.
#pragma once

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <exception>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <tuple>

#include "base/virtual_clock.h"
#include "controller/metrics.h"
#include "http/message.h"
#include "interface/v1/access/options.h"
#include "kube/client.h"
#include "kube/testing/scripted_transport.h"

namespace esi::interface::v1 {

struct review_server {
    review_server() {
        wire.respond = [this](const kube::request& what) { return answer(what); };
    }

    /// Tokens and their users; all for the audience esi.
    std::map<std::string, std::string> users;
    /// User, verb, resource, namespace.
    std::set<std::tuple<std::string, std::string, std::string, std::string>> rights;
    /// Replaces any answer.
    std::function<std::optional<result<kube::response>>(const kube::request&)> instead;
    int token_reviews = 0;
    int access_reviews = 0;

    asio::io_context loop;
    virtual_clock time;
    kube::scripted_transport wire{loop.get_executor(), time};
    kube::client api{wire, time};
    controller::metrics numbers;

    /// Runs `task` to its end, or for an hour of virtual time.
    template <class T>
    T run(asio::awaitable<T> task) {
        std::optional<T> out;
        asio::co_spawn(loop, std::move(task), [&](std::exception_ptr failure, T value) {
            if (failure) std::rethrow_exception(failure);
            out.emplace(std::move(value));
        });
        run_until(loop, time, [&] { return out.has_value(); });
        return std::move(out).value();
    }

private:
    using json = nlohmann::json;

    result<kube::response> answer(const kube::request& what) {
        const bool is_token = what.target.contains("tokenreviews");
        ++(is_token ? token_reviews : access_reviews);
        if (instead) {
            if (auto other = instead(what)) return std::move(*other);
        }
        auto object = json::parse(what.body);
        const auto& spec = object["spec"];
        auto& status = object["status"];
        status = json::object();
        if (is_token) {
            const auto known = users.find(spec["token"].get<std::string>());
            status["authenticated"] = known != users.end();
            if (known != users.end()) {
                status["audiences"] = spec["audiences"];
                status["user"] = {{"username", known->second},
                                  {"groups", {"system:authenticated"}}};
            }
        } else {
            const auto& of = spec["resourceAttributes"];
            status["allowed"] =
                rights.contains({spec["user"].get<std::string>(), of["verb"].get<std::string>(),
                                 of["resource"].get<std::string>(), of.value("namespace", "")});
        }
        kube::response out;
        out.status = 201;
        out.body = object.dump();
        return out;
    }
};

/// Options of a server with a certificate, so that peers at any address may send tokens.
inline access_options over_tls() {
    access_options out;
    out.encrypted = true;
    return out;
}

inline http::server_request request_with(const std::string& token,
                                         const std::string& address = "10.0.0.7") {
    http::server_request out;
    out.method = "GET";
    out.raw_path = "/api/v1/x";
    if (!token.empty()) out.headers.emplace_back("authorization", "Bearer " + token);
    auto peer = std::make_shared<http::peer_details>();
    peer->address = address;
    out.peer = std::move(peer);
    return out;
}

}  // namespace esi::interface::v1
