#include "kube/auth/exec_plugin.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <thread>

#include "model/meta.h"

namespace esi::kube {

namespace {

using json = nlohmann::json;

constexpr std::size_t output_limit = 1u << 20;
constexpr std::size_t shown_stderr = 500;
constexpr int slice_ms = 50;
/// A killed process ends at once, unless it waits for a device.
constexpr auto kill_time = std::chrono::seconds(1);

std::string text_at(const json& object, const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

/// A pipe whose ends close themselves and do not leak into other children.
class pipe_ends {
public:
    pipe_ends() {
        if (::pipe2(ends_.data(), O_CLOEXEC) != 0) ends_ = {-1, -1};
    }
    pipe_ends(const pipe_ends&) = delete;
    pipe_ends& operator=(const pipe_ends&) = delete;
    ~pipe_ends() {
        close(0);
        close(1);
    }
    int reading() const { return ends_[0]; }
    int writing() const { return ends_[1]; }
    bool ok() const { return ends_[0] >= 0; }
    void close(std::size_t which) {
        if (ends_[which] >= 0) ::close(ends_[which]);
        ends_[which] = -1;
    }

private:
    std::array<int, 2> ends_{-1, -1};
};

std::vector<std::string> child_environment(const exec_plugin& plugin, const std::string& info) {
    std::vector<std::string> out;
    for (char** at = environ; at != nullptr && *at != nullptr; ++at) {
        if (!std::string_view(*at).starts_with("KUBERNETES_EXEC_INFO=")) out.emplace_back(*at);
    }
    for (const auto& [name, value] : plugin.env) out.push_back(name + "=" + value);
    out.push_back("KUBERNETES_EXEC_INFO=" + info);
    return out;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
    std::vector<char*> out;
    for (auto& text : texts) out.push_back(text.data());
    out.push_back(nullptr);
    return out;
}

/// Starts the program in a process group of its own. The number of the error, 0 for none.
int start(const exec_plugin& plugin, const std::string& info, pipe_ends& out, pipe_ends& err,
          pid_t& child) {
    std::vector<std::string> arguments{plugin.command};
    arguments.insert(arguments.end(), plugin.args.begin(), plugin.args.end());
    auto variables = child_environment(plugin, info);
    auto argv = pointers(arguments);
    auto envp = pointers(variables);

    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files, out.writing(), STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&files, err.writing(), STDERR_FILENO);
    // Not every socket of ours closes itself on exec (Asio's do not): a plugin that leaves a daemon
    // behind would keep the listener and connections open.
    posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&attributes, &none);
    sigset_t ignored_here;
    sigemptyset(&ignored_here);
    sigaddset(&ignored_here, SIGPIPE);
    posix_spawnattr_setsigdefault(&attributes, &ignored_here);
    posix_spawnattr_setflags(
        &attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    const int failure =
        posix_spawnp(&child, plugin.command.c_str(), &files, &attributes, argv.data(), envp.data());
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    return failure;
}

/// Reads what is there; false at the end of the pipe.
bool drain(int from, std::string& into) {
    std::array<char, 4096> space;
    const auto count = ::read(from, space.data(), space.size());
    if (count > 0) into.append(space.data(), static_cast<std::size_t>(count));
    return count > 0 || (count < 0 && errno == EINTR);
}

/// Reads both outputs until both end; false if the deadline passed or `stop` was set.
bool read_outputs(pipe_ends& out, pipe_ends& err, std::string& text, std::string& complaint,
                  steady_time deadline, const std::atomic<bool>& stop) {
    bool out_open = true;
    bool err_open = true;
    while (out_open || err_open) {
        if (stop || std::chrono::steady_clock::now() >= deadline) return false;
        if (text.size() > output_limit || complaint.size() > output_limit) return false;
        std::array<pollfd, 2> wanted{pollfd{out_open ? out.reading() : -1, POLLIN, 0},
                                     pollfd{err_open ? err.reading() : -1, POLLIN, 0}};
        if (::poll(wanted.data(), wanted.size(), slice_ms) <= 0) continue;
        if (wanted[0].revents != 0) out_open = drain(out.reading(), text);
        if (wanted[1].revents != 0) err_open = drain(err.reading(), complaint);
    }
    return true;
}

/// The wait status, or nothing when it did not end in time.
std::optional<int> wait_for(pid_t child, steady_time deadline, const std::atomic<bool>& stop) {
    for (;;) {
        int status = 0;
        if (::waitpid(child, &status, WNOHANG) == child) return status;
        if (stop || std::chrono::steady_clock::now() >= deadline) return std::nullopt;
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
}

}  // namespace

std::string exec_info(const exec_plugin& plugin, const cluster_entry& cluster,
                      const std::string& ca_pem) {
    json spec = json::object();
    spec["interactive"] = false;
    if (plugin.provide_cluster_info) {
        json about = json::object();
        about["server"] = cluster.server;
        if (!cluster.tls_server_name.empty()) about["tls-server-name"] = cluster.tls_server_name;
        if (cluster.insecure_skip_tls_verify) about["insecure-skip-tls-verify"] = true;
        if (!ca_pem.empty()) {
            static constexpr std::string_view digits =
                "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
            std::string encoded;
            for (std::size_t at = 0; at < ca_pem.size(); at += 3) {
                const auto byte = [&](std::size_t i) {
                    return at + i < ca_pem.size() ? static_cast<unsigned char>(ca_pem[at + i]) : 0u;
                };
                const unsigned bits = byte(0) << 16 | byte(1) << 8 | byte(2);
                encoded += digits[bits >> 18 & 63];
                encoded += digits[bits >> 12 & 63];
                encoded += at + 1 < ca_pem.size() ? digits[bits >> 6 & 63] : '=';
                encoded += at + 2 < ca_pem.size() ? digits[bits & 63] : '=';
            }
            about["certificate-authority-data"] = encoded;
        }
        spec["cluster"] = std::move(about);
    }
    json out = json::object();
    out["apiVersion"] = plugin.api_version;
    out["kind"] = "ExecCredential";
    out["spec"] = std::move(spec);
    return out.dump(-1, ' ', false, json::error_handler_t::replace);
}

result<exec_credential> parse_exec_credential(std::string_view text, std::string_view api_version) {
    const auto parsed = json::parse(text, nullptr, false);
    if (!parsed.is_object() || text_at(parsed, "kind") != "ExecCredential") {
        return fail(errc::config, "the answer is not an ExecCredential");
    }
    if (text_at(parsed, "apiVersion") != api_version) {
        return fail(errc::config, "the answer has apiVersion \"" + text_at(parsed, "apiVersion") +
                                      "\", wanted is \"" + std::string(api_version) + "\"");
    }
    const auto status = parsed.find("status");
    if (status == parsed.end() || !status->is_object()) {
        return fail(errc::config, "the answer has no status");
    }
    exec_credential out;
    out.token = text_at(*status, "token");
    out.certificate_pem = text_at(*status, "clientCertificateData");
    out.key_pem = text_at(*status, "clientKeyData");
    if (out.certificate_pem.empty() != out.key_pem.empty()) {
        return fail(errc::config, "the answer has only one of certificate and key");
    }
    if (out.token.empty() && out.certificate_pem.empty()) {
        return fail(errc::config, "the answer has neither a token nor a certificate");
    }
    const auto expires = text_at(*status, "expirationTimestamp");
    if (!expires.empty()) {
        auto time = model::timestamp::parse(expires);
        if (!time) return fail(errc::config, "expirationTimestamp: " + time.error().text);
        out.expires = time->value;
    }
    return out;
}

result<exec_credential> run_exec_plugin(const exec_plugin& plugin, const std::string& info,
                                        steady_time deadline, const std::atomic<bool>& stop) {
    const auto wrong = [&](const std::string& why, const std::string& complaint) {
        auto text = "credential plugin " + plugin.command + ": " + why;
        if (!complaint.empty()) {
            text += ": " +
                    complaint.substr(complaint.size() - std::min(complaint.size(), shown_stderr));
        }
        if (!plugin.install_hint.empty()) text += " (" + plugin.install_hint + ")";
        return fail(errc::config, text);
    };
    pipe_ends out;
    pipe_ends err;
    if (!out.ok() || !err.ok()) return wrong("no pipe: " + std::string(std::strerror(errno)), "");
    pid_t child = -1;
    if (const int failure = start(plugin, info, out, err, child); failure != 0) {
        return wrong("cannot be started: " + std::string(std::strerror(failure)), "");
    }
    out.close(1);
    err.close(1);
    std::string text;
    std::string complaint;
    std::optional<int> status;
    if (read_outputs(out, err, text, complaint, deadline, stop)) {
        status = wait_for(child, deadline, stop);
    }
    if (!status) {
        ::kill(-child, SIGKILL);
        // It may have moved to another group.
        ::kill(child, SIGKILL);
        static const std::atomic<bool> never{false};
        wait_for(child, std::chrono::steady_clock::now() + kill_time, never);
        return wrong("did not answer in time", complaint);
    }
    if (!WIFEXITED(*status) || WEXITSTATUS(*status) != 0) {
        return wrong(WIFEXITED(*status) ? "exit code " + std::to_string(WEXITSTATUS(*status))
                                        : "killed by a signal",
                     complaint);
    }
    auto credential = parse_exec_credential(text, plugin.api_version);
    if (!credential) return wrong(credential.error().text, complaint);
    return credential;
}

}  // namespace esi::kube
