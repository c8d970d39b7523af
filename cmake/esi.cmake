# How ESI's targets are made: warnings as errors for our code, tests and benchmarks beside sources.

# ccache, told what a precompiled header needs (ccache manual, "Precompiled headers"), and that the
# folder of a checkout does not matter. As a launcher, not as environment of a preset, so that every
# way to start a build behaves alike.
find_program(ESI_CCACHE ccache)
if(ESI_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
        CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
        CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${ESI_CCACHE})
endif()

add_library(esi_options INTERFACE)
target_compile_options(esi_options INTERFACE
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror
    -fno-omit-frame-pointer -fstack-protector-strong
    # Names of files in messages and debug information are the same in every checkout.
    -ffile-prefix-map=${PROJECT_SOURCE_DIR}=.)
# Libraries and executables alike, so that one precompiled header serves both.
target_compile_options(esi_options INTERFACE -fPIE)
target_link_options(esi_options INTERFACE -pie -Wl,-z,relro,-z,now)
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    target_link_options(esi_options INTERFACE -fuse-ld=lld)
    # Resident memory: what nobody calls is left out, equal instances of templates are one, and
    # relocations take bits instead of 24 bytes each (glibc >= 2.36): 210 KB less to map each.
    target_link_options(esi_options INTERFACE -Wl,--gc-sections -Wl,--icf=safe -Wl,--as-needed
        -Wl,-z,pack-relative-relocs)
    # Without it the precompiled header carries the time it was made, and no unit that uses it is
    # ever found in the cache again.
    target_compile_options(esi_options INTERFACE "SHELL:-Xclang -fno-pch-timestamp")
endif()
target_compile_definitions(esi_options INTERFACE
    BOOST_ASIO_NO_DEPRECATED BOOST_ASIO_SEPARATE_COMPILATION BOOST_BEAST_SEPARATE_COMPILATION)
if(ESI_SANITIZE)
    target_compile_options(esi_options INTERFACE -fsanitize=${ESI_SANITIZE}
        -fno-sanitize-recover=all)
    target_link_options(esi_options INTERFACE -fsanitize=${ESI_SANITIZE})
else()
    # What attackers build on is stopped where it happens: an index out of range, a value that was
    # never set, a stack that grows past its guard page, a jump to where no call leads. What it
    # costs: docs/performance.md.
    target_compile_definitions(esi_options INTERFACE _GLIBCXX_ASSERTIONS
        $<$<NOT:$<CONFIG:Debug>>:_FORTIFY_SOURCE=2>)
    target_compile_options(esi_options INTERFACE
        -ftrivial-auto-var-init=zero -fstack-clash-protection)
    if(CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
        target_compile_options(esi_options INTERFACE -fcf-protection=full)
    elseif(CMAKE_SYSTEM_PROCESSOR STREQUAL "aarch64")
        target_compile_options(esi_options INTERFACE -mbranch-protection=standard)
    endif()
endif()
if(ESI_COVERAGE)
    target_compile_options(esi_options INTERFACE -fprofile-instr-generate -fcoverage-mapping)
    target_link_options(esi_options INTERFACE -fprofile-instr-generate)
endif()

# esi_library(NAME dir [libraries...]): all sources of a folder but tests, benchmarks and main.cpp;
# its tests become NAME_tests, its benchmarks NAME_bench.
function(esi_library name folder)
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${folder}/*.cpp)
    set(tests ${sources})
    set(benches ${sources})
    list(FILTER sources EXCLUDE REGEX "(_test|_bench|/main)\\.cpp$")
    list(FILTER tests INCLUDE REGEX "_test\\.cpp$")
    list(FILTER benches INCLUDE REGEX "_bench\\.cpp$")
    add_library(${name} STATIC ${sources})
    target_link_libraries(${name} PUBLIC esi_options ${ARGN})
    target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR}/common
        ${PROJECT_SOURCE_DIR}/operators)
    target_precompile_headers(${name} REUSE_FROM esi_precompiled)
    if(tests)
        add_executable(${name}_tests ${tests})
        target_link_libraries(${name}_tests PRIVATE ${name} GTest::gmock GTest::gtest_main)
        target_precompile_headers(${name}_tests REUSE_FROM esi_precompiled)
        gtest_discover_tests(${name}_tests TEST_PREFIX "${name}/" NO_PRETTY_VALUES PROPERTIES LABELS unit
            DISCOVERY_TIMEOUT 60)
    endif()
    if(benches AND ESI_BENCHMARKS)
        find_package(benchmark REQUIRED)
        add_executable(${name}_bench ${benches})
        target_link_libraries(${name}_bench PRIVATE ${name} benchmark::benchmark_main)
    endif()
endfunction()
