#include "scheduling/operator.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace esi::scheduling
