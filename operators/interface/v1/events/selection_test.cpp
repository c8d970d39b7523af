#include "interface/v1/events/selection.h"

#include <gtest/gtest.h>

namespace esi::interface::v1::events {
namespace {

using kinds = std::vector<kind>;

http::server_request asked(std::vector<std::pair<std::string, std::string>> query,
                           const std::string& accept = "") {
    http::server_request out;
    out.query = std::move(query);
    if (!accept.empty()) out.headers = {{"accept", accept}};
    return out;
}

TEST(a_selection, without_a_query_is_all) {
    const auto out = select(asked({}));
    ASSERT_TRUE(out);
    EXPECT_EQ(out->kinds, (kinds{kind::testbed, kind::batchjob, kind::scheduling}));
    EXPECT_FALSE(out->kinds_asked);
    EXPECT_EQ(out->ns, "");
    EXPECT_EQ(out->last_id, "");
    EXPECT_EQ(out->how, form::sse);
}

TEST(a_selection, names_kinds_once_each) {
    const auto out = select(asked({{"kinds", "schedulings,jobs,jobs"}, {"namespace", "n"}}));
    ASSERT_TRUE(out);
    EXPECT_EQ(out->kinds, (kinds{kind::batchjob, kind::scheduling}));
    EXPECT_TRUE(out->kinds_asked);
    EXPECT_EQ(out->ns, "n");
}

TEST(a_selection, has_the_namespace_and_the_last_id_of_its_request) {
    auto from = asked({{"lastEventId", "a"}});
    from.variables["namespace"] = "n";
    EXPECT_EQ(select(from)->ns, "n");
    EXPECT_EQ(select(from)->last_id, "a");
    from.headers = {{"last-event-id", "b"}};
    EXPECT_EQ(select(from)->last_id, "b");
}

TEST(a_selection, reads_labels) {
    const auto out = select(asked({{"labelSelector", "a=b,!c"}}));
    ASSERT_TRUE(out);
    EXPECT_TRUE(out->labels.matches({{"a", "b"}}));
    EXPECT_FALSE(out->labels.matches({{"a", "b"}, {"c", ""}}));
    EXPECT_FALSE(select(asked({{"labelSelector", "a=b=c"}})));
}

TEST(a_selection, is_refused_with_all_its_faults) {
    auto from =
        asked({{"kinds", "pods,,jobs"}, {"kinds", "jobs"}, {"limit", "1"}, {"namespace", "m"}});
    from.variables["namespace"] = "n";
    const auto out = select(from);
    ASSERT_FALSE(out);
    EXPECT_EQ(out.error().status, 400);
    std::vector<std::string> seen;
    for (const auto& each : out.error().errors) seen.push_back(each.pointer + " " + each.code);
    EXPECT_EQ(seen, (std::vector<std::string>{"?kinds ParameterTwice", "?kinds ParameterValue",
                                              "?kinds ParameterValue", "?limit ParameterUnknown",
                                              "?namespace ParameterUnknown"}));
}

TEST(a_selection, takes_the_form_that_is_accepted) {
    const struct {
        const char* accept;
        std::optional<form> how;
    } table[] = {
        {"text/event-stream", form::sse},
        {"*/*", form::sse},
        {"Text/Event-Stream;charset=utf-8", form::sse},
        {"application/x-ndjson", form::ndjson},
        {"application/json, application/x-ndjson;q=0.5, */*;q=0.1", form::ndjson},
        {"application/x-ndjson;q=0, text/*", form::sse},
        {"application/x-ndjson; q=0.0", std::nullopt},
        {"application/json", std::nullopt},
        {"text/html,,", std::nullopt},
    };
    for (const auto& row : table) {
        const auto out = select(asked({}, row.accept));
        if (row.how) {
            ASSERT_TRUE(out) << row.accept;
            EXPECT_EQ(out->how, *row.how) << row.accept;
        } else {
            ASSERT_FALSE(out) << row.accept;
            EXPECT_EQ(out.error().status, 406) << row.accept;
        }
    }
}

}  // namespace
}  // namespace esi::interface::v1::events
