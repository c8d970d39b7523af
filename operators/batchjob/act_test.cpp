// The write of a status against an API server that refuses it.
#include "batchjob/act.h"

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include "base/virtual_clock.h"
#include "batchjob/testing.h"
#include "kube/testing/scripted_transport.h"

namespace esi::batchjob {
namespace {

struct writing : ::testing::Test {
    /// Answers a write with the object as it would be, or refuses a body above `most_bytes`.
    writing() {
        wire.respond = [this](const kube::request& what) -> result<kube::response> {
            kube::response out;
            out.status = what.body.size() > most_bytes ? 500 : 200;
            if (out.status == 500) {
                out.body = R"({"kind":"Status","code":500,)"
                           R"("message":"etcdserver: request is too large"})";
                return out;
            }
            auto object = stored;
            object.merge_patch(json::parse(what.body));
            stored = object;
            out.body = object.dump();
            return out;
        };
    }
    result<void> write(view& seen, model::batchjob_status wanted) {
        std::optional<result<void>> out;
        asio::co_spawn(loop, actor_.write_status(seen, std::move(wanted)),
                       [&](std::exception_ptr failed, result<void> done) {
                           EXPECT_FALSE(failed);
                           out = std::move(done);
                       });
        EXPECT_TRUE(run_until(loop, time, [&] { return out.has_value(); }));
        return out.value_or(fail(errc::transport, "no answer"));
    }

    std::size_t most_bytes = 4000;
    json stored{
        {"metadata",
         {{"namespace", "jobs"}, {"name", "a"}, {"uid", "job-uid"}, {"resourceVersion", "7"}}}};
    asio::io_context loop;
    virtual_clock time;
    kube::scripted_transport wire{loop.get_executor(), time};
    kube::client api{wire, time};
    controller::event_recorder events{api, time, "esi-batchjob", "test"};
    controller::metrics counted;
    http::router routes;
    controller::process_options flags;
    controller::environment env{
        loop.get_executor(), time, api, events, counted, routes, flags, api, "test"};
    application_kinds kinds = known_kinds();
    caches caches_{env, kinds, {}};
    hints known;
    controller::write_gate gate;
    job_numbers numbers{counted};
    actor actor_{env, caches_, known, gate, numbers};
};

TEST_F(writing, the_end_of_a_run_gets_through_where_the_whole_status_is_too_large) {
    testing::world w;
    w.running();
    const auto before = w.look();
    stored["status"] = model::encode(before.job->status);
    w.app = testing::make_app("FAILED");
    w.app->message = std::string(4000, 'x');
    w.app->ended = testing::stamp(41);
    w.step(50);
    auto seen = before;
    ASSERT_GT(model::encode(w.job->status).dump().size(), most_bytes);
    ASSERT_TRUE(write(seen, w.job->status));
    EXPECT_EQ(wire.bodies.size(), 2u);
    EXPECT_EQ(seen.job->status.state, "FailedState");
    EXPECT_EQ(seen.job->status.runs.back().outcome, "Failed");
    EXPECT_EQ(seen.job->status.runs.back().reason, "ApplicationFailed");
    EXPECT_EQ(seen.job->status.placements, w.job->status.placements);
    EXPECT_EQ(seen.job->status.application, w.job->status.application);
    // The next reconcile wants the same status, is refused once, and writes nothing.
    ASSERT_TRUE(write(seen, w.job->status));
    EXPECT_EQ(wire.bodies.size(), 3u);
}

}  // namespace
}  // namespace esi::batchjob
