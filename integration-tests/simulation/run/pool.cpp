#include "run/pool.h"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace esi::simulation {

namespace {

using steady = std::chrono::steady_clock;

bool read_all(int from, void* into, std::size_t size) {
    auto* at = static_cast<char*>(into);
    while (size > 0) {
        const auto got = read(from, at, size);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        at += got;
        size -= static_cast<std::size_t>(got);
    }
    return true;
}

bool write_all(int to, const void* what, std::size_t size) {
    const auto* at = static_cast<const char*>(what);
    while (size > 0) {
        const auto put = send(to, at, size, MSG_NOSIGNAL);
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) return false;
        at += put;
        size -= static_cast<std::size_t>(put);
    }
    return true;
}

/// A length and a text.
bool write_result(int to, const nlohmann::json& what) {
    const auto text = what.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    const std::uint64_t size = text.size();
    return write_all(to, &size, sizeof size) && write_all(to, text.data(), size);
}

/// Nothing where it did not come whole.
std::optional<nlohmann::json> read_result(int from) {
    std::uint64_t size = 0;
    if (!read_all(from, &size, sizeof size)) return std::nullopt;
    std::string text(size, '\0');
    if (!read_all(from, text.data(), size)) return std::nullopt;
    return nlohmann::json::parse(text, nullptr, false);
}

/// Takes numbers, gives results, until the other end closes.
[[noreturn]] void serve(int line, const std::function<nlohmann::json(std::size_t)>& work) {
    std::uint64_t number = 0;
    while (read_all(line, &number, sizeof number)) {
        if (!write_result(line, work(number))) break;
    }
    std::fflush(nullptr);
    _exit(0);
}

/// Processor time that a process has used; none where it is gone.
std::chrono::nanoseconds used_by(pid_t pid) {
    clockid_t id{};
    timespec time{};
    if (clock_getcpuclockid(pid, &id) != 0 || clock_gettime(id, &time) != 0) return {};
    return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

struct forked {
    pid_t pid;  ///< 0: this is the copy
    int line;   ///< to the other one
};

forked fork_with_line() {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) throw std::runtime_error("socketpair");
    std::fflush(nullptr);
    const auto pid = fork();
    if (pid < 0) throw std::runtime_error("fork");
    close(ends[pid == 0 ? 0 : 1]);
    return {pid, ends[pid == 0 ? 1 : 0]};
}

struct worker {
    pid_t pid = 0;
    int line = -1;
    std::optional<std::size_t> at;
    steady::time_point since;
    std::chrono::nanoseconds used{};  ///< before this piece

    bool overdue(std::chrono::seconds limit) const {
        return used_by(pid) - used >= limit ||
               steady::now() - since >= limit * pool_settings::most_patience;
    }
};

void start(worker& one, const std::vector<worker>& all,
           const std::function<nlohmann::json(std::size_t)>& work) {
    const auto made = fork_with_line();
    if (made.pid == 0) {
        for (const auto& other : all) {
            if (other.line >= 0) close(other.line);
        }
        serve(made.line, work);
    }
    one.pid = made.pid;
    one.line = made.line;
    one.at.reset();
}

/// Waits for its end; how it ended.
std::string end_of(pid_t pid) {
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    if (WIFSIGNALED(status)) return fmt::format("killed by signal {}", WTERMSIG(status));
    return fmt::format("ended with exit code {}", WEXITSTATUS(status));
}

std::string finish(worker& one) {
    close(one.line);
    one.line = -1;
    return end_of(std::exchange(one.pid, 0));
}

}  // namespace

void run_all(std::size_t count, const pool_settings& how,
             const std::function<nlohmann::json(std::size_t)>& work,
             const std::function<bool(const piece&)>& done) {
    auto wanted = static_cast<std::size_t>(
        how.jobs > 0 ? how.jobs
                     : static_cast<int>(std::max(1U, std::thread::hardware_concurrency())));
    std::vector<worker> workers(std::min(wanted, count));
    std::size_t next = 0;
    bool more = true;
    auto give = [&](worker& one) {
        one.at.reset();
        if (!more || next == count) return;
        if (one.line < 0) start(one, workers, work);
        const std::uint64_t number = next++;
        one.at = number;
        one.since = steady::now();
        one.used = used_by(one.pid);
        // A worker that is gone is noticed when its answer is read.
        (void)write_all(one.line, &number, sizeof number);
    };
    auto report = [&](piece what) { more = done(what) && more; };
    for (auto& one : workers) give(one);
    while (true) {
        std::vector<pollfd> lines;
        std::vector<worker*> of;
        for (auto& one : workers) {
            if (!one.at) continue;
            lines.push_back({one.line, POLLIN, 0});
            of.push_back(&one);
        }
        if (lines.empty()) break;
        poll(lines.data(), lines.size(), 500);
        for (std::size_t i = 0; i < lines.size(); ++i) {
            auto& one = *of[i];
            piece what;
            what.number = *one.at;
            if (lines[i].revents == 0) {
                if (!one.overdue(how.limit)) continue;
                kill(one.pid, SIGKILL);
                finish(one);
                what.failure = fmt::format("no end within {} s", how.limit.count());
            } else {
                if (auto result = read_result(one.line)) {
                    what.result = std::move(*result);
                } else {
                    what.failure = finish(one);
                }
            }
            report(std::move(what));
            give(one);
        }
    }
    for (auto& one : workers) {
        if (one.line >= 0) finish(one);
    }
}

std::optional<piece> branch::begin(std::chrono::seconds limit) {
    const auto copy = fork_with_line();
    if (copy.pid == 0) {
        line_ = copy.line;
        const rlimit most{static_cast<rlim_t>(limit.count()), RLIM_INFINITY};
        setrlimit(RLIMIT_CPU, &most);
        return std::nullopt;
    }
    piece out;
    auto result = read_result(copy.line);
    close(copy.line);
    const auto how = end_of(copy.pid);
    if (result) {
        out.result = std::move(*result);
    } else {
        out.failure = how == fmt::format("killed by signal {}", SIGXCPU)
                          ? fmt::format("no end within {} s", limit.count())
                          : how;
    }
    return out;
}

void branch::end(const nlohmann::json& result) const {
    const bool well = write_result(line_, result);
    std::fflush(nullptr);
    _exit(well ? 0 : 1);
}

}  // namespace esi::simulation
