#include "kube/watch/live_list.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <optional>

#include "base/virtual_clock.h"
#include "kube/testing/scripted_transport.h"
#include "model/batchjob.h"

namespace esi::kube {
namespace {

using trimmed = std::vector<model::batchjob>;

class paged_lists : public testing::Test {
protected:
    /// Objects j0, j1, ... of that size each, from the one that `continue` names.
    static response page(const request& what, int count, std::size_t bytes) {
        const auto number_behind = [&](std::string_view word, int otherwise) {
            const auto at = what.target.find(word);
            return at == std::string::npos ? otherwise
                                           : std::stoi(what.target.substr(at + word.size()));
        };
        const int begin = number_behind("continue=", 0);
        const int end = std::min(count, begin + number_behind("limit=", count));
        response out;
        out.status = 200;
        out.body = R"({"items":[)";
        for (int i = begin; i < end; ++i) {
            out.body += fmt::format(
                R"({}{{"metadata":{{"name":"j{}","uid":"u"}},"spec":{{"sparkSpec":{{"x":"{}"}}}}}})",
                i > begin ? "," : "", i, std::string(bytes, 'x'));
        }
        out.body += end < count ? fmt::format(R"(],"metadata":{{"continue":"{}"}}}})", end) : "]}";
        return out;
    }
    result<trimmed> list(int count, std::size_t bytes) {
        wire.respond = [=](const request& what) { return page(what, count, bytes); };
        std::optional<result<trimmed>> out;
        const auto trim = [](model::batchjob& of) { of.spec.spark_spec.reset(); };
        asio::co_spawn(loop, paged_list<model::batchjob>(api, types::batchjob, "lab", {}, trim),
                       [&](std::exception_ptr failed, result<trimmed> got) {
                           if (failed) std::rethrow_exception(failed);
                           out.emplace(std::move(got));
                       });
        run_until(loop, time, [&] { return out.has_value(); });
        return std::move(*out);
    }

    asio::io_context loop;
    virtual_clock time;
    scripted_transport wire{loop.get_executor(), time};
    client api{wire, time};
};

TEST_F(paged_lists, have_all_objects_without_what_nobody_needs) {
    const auto all = list(1100, 10);
    ASSERT_TRUE(all) << all.error().text;
    ASSERT_EQ(all->size(), 1100u);
    for (int i = 0; i < 1100; ++i) {
        const auto& one = (*all)[static_cast<std::size_t>(i)];
        EXPECT_EQ(one.metadata.name, fmt::format("j{}", i));
        EXPECT_FALSE(one.spec.spark_spec);
    }
    ASSERT_EQ(wire.asked.size(), 3u);
    EXPECT_TRUE(wire.asked[2].ends_with("/namespaces/lab/batchjobs?limit=500&continue=1000"))
        << wire.asked[2];
}

TEST_F(paged_lists, of_large_objects_come_in_smaller_pages) {
    const auto all = list(40, 1'250'000);
    ASSERT_TRUE(all) << all.error().text;
    EXPECT_EQ(all->size(), 40u);
    EXPECT_TRUE(wire.asked.back().contains("limit=7")) << wire.asked.back();
}

TEST_F(paged_lists, end_where_one_object_is_too_large) {
    const auto all = list(2, most_bytes_of_page);
    ASSERT_FALSE(all);
    EXPECT_EQ(all.error().code, errc::answer_too_large);
    EXPECT_EQ(wire.asked.size(), 4u);
}

}  // namespace
}  // namespace esi::kube
