// What every fuzz target is made of: one function that takes one input, and require(), its oracle.
// The same source is built twice: as a libFuzzer program (preset fuzz), and into esi_fuzz_replay,
// which runs kept inputs and a few seconds of mutations of them in any other build.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace esi::fuzz {

using one_input = void (*)(std::string_view input);

/// The targets of this program by name.
inline std::map<std::string, one_input, std::less<>>& targets() {
    static std::map<std::string, one_input, std::less<>> all;
    return all;
}

[[noreturn]] inline void broken(const std::string& what) {
    std::fprintf(stderr, "broken: %s\n", what.c_str());
    std::fflush(stderr);
    std::abort();
}

/// Ends the process when `holds` is false; the driver keeps the input.
template <class... Args>
void require(bool holds, fmt::format_string<Args...> what, Args&&... args) {
    if (!holds) [[unlikely]]
        broken(fmt::format(what, std::forward<Args>(args)...));
}

}  // namespace esi::fuzz

#ifdef ESI_LIBFUZZER
#define ESI_FUZZ_TARGET(name, function)                                                         \
    extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {         \
        function(std::string_view(size == 0 ? "" : reinterpret_cast<const char*>(data), size)); \
        return 0;                                                                               \
    }
#else
#define ESI_FUZZ_TARGET(name, function)            \
    [[maybe_unused]] const bool name##_is_listed = \
        ::esi::fuzz::targets().emplace(#name, function).second;
#endif
