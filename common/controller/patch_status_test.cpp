#include "controller/patch_status.h"

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>

#include "base/virtual_clock.h"
#include "kube/testing/scripted_transport.h"

namespace esi::controller {
namespace {

using json = nlohmann::json;

/// Room is for so many problems; the smallest form has none.
model::scheduling_status fit(model::scheduling_status wanted, std::size_t room) {
    if (room == 0) wanted.problems.clear();
    while (room > 0 && wanted.problems.size() > room) wanted.problems.pop_back();
    return wanted;
}

struct writing_a_status : testing::Test {
    writing_a_status() {
        model::scheduling of;
        of.metadata.namespace_ = "ns";
        of.metadata.name = "s";
        of.metadata.uid = "uid-s";
        of.metadata.resource_version = "7";
        shown = std::make_shared<const model::scheduling>(std::move(of));
    }
    void will_answer(int code, const std::string& reason, const std::string& message) {
        kube::response out;
        out.status = code;
        out.body =
            json{{"kind", "Status"},
                 {"code", code},
                 {"reason", reason},
                 {"message", message},
                 {"metadata",
                  {{"namespace", "ns"}, {"name", "s"}, {"uid", "uid-s"}, {"resourceVersion", "8"}}}}
                .dump();
        wire.answers.emplace_back(std::move(out));
    }
    result<bool> write(model::scheduling_status wanted, std::size_t room = 2) {
        std::optional<result<bool>> out;
        const auto task = [&]() -> asio::awaitable<void> {
            auto written = co_await patch_status<model::scheduling>(
                {api, kube::types::scheduling, gate, fit}, shown, wanted, room);
            if (written) {
                out = written->has_value();
            } else {
                out = std::unexpected(written.error());
            }
        };
        asio::co_spawn(loop, task(), asio::detached);
        EXPECT_TRUE(run_until(loop, time, [&] { return out.has_value(); }));
        return out.value_or(fail(errc::timeout, "no answer"));
    }
    json sent(std::size_t i) const { return json::parse(wire.bodies.at(i))["status"]; }
    static model::scheduling_status three_problems() {
        model::scheduling_status out;
        out.state = "Error";
        out.problems = {"a", "b", "c"};
        return out;
    }

    asio::io_context loop;
    virtual_clock time;
    kube::scripted_transport wire{loop.get_executor(), time};
    kube::client api{wire, time};
    write_gate gate;
    std::shared_ptr<const model::scheduling> shown;
};

TEST_F(writing_a_status, it_is_made_to_fit_before_it_is_sent) {
    will_answer(200, "", "");
    EXPECT_TRUE(*write(three_problems()));
    ASSERT_EQ(wire.bodies.size(), 1u);
    EXPECT_EQ(sent(0)["problems"], (json{"a", "b"}));
}

TEST_F(writing_a_status, one_that_is_refused_is_written_in_its_smallest_form) {
    const struct {
        int code;
        const char* reason;
        const char* message;
    } refusals[] = {
        {422, "Invalid", "status.problems: Too many: 4173: must have at most 1024 items"},
        {413, "RequestEntityTooLarge", "limit is 3145728"},
        {500, "", "etcdserver: request is too large"},
    };
    for (const auto& [code, reason, message] : refusals) {
        wire.bodies.clear();
        will_answer(code, reason, message);
        will_answer(200, "", "");
        EXPECT_TRUE(*write(three_problems())) << message;
        ASSERT_EQ(wire.bodies.size(), 2u) << message;
        EXPECT_FALSE(sent(1).contains("problems"));
        EXPECT_EQ(sent(1)["state"], "Error");
        EXPECT_EQ(json::parse(wire.bodies[1])["metadata"]["resourceVersion"], "7") << "guarded";
    }
}

TEST_F(writing_a_status, a_smallest_form_that_says_nothing_new_is_not_sent) {
    auto before = *shown;
    before.status.state = "Error";
    shown = std::make_shared<const model::scheduling>(before);
    will_answer(422, "Invalid", "too many");
    EXPECT_FALSE(*write(three_problems()));
    EXPECT_EQ(wire.bodies.size(), 1u) << "so there is no watch event, and nothing is tried again";
}

TEST_F(writing_a_status, other_errors_and_a_smallest_form_that_is_refused_are_told) {
    will_answer(409, "Conflict", "the object has been modified");
    EXPECT_EQ(write(three_problems()).error().code, errc::conflict);
    EXPECT_EQ(wire.bodies.size(), 1u);
    will_answer(422, "Invalid", "too many");
    will_answer(422, "Invalid", "still");
    EXPECT_EQ(write(three_problems()).error().code, errc::invalid);
    EXPECT_EQ(wire.bodies.size(), 3u);
}

TEST(room_for_a_status, is_what_the_rest_of_the_object_leaves_and_never_nothing) {
    model::batchjob job;
    const auto alone = room_for_status(job);
    EXPECT_LE(alone, most_object_bytes);
    EXPECT_GT(alone, most_object_bytes - 1024);
    job.spec.spark_spec = model::raw_json{std::string(1'000'000, ' ')};
    EXPECT_NEAR(static_cast<double>(room_for_status(job)), static_cast<double>(alone) - 1e6, 100);
    job.metadata.annotations["a"] = std::string(250'000, 'x');
    EXPECT_EQ(room_for_status(job), least_status_bytes);
    job.spec.spark_spec->text.resize(3'000'000);
    EXPECT_EQ(room_for_status(job), least_status_bytes);
}

}  // namespace
}  // namespace esi::controller
