#include "model/application_kinds.h"

#include <gtest/gtest.h>

#include "model/json.h"
#include "model/kept.h"

namespace esi::model {
namespace {

TEST(application_kinds, have_the_member_of_the_spec_that_is_read_under_their_field) {
    for (const auto& kind : application_kinds) {
        const auto read = decode<batchjob>(R"({"metadata":{"name":"j"},"spec":{")" +
                                               std::string(kind.spec_field) + R"(":{"a":1}}})",
                                           "BatchJob");
        ASSERT_TRUE(read);
        ASSERT_TRUE(read->spec.*kind.spec) << kind.spec_field;
        EXPECT_EQ(kind_of(read->spec), &kind);
    }
    EXPECT_EQ(kind_of({}), nullptr);
}

TEST(application_kinds, stay_known_when_the_text_is_dropped) {
    for (const auto& kind : application_kinds) {
        batchjob job;
        job.spec.*kind.spec = raw_json{R"({"a":1})"};
        drop_application_specs(job);
        EXPECT_EQ(kind_of(job.spec), &kind);
        EXPECT_EQ((job.spec.*kind.spec)->text.empty(), kind.large) << kind.spec_field;
        leave_out_content(job);
        EXPECT_EQ(kind_of(job.spec), &kind);
    }
}

}  // namespace
}  // namespace esi::model
