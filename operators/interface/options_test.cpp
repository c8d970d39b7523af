#include "interface/options.h"

#include <gtest/gtest.h>

#include <CLI/CLI.hpp>

#include "controller/process.h"

namespace esi::interface {
namespace {

TEST(interface_options, what_is_no_origin_is_refused) {
    const auto said = [](const std::string& origins) {
        CLI::App app;
        controller::process_options common;
        interface::options options;
        common.add_to(app, 8082);
        options.add_to(app);
        std::vector<std::string> flags{"--stomp-allowed-origins=" + origins};
        try {
            app.parse(flags);
        } catch (const CLI::ParseError& e) {
            return std::string(e.what());
        }
        return std::string();
    };
    for (const char* right : {"*", "http://page.example", "https://page.example:8443",
                              "http://a,http://b:1", "http://[::1]:80"}) {
        EXPECT_EQ(said(right), "") << right;
    }
    for (const char* wrong :
         {"evil", "http://", "ftp://a", "http://a/", "http://a/b", "http://u@a", "a:80", "null"}) {
        EXPECT_EQ(
            said(wrong).find(std::string("--stomp-allowed-origins: ") + wrong + " is no origin"),
            0U)
            << wrong << ": " << said(wrong);
    }
}

}  // namespace
}  // namespace esi::interface
