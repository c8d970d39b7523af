#include "controller/finalizers.h"

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include "base/virtual_clock.h"
#include "kube/testing/scripted_transport.h"

namespace esi::controller {
namespace {

using strings = std::vector<std::string>;

struct all_finalizers_of : testing::Test {
    all_finalizers_of() {
        meta.name = "s";
        meta.namespace_ = "lab";
        meta.resource_version = "7";
        meta.finalizers = {"esi.tu-berlin.de/release"};
    }
    result<strings> ask() {
        result<strings> out = fail(errc::server, "not answered");
        asio::co_spawn(loop, all_finalizers(api, kube::types::scheduling, meta),
                       [&](std::exception_ptr, result<strings> found) { out = std::move(found); });
        run_for(loop, time, std::chrono::seconds(0));
        return out;
    }
    void answers(const std::string& version) {
        kube::response shown;
        shown.status = 200;
        shown.body = R"({"metadata":{"resourceVersion":")" + version +
                     R"(","finalizers":["a/b","esi.tu-berlin.de/release"]}})";
        wire.answers.push_back(std::move(shown));
    }

    asio::io_context loop;
    virtual_clock time;
    kube::scripted_transport wire{loop.get_executor(), time};
    kube::client api{wire, time};
    model::object_meta meta;
};

TEST_F(all_finalizers_of, an_object_that_was_read_whole_are_those_that_were_read) {
    EXPECT_EQ(ask().value(), meta.finalizers);
    EXPECT_TRUE(wire.asked.empty());
}

TEST_F(all_finalizers_of, an_object_that_could_not_be_read_are_read_live) {
    meta.undecodable = ".metadata.finalizers: has 101 entries";
    answers("7");
    EXPECT_EQ(ask().value(), (strings{"a/b", "esi.tu-berlin.de/release"}));
    answers("8");
    EXPECT_EQ(ask().error().code, errc::conflict) << "what was decided is out of date";
}

}  // namespace
}  // namespace esi::controller
