#include "http/tls_files.h"

#include <fmt/format.h>
#include <openssl/ssl.h>

#include <filesystem>

#include "base/log.h"

namespace esi::http {

namespace {

constexpr auto look_interval = std::chrono::seconds(10);

std::string stamp_of(const tls_file_names& names) {
    std::string out;
    for (const auto* name : {&names.cert, &names.key, &names.client_ca}) {
        std::error_code ignored;
        const auto when = std::filesystem::last_write_time(*name, ignored);
        out += fmt::format("{} ", when.time_since_epoch().count());
    }
    return out;
}

result<std::shared_ptr<asio::ssl::context>> make_context(const tls_file_names& names) {
    auto context = std::make_shared<asio::ssl::context>(asio::ssl::context::tls_server);
    SSL_CTX_set_min_proto_version(context->native_handle(), TLS1_2_VERSION);
    // A connection that waits keeps no buffers.
    SSL_CTX_set_mode(context->native_handle(), SSL_MODE_RELEASE_BUFFERS);
    boost::system::error_code failure;
    context->use_certificate_chain_file(names.cert, failure);
    if (failure) return fail(errc::config, names.cert + ": " + failure.message());
    context->use_private_key_file(names.key, asio::ssl::context::pem, failure);
    if (failure) return fail(errc::config, names.key + ": " + failure.message());
    if (SSL_CTX_check_private_key(context->native_handle()) != 1) {
        return fail(errc::config, names.key + ": is not the key of " + names.cert);
    }
    if (names.client_ca.empty()) return context;
    context->load_verify_file(names.client_ca, failure);
    if (failure) return fail(errc::config, names.client_ca + ": " + failure.message());
    // Tells clients which of their certificates to show.
    SSL_CTX_set_client_CA_list(context->native_handle(),
                               SSL_load_client_CA_file(names.client_ca.c_str()));
    // Sessions are not resumed: each connection shows its certificate itself.
    SSL_CTX_set_session_cache_mode(context->native_handle(), SSL_SESS_CACHE_OFF);
    SSL_CTX_set_options(context->native_handle(), SSL_OP_NO_TICKET);
    context->set_verify_mode(asio::ssl::verify_peer, failure);
    if (failure) return fail(errc::config, names.client_ca + ": " + failure.message());
    return context;
}

}  // namespace

result<tls_files> tls_files::load(tls_file_names names, steady_time now) {
    tls_files out;
    out.stamp_ = stamp_of(names);
    auto context = make_context(names);
    if (!context) return std::unexpected(std::move(context).error());
    out.context_ = std::move(*context);
    out.names_ = std::move(names);
    out.looked_ = now;
    return out;
}

std::shared_ptr<asio::ssl::context> tls_files::context(steady_time now) {
    if (now - looked_ < look_interval) return context_;
    looked_ = now;
    auto stamp = stamp_of(names_);
    if (stamp == stamp_) return context_;
    auto fresh = make_context(names_);
    if (!fresh) {
        // Also if only some of them have been replaced: checked again at the next turn.
        log::warn("the new certificate cannot be used", {{"error", fresh.error().text}});
        return context_;
    }
    stamp_ = std::move(stamp);
    context_ = std::move(*fresh);
    log::info("certificate loaded again", {{"file", names_.cert}});
    return context_;
}

}  // namespace esi::http
