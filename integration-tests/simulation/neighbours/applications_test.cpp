#include "neighbours/applications.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "neighbours/small_town.h"

namespace esi::simulation {
namespace {

TEST(applications, each_kind_is_run_by_the_neighbours_that_the_table_names) {
    for (const auto& kind : application_kinds()) {
        SCOPED_TRACE(kind.name);
        small_town town;
        const auto runner = run_applications(kind, town.around, town.nodes, json::object());
        std::vector<std::string> names;
        for (const auto& one : runner.neighbours) names.emplace_back(one->name());
        EXPECT_THAT(names, ::testing::UnorderedElementsAreArray(kind.neighbours));
        EXPECT_EQ(static_cast<bool>(runner.cancel), kind.cancellable);
    }
}

TEST(applications, a_kind_without_a_neighbour_is_refused) {
    small_town town;
    auto kind = application_kinds().front();
    kind.name = "ray";
    EXPECT_THROW(run_applications(kind, town.around, town.nodes, json::object()), std::logic_error);
}

}  // namespace
}  // namespace esi::simulation
