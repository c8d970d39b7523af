#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <cstdlib>

#include "controller/process.h"

namespace esi::controller {
namespace {

using namespace std::chrono_literals;

/// Empty if the flags are right, else the message about them.
std::string parse(process_options& options, std::vector<std::string> flags) {
    CLI::App app;
    options.add_to(app, 8080);
    std::reverse(flags.begin(), flags.end());
    try {
        app.parse(flags);
    } catch (const CLI::ParseError& e) {
        return e.what();
    }
    auto checked = options.check();
    return checked ? std::string() : checked.error().text;
}

TEST(process_options, have_defaults_that_work) {
    process_options options;
    EXPECT_EQ(parse(options, {}), "");
    EXPECT_EQ(options.port, 8080);
    EXPECT_TRUE(options.leader_elect);
    EXPECT_EQ(options.lease_duration, 15s);
    EXPECT_TRUE(options.namespaces.empty());
}

TEST(process_options, are_written_as_kubectl_has_them) {
    process_options options;
    EXPECT_EQ(
        parse(options, {"--namespace", "a", "--namespace=b", "--leader-elect=false", "--port=0",
                        "--leader-elect-lease-duration=1m", "--leader-elect-renew-deadline", "40s",
                        "--leader-elect-retry-period=5", "--enable-debug-endpoints",
                        "--log-format=json", "--kube-api-qps=2.5"}),
        "");
    EXPECT_EQ(options.namespaces, (std::vector<std::string>{"a", "b"}));
    EXPECT_FALSE(options.leader_elect);
    EXPECT_EQ(options.port, 0);
    EXPECT_EQ(options.lease_duration, 60s);
    EXPECT_EQ(options.renew_deadline, 40s);
    EXPECT_EQ(options.retry_period, 5s);
    EXPECT_TRUE(options.enable_debug_endpoints);
    EXPECT_EQ(options.log_format, "json");
    EXPECT_EQ(options.kube_api_qps, 2.5);
}

TEST(process_options, durations_are_decimal) {
    process_options options;
    EXPECT_EQ(parse(options, {"--leader-elect-lease-duration=020s"}), "");
    EXPECT_EQ(options.lease_duration, 20s);
    for (const char* wrong : {"0x20", "20h", "-20", "+20", "2.5m", "s", "20 s", "99999999999"}) {
        EXPECT_NE(parse(options, {std::string("--leader-elect-lease-duration=") + wrong}), "")
            << wrong;
    }
}

TEST(process_options, come_from_the_environment_too) {
    setenv("ESI_LOG_LEVEL", "debug", 1);
    setenv("ESI_LEADER_ELECT", "false", 1);
    setenv("ESI_NAMESPACE", "a,b", 1);
    process_options options;
    EXPECT_EQ(parse(options, {}), "");
    EXPECT_EQ(options.log_level, "debug");
    EXPECT_FALSE(options.leader_elect);
    EXPECT_EQ(options.namespaces, (std::vector<std::string>{"a", "b"}));
    process_options given;
    EXPECT_EQ(parse(given, {"--log-level=warn"}), "");
    EXPECT_EQ(given.log_level, "warn") << "a flag goes before the environment";
    for (const char* name : {"ESI_LOG_LEVEL", "ESI_LEADER_ELECT", "ESI_NAMESPACE"}) unsetenv(name);
}

TEST(process_options, that_are_wrong_are_named) {
    const struct {
        std::vector<std::string> flags;
        const char* said;
    } table[] = {
        {{"--port=70000"}, "--port"},
        {{"--port=x"}, "--port"},
        {{"--log-level=loud"}, "--log-level"},
        {{"--log-format=xml"}, "--log-format"},
        {{"--kube-api-qps=-1"}, "--kube-api-qps"},
        {{"--tls-cert-file=/nowhere"}, "--tls-cert-file"},
        {{"--tls-cert-file=/etc/hostname"}, "go together"},
        {{"--leader-elect=perhaps"}, "perhaps"},
        {{"--leader-elect-lease-duration=10s"}, "must exceed"},
        {{"--leader-elect-retry-period=9s"}, "1.2 times"},
        {{"--leader-elect-retry-period=0s"}, "at least 1s"},
        {{"--leader-elect-namespace="}, "--leader-elect-namespace"},
        {{"--unknown"}, "--unknown"},
        {{"stray"}, "stray"},
    };
    for (const auto& [flags, said] : table) {
        process_options options;
        auto text = parse(options, flags);
        EXPECT_NE(text.find(said), std::string::npos) << flags[0] << ": " << text;
    }
}

/// The message about --legacy-namespace beside these flags.
std::string parse_legacy(std::vector<std::string> flags, const std::string& with = {},
                         std::string* chosen = nullptr) {
    process_options options;
    std::string ns = "default";
    CLI::App app;
    options.add_to(app, 8080);
    add_legacy_namespace(app, ns, "that /external speaks of", with);
    std::reverse(flags.begin(), flags.end());
    try {
        app.parse(flags);
    } catch (const CLI::ParseError& e) {
        return e.what();
    }
    if (chosen != nullptr) *chosen = ns;
    return "";
}

TEST(process_options, a_legacy_namespace_that_is_not_given_is_the_first_one_watched) {
    const auto of = [](std::vector<std::string> flags) {
        std::string chosen;
        EXPECT_EQ(parse_legacy(std::move(flags), {}, &chosen), "");
        return chosen;
    };
    EXPECT_EQ(of({}), "default");
    EXPECT_EQ(of({"--namespace=b,a"}), "b");
    EXPECT_EQ(of({"--namespace=b,a", "--legacy-namespace=a"}), "a");
    setenv("ESI_NAMESPACE", "c,d", 1);
    EXPECT_EQ(of({}), "c");
    unsetenv("ESI_NAMESPACE");
}

TEST(process_options, what_can_be_no_namespace_is_refused) {
    for (const char* wrong : {"Not Valid", "a_b", "-a", "a-", "a.b"}) {
        EXPECT_EQ(parse_legacy({std::string("--legacy-namespace=") + wrong})
                      .find(std::string("--legacy-namespace: \"") + wrong + "\" is no name of a"),
                  0U)
            << wrong;
        process_options options;
        EXPECT_NE(parse(options, {std::string("--leader-elect-namespace=") + wrong}), "") << wrong;
    }
    EXPECT_NE(parse_legacy({"--legacy-namespace="}), "");
    EXPECT_NE(parse_legacy({"--legacy-namespace=" + std::string(64, 'a')}), "");
    EXPECT_EQ(parse_legacy({"--legacy-namespace=" + std::string(63, 'a')}), "");
    process_options options;
    EXPECT_NE(parse(options, {"--namespace=Team"}).find("--namespace: \"Team\" is no name"),
              std::string::npos);
}

/// The message if the environment has this variable.
std::string parse_with(const char* variable, const char* value, std::vector<const char*> argv = {},
                       process_options* into = nullptr) {
    process_options own;
    auto& options = into != nullptr ? *into : own;
    CLI::App app;
    options.add_to(app, 8080);
    setenv(variable, value, 1);
    argv.insert(argv.begin(), "esi");
    std::string said;
    try {
        parse_flags(app, static_cast<int>(argv.size()), argv.data());
    } catch (const CLI::ParseError& e) {
        said = e.what();
    }
    unsetenv(variable);
    return said;
}

TEST(process_options, a_service_of_the_same_name_is_no_flag) {
    process_options options;
    EXPECT_EQ(parse_with("ESI_PORT", "tcp://10.96.1.2:8080", {}, &options), "");
    EXPECT_EQ(options.port, 8080);
    EXPECT_EQ(parse_with("ESI_PORT", "8090", {}, &options), "");
    EXPECT_EQ(options.port, 8090);
}

TEST(process_options, a_wrong_value_of_the_environment_is_told_with_its_variable) {
    EXPECT_EQ(parse_with("ESI_PORT", "abc"), "ESI_PORT=abc is not a number from 0 to 65535");
    EXPECT_EQ(parse_with("ESI_KUBE_API_QPS", "-1"),
              "ESI_KUBE_API_QPS=-1 is no rate: it must be 0 or more");
    EXPECT_EQ(parse_with("ESI_LOG_LEVEL", "loud").find("ESI_LOG_LEVEL=loud"), 0U);
    EXPECT_EQ(parse_with("ESI_PORT", "abc", {"--port=x"}),
              "--port: x is not a number from 0 to 65535");
}

TEST(process_options, an_allowed_host_that_no_request_could_name_is_refused) {
    const auto said = [](const std::string& host) {
        CLI::App app;
        http::local_access access;
        add_access_flags(app, access, "/external");
        std::vector<std::string> flags{"--allowed-hosts=" + host};
        try {
            app.parse(flags);
        } catch (const CLI::ParseError& e) {
            return std::string(e.what());
        }
        return std::string();
    };
    for (const char* right :
         {"esi.example.org", "*.Example.org", "*", "esi_1", "10.0.0.1", "a,b.c"}) {
        EXPECT_EQ(said(right), "") << right;
    }
    for (const char* wrong :
         {"http://esi.example.org", "esi.example.org:8082", "esi.example.org/", "*example.org",
          "a.*.org", ".example.org", "example.org.", "a..b", "*.", "a b", "fe80::1"}) {
        EXPECT_EQ(
            said(wrong).find(std::string("--allowed-hosts: \"") + wrong + "\" matches no Host"), 0U)
            << wrong << ": " << said(wrong);
    }
}

TEST(process_options, a_legacy_namespace_that_is_not_watched_is_refused) {
    EXPECT_EQ(parse_legacy({}), "");
    EXPECT_EQ(parse_legacy({"--legacy-namespace=a"}), "") << "all are watched";
    EXPECT_EQ(parse_legacy({"--namespace=a", "--namespace=b", "--legacy-namespace=b"}), "");
    EXPECT_EQ(parse_legacy({"--namespace=a,b", "--legacy-namespace=c"}),
              "--legacy-namespace: c is not watched (--namespace a,b), so nothing would be found "
              "there; give one of those");

    const std::string debug = "--enable-debug-endpoints";
    EXPECT_EQ(parse_legacy({"--namespace=a", "--legacy-namespace=b"}, debug), "");
    EXPECT_NE(parse_legacy({"--namespace=a", "--legacy-namespace=b", debug}, debug), "");
    setenv("ESI_NAMESPACE", "a", 1);
    setenv("ESI_LEGACY_NAMESPACE", "b", 1);
    EXPECT_NE(parse_legacy({}), "");
    unsetenv("ESI_NAMESPACE");
    unsetenv("ESI_LEGACY_NAMESPACE");
}

}  // namespace
}  // namespace esi::controller
