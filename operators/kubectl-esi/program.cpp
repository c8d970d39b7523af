#include "kubectl-esi/program.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <csignal>
#include <cstdlib>
#include <optional>

#include "base/log.h"
#include "base/task_group.h"
#include "base/version.h"
#include "kube/connection/http_transport.h"
#include "kubectl-esi/candidates.h"
#include "kubectl-esi/command_line.h"
#include "kubectl-esi/commands/version.h"
#include "kubectl-esi/completion/scripts.h"
#include "kubectl-esi/read/remedy.h"
#include "kubectl-esi/watching.h"

namespace esi::kubectl {

namespace {

using namespace std::chrono_literals;

/// A shell waits for completion.
constexpr auto completion_patience = 3s;

result<reply> failure(error what) { return std::unexpected(std::move(what)); }

/// The process around one command. Members are in the order of their dependencies.
class program {
public:
    program(const general_flags& flags, command what,
            std::function<std::vector<watched>(const session&)> kinds)
        : flags_(flags), what_(std::move(what)), kinds_(std::move(kinds)) {}

    /// The answer; nothing if a signal came first.
    std::optional<result<reply>> run() {
        auto access = kube::load_access(flags_.kubeconfig, flags_.context);
        if (!access) return failure(std::move(access).error());
        access_ = std::move(*access);
        kube::http_transport_options how;
        how.user_agent = std::string("kubectl-esi/") + version();
        auto wire =
            kube::http_transport::make(loop_.get_executor(), time_, *access_, std::move(how));
        if (!wire) return failure(std::move(wire).error());
        wire_ = std::move(*wire);
        api_.emplace(*wire_, time_);
        api_->set_default_deadline(flags_.request_timeout);
        // This is spawned first: an answer that needs no request ends the wait for signals.
        watcher_.spawn("signals", wait_for_signal());
        work_.spawn("command", work());
        loop_.run();
        return std::move(answer_);
    }
    const kube::cluster_access* access() const { return access_ ? &*access_ : nullptr; }

private:
    asio::awaitable<void> work() {
        const bool terminal = isatty(STDOUT_FILENO) == 1;
        const char* plain = std::getenv("NO_COLOR");
        session in{loop_.get_executor(),
                   time_,
                   *api_,
                   *access_,
                   flags_,
                   terminal,
                   terminal && (plain == nullptr || *plain == '\0')};
        if (flags_.watch) {
            answer_ = co_await watch(in, kinds_(in), what_);
        } else {
            answer_ = co_await what_(in);
        }
        signals_.cancel();
    }

    asio::awaitable<void> wait_for_signal() {
        boost::system::error_code ended;
        co_await signals_.async_wait(asio::redirect_error(asio::use_awaitable, ended));
        if (!ended) co_await work_.stop();
        // Timers and helper threads of kept connections are not needed any more.
        loop_.stop();
    }

    const general_flags& flags_;
    command what_;
    std::function<std::vector<watched>(const session&)> kinds_;
    asio::io_context loop_{1};
    system_clock time_;
    std::optional<kube::cluster_access> access_;
    std::unique_ptr<kube::http_transport> wire_;
    std::optional<kube::client> api_;
    asio::signal_set signals_{loop_, SIGINT, SIGTERM};
    task_group work_{loop_.get_executor()};
    task_group watcher_{loop_.get_executor()};
    std::optional<result<reply>> answer_;
};

asio::awaitable<result<reply>> completed(session& in, completion::question of) {
    const auto names = co_await completion::names_of(in, of.names);
    co_return reply{completion::answer_text(of, names), "", exit_code::ok};
}

/// Completion never fails: a shell shows no errors.
int complete(const CLI::App& app, std::vector<std::string> words) {
    auto of = completion::ask(app, words);
    auto flags = of.flags;
    flags.request_timeout = completion_patience;
    std::optional<result<reply>> answer;
    if (of.names == named::contexts) {
        answer = reply{completion::answer_text(of, completion::contexts_of(flags)), "", 0};
    } else if (of.names != named::nothing && of.names != named::files) {
        program life(flags, [&of](session& in) { return completed(in, of); }, {});
        answer = life.run();
    }
    if (!answer || !*answer) answer = reply{completion::answer_text(of, {}), "", 0};
    print(**answer);
    return exit_code::ok;
}

int parse(CLI::App& app, int argc, char** argv) {
    try {
        app.parse(argc, argv);
        return -1;
    } catch (const CLI::ParseError& wrong) {
        // --help also comes this way, with 0.
        return app.exit(wrong) == 0 ? exit_code::ok : exit_code::usage;
    }
}

int misused(const std::string& text) {
    print({"", text + "\nRun with --help for more information.\n", exit_code::usage});
    return exit_code::usage;
}

}  // namespace

int run_program(int argc, char** argv) {
    log::configure(log::level::warn, log::format::text);
    log::send_to([](log::level, std::string_view line) {
        print({"", "warning: " + std::string(line) + "\n", exit_code::ok});
    });
    command_line line;
    CLI::App app("Testbeds, plans and runs of ESI: what is in the slots, what waits, and why.",
                 "kubectl esi");
    line.add_to(app);
    if (argc > 1 && std::string_view(argv[1]) == "__complete") {
        return complete(app, std::vector<std::string>(argv + 2, argv + argc));
    }
    if (const int code = parse(app, argc, argv); code >= 0) return code;
    if (!line.shell.empty()) {
        print({completion::script_for(line.shell), "", exit_code::ok});
        return exit_code::ok;
    }
    if (!line.run) {
        print(version_of_client(line.general.output));
        return exit_code::ok;
    }
    if (line.general.watch && !line.kinds)
        return misused("--watch: this command cannot be watched");
    if (line.general.all_namespaces && !line.general.ns.empty()) {
        return misused("-n and -A exclude each other");
    }
    program life(line.general, line.run, line.kinds);
    const auto answer = life.run();
    if (!answer) return line.general.watch ? exit_code::ok : exit_code::interrupted;
    if (!*answer) {
        print({"", error_text(answer->error(), life.access()), exit_code::failed});
        return exit_code::failed;
    }
    print(**answer);
    return (*answer)->code;
}

}  // namespace esi::kubectl
