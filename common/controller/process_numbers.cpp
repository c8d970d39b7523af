#include "controller/process_numbers.h"

#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <string>

#include "base/version.h"

namespace esi::controller {

namespace {

double resident_bytes() {
    std::ifstream file("/proc/self/statm");
    double total = 0;
    double resident = 0;
    file >> total >> resident;
    return resident * static_cast<double>(sysconf(_SC_PAGESIZE));
}

double cpu_seconds() {
    rusage used{};
    if (getrusage(RUSAGE_SELF, &used) != 0) return 0;
    const auto seconds_of = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
    };
    return seconds_of(used.ru_utime) + seconds_of(used.ru_stime);
}

std::optional<double> open_files() {
    std::error_code failure;
    const std::filesystem::directory_iterator all("/proc/self/fd", failure);
    if (failure) return std::nullopt;
    // One of them is the folder itself.
    return static_cast<double>(std::distance(begin(all), end(all)) - 1);
}

std::optional<double> most_files() {
    rlimit limit{};
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return std::nullopt;
    return static_cast<double>(limit.rlim_cur);
}

/// Seconds since 1970: the boot time, and the ticks from it to the start of this process
/// (proc(5), field 22 of stat).
std::optional<double> start_time() {
    std::ifstream file("/proc/self/stat");
    std::string line;
    std::getline(file, line);
    // The second field is the name, in parentheses, and may hold anything.
    const auto name_end = line.rfind(')');
    if (name_end == std::string::npos) return std::nullopt;
    std::istringstream rest(line.substr(name_end + 1));
    std::string skipped;
    for (int field = 3; field < 22; ++field) rest >> skipped;
    double ticks = 0;
    if (!(rest >> ticks)) return std::nullopt;

    std::ifstream boot("/proc/stat");
    std::string key;
    double since = 0;
    while (boot >> key) {
        if (key == "btime" && boot >> since) {
            return since + ticks / static_cast<double>(sysconf(_SC_CLK_TCK));
        }
        std::getline(boot, skipped);
    }
    return std::nullopt;
}

void show(metrics& numbers, const char* name, const char* help, std::optional<double> value) {
    if (value) numbers.gauge(name, help).Set(*value);
}

}  // namespace

void show_process(metrics& numbers) {
    auto& cpu = numbers.counter("process_cpu_seconds_total",
                                "Total user and system CPU time spent in seconds");
    cpu.Increment(std::max(0.0, cpu_seconds() - cpu.Value()));
    show(numbers, "process_open_fds", "Number of open file descriptors", open_files());
    show(numbers, "process_max_fds", "Maximum number of open file descriptors", most_files());
    static const auto started = start_time();
    show(numbers, "process_start_time_seconds",
         "Start time of the process since unix epoch in seconds", started);
    numbers.gauge("process_resident_memory_bytes", "Resident memory size in bytes")
        .Set(resident_bytes());
    numbers
        .gauge("esi_build_info", "1, with the version of this operator",
               {{"version", std::string(version())}})
        .Set(1);
}

}  // namespace esi::controller
