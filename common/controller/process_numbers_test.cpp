#include "controller/process_numbers.h"

#include <gtest/gtest.h>

#include <chrono>

#include "base/version.h"

namespace esi::controller {
namespace {

double value_of(const std::string& text, const std::string& name) {
    const auto at = text.find("\n" + name + " ");
    EXPECT_NE(at, std::string::npos) << name;
    return at == std::string::npos ? -1 : std::stod(text.substr(at + name.size() + 2));
}

TEST(process_numbers, are_those_of_this_process) {
    metrics numbers;
    show_process(numbers);
    show_process(numbers);
    const auto text = numbers.text();
    EXPECT_GT(value_of(text, "process_cpu_seconds_total"), 0);
    EXPECT_LT(value_of(text, "process_cpu_seconds_total"), 3600);
    EXPECT_GT(value_of(text, "process_open_fds"), 2);
    EXPECT_GT(value_of(text, "process_max_fds"), value_of(text, "process_open_fds"));
    EXPECT_GT(value_of(text, "process_resident_memory_bytes"), 1 << 20);
    const auto now =
        std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
    EXPECT_NEAR(value_of(text, "process_start_time_seconds"), now, 3600);
    EXPECT_EQ(value_of(text, std::string("esi_build_info{version=\"") + version() + "\"}"), 1);
}

}  // namespace
}  // namespace esi::controller
