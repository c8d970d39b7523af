#include "conformance/run_script.h"

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "base/source_folder.h"
#include "conformance/model_wire.h"

namespace esi::simulation {
namespace {

json answers_to(const script& what) {
    asio::io_context loop;
    system_clock time;
    model_wire wire(source_folder() + "/crds");
    conformance_options options;
    options.ns = "default";
    options.root = source_folder();
    options.patience = std::chrono::milliseconds(1);
    json out;
    std::exception_ptr failed;
    asio::co_spawn(loop, run_script(what, wire, time, options),
                   [&](std::exception_ptr error, json answers) {
                       failed = error;
                       out = std::move(answers);
                   });
    loop.run();
    if (failed) std::rethrow_exception(failed);
    return out;
}

/// A file of the test that runs, which goes with it: tests run side by side.
struct text_file {
    explicit text_file(const std::string& text)
        : path(std::filesystem::temp_directory_path() /
               (std::string("esi-") +
                testing::UnitTest::GetInstance()->current_test_info()->name())) {
        std::ofstream(path) << text;
    }
    text_file(const text_file&) = delete;
    text_file& operator=(const text_file&) = delete;
    ~text_file() { std::filesystem::remove(path); }
    std::filesystem::path path;
};

script written(const std::string& text) {
    const text_file file(text);
    return read_script(file.path.string());
}

TEST(run_script, later_requests_use_values_of_earlier_answers) {
    const auto shown = answers_to(written(R"(
steps:
- do: POST /api/v1/namespaces
  body: {apiVersion: v1, kind: Namespace, metadata: {name: "{ns}-a"}}
  as: made
  show: code
- do: DELETE /api/v1/namespaces/{made.metadata.name}
  body: {apiVersion: v1, kind: DeleteOptions, preconditions: {uid: other}}
  show: code
- do: PATCH /api/v1/namespaces/{ns}-a
  body: {metadata: {uid: "{made.metadata.uid}", labels: {a: b}}}
  pick: [metadata.labels.a]
)"));
    ASSERT_EQ(shown.size(), 3U);
    EXPECT_EQ(shown[0]["code"], 201);
    EXPECT_EQ(shown[1]["reason"], "Conflict");
    EXPECT_EQ(shown[2]["object"], json({{"metadata.labels.a", "b"}}));
}

TEST(run_script, events_of_a_watch_are_shown_where_they_are_read) {
    const auto shown = answers_to(written(R"(
steps:
- watch: /api/v1/namespaces?watch=true&fieldSelector=metadata.name%3Da
  as: w
- do: POST /api/v1/namespaces
  body: {apiVersion: v1, kind: Namespace, metadata: {name: a}}
  show: code
- {read: w, events: 1, pick: [metadata.name]}
)"));
    ASSERT_EQ(shown.size(), 2U);
    EXPECT_EQ(shown[1]["events"],
              json::parse(R"([{"type": "ADDED", "object": {"metadata.name": "a"}}])"));
}

TEST(run_script, an_unknown_value_or_member_ends_it) {
    EXPECT_THROW(
        answers_to(written("steps: [{do: 'GET /api/v1/namespaces/{nobody.metadata.name}'}]")),
        std::runtime_error);
    EXPECT_THROW(written("steps: [{odd: 1}]"), std::runtime_error);
}

}  // namespace
}  // namespace esi::simulation
