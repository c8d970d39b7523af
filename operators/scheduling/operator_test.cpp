#include "scheduling/operator.h"

#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <boost/asio/io_context.hpp>

#include "base/virtual_clock.h"
#include "controller/operator_life.h"
#include "kube/connection/no_server.h"

namespace esi::scheduling {
namespace {

TEST(scheduling_operator, counts_schedulings_only_where_it_leads) {
    asio::io_context loop;
    virtual_clock time;
    kube::no_server nobody;
    controller::metrics numbers;
    http::router routes;
    controller::process_options options;
    controller::operator_part* part = nullptr;
    controller::operator_life life(
        {loop.get_executor(),
         time,
         nobody,
         nullptr,
         numbers,
         routes,
         options,
         "esi-test",
         "a",
         "a",
         "h",
         {}},
        [&](controller::environment& in) {
            auto made = std::make_unique<scheduling_operator>(in, scheduling::options());
            part = made.get();
            return made;
        },
        [] {});
    EXPECT_FALSE(numbers.text().contains("esi_schedulings"));
    part->lead();
    EXPECT_TRUE(numbers.text().contains("esi_schedulings{state=\"AcquireState\"} 0\n"))
        << numbers.text();
}

TEST(scheduling_options, what_is_no_origin_is_refused) {
    const auto said = [](const std::string& origins) {
        CLI::App app;
        controller::process_options common;
        scheduling::options options;
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
}  // namespace esi::scheduling
