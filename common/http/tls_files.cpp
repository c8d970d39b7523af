#include "http/tls_files.h"

#include <fmt/format.h>
#include <openssl/ssl.h>

#include <filesystem>

#include "base/log.h"

namespace esi::http {

namespace {

constexpr auto look_interval = std::chrono::seconds(10);

std::string stamp_of(const std::string& cert_file, const std::string& key_file) {
    std::error_code ignored;
    const auto cert = std::filesystem::last_write_time(cert_file, ignored);
    const auto key = std::filesystem::last_write_time(key_file, ignored);
    return fmt::format("{} {}", cert.time_since_epoch().count(), key.time_since_epoch().count());
}

result<std::shared_ptr<asio::ssl::context>> make_context(const std::string& cert_file,
                                                         const std::string& key_file) {
    auto context = std::make_shared<asio::ssl::context>(asio::ssl::context::tls_server);
    SSL_CTX_set_min_proto_version(context->native_handle(), TLS1_2_VERSION);
    boost::system::error_code failure;
    context->use_certificate_chain_file(cert_file, failure);
    if (failure) return fail(errc::config, cert_file + ": " + failure.message());
    context->use_private_key_file(key_file, asio::ssl::context::pem, failure);
    if (failure) return fail(errc::config, key_file + ": " + failure.message());
    if (SSL_CTX_check_private_key(context->native_handle()) != 1) {
        return fail(errc::config, key_file + ": is not the key of " + cert_file);
    }
    return context;
}

}  // namespace

result<tls_files> tls_files::load(std::string cert_file, std::string key_file, steady_time now) {
    tls_files out;
    out.stamp_ = stamp_of(cert_file, key_file);
    auto context = make_context(cert_file, key_file);
    if (!context) return std::unexpected(std::move(context).error());
    out.context_ = std::move(*context);
    out.cert_file_ = std::move(cert_file);
    out.key_file_ = std::move(key_file);
    out.looked_ = now;
    return out;
}

std::shared_ptr<asio::ssl::context> tls_files::context(steady_time now) {
    if (now - looked_ < look_interval) return context_;
    looked_ = now;
    auto stamp = stamp_of(cert_file_, key_file_);
    if (stamp == stamp_) return context_;
    auto fresh = make_context(cert_file_, key_file_);
    if (!fresh) {
        // Also while only one of the two has been replaced: looked at again at the next turn.
        log::warn("the new certificate cannot be used", {{"error", fresh.error().text}});
        return context_;
    }
    stamp_ = std::move(stamp);
    context_ = std::move(*fresh);
    log::info("certificate loaded again", {{"file", cert_file_}});
    return context_;
}

}  // namespace esi::http
