#include "interface/v1/access/shared_places.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "interface/v1/access/tenant.h"

namespace esi::interface::v1 {
namespace {

using held = std::vector<std::unique_ptr<shared_places::place>>;

std::string account(const std::string& ns, int number) {
    return fmt::format("system:serviceaccount:{}:a{}", ns, number);
}

/// How many of `count` it gets.
int take(shared_places& from, const std::string& caller, int count, held& into) {
    int got = 0;
    for (int i = 0; i < count; ++i) {
        auto place = from.take(caller);
        if (!place) continue;
        ++got;
        into.push_back(std::move(place));
    }
    return got;
}

long lost(const held& of) {
    return std::ranges::count_if(of, [](const auto& each) { return each->lost(); });
}

TEST(tenant, is_the_namespace_of_a_service_account_and_else_the_caller) {
    EXPECT_EQ(tenant_of("system:serviceaccount:evil:a"), "system:serviceaccount:evil");
    EXPECT_EQ(tenant_of("anna"), "anna");
    EXPECT_EQ(tenant_of("anna:b:c:d"), "anna:b:c:d");
    EXPECT_EQ(tenant_of("system:serviceaccount:x"), "system:serviceaccount:x");
    EXPECT_EQ(tenant_words("system:serviceaccount:evil:a"),
              "requests of the service accounts of the namespace \"evil\"");
    EXPECT_EQ(tenant_words("anna"), "requests of \"anna\"");
}

TEST(shared_places, ten_accounts_of_a_namespace_shut_out_no_other_tenant) {
    shared_places all({128, 512});
    held evil;
    int got = 0;
    for (int i = 0; i < 10; ++i) got += take(all, account("evil", i), 128, evil);
    EXPECT_EQ(got, 512) << "as long as nobody else asks a tenant may have all";
    held good;
    EXPECT_EQ(take(all, "anna", 128, good), 128) << "none of hers is refused";
    EXPECT_EQ(all.size(), 512);
    EXPECT_EQ(lost(evil), 128);
    EXPECT_EQ(take(all, account("evil", 9), 100, evil), 0) << "what is lost is not won back";
    EXPECT_EQ(lost(good), 0);
}

TEST(shared_places, tenants_that_take_all_they_can_come_to_have_the_same) {
    shared_places all({1000, 12});
    held a;
    held b;
    held c;
    EXPECT_EQ(take(all, "a", 20, a), 12);
    EXPECT_EQ(take(all, "b", 20, b), 6);
    EXPECT_EQ(take(all, "c", 20, c), 4);
    for (auto* each : {&a, &b, &c}) {
        EXPECT_EQ(static_cast<long>(each->size()) - lost(*each), 4);
        held more;
        EXPECT_EQ(take(all, each == &a ? "a" : each == &b ? "b" : "c", 20, more), 0);
    }
}

TEST(shared_places, the_newest_goes_of_the_caller_with_the_most) {
    shared_places all({3, 4});
    held quiet;
    held busy;
    EXPECT_EQ(take(all, account("n", 1), 1, quiet), 1);
    EXPECT_EQ(take(all, account("n", 2), 3, busy), 3);
    int told = 0;
    for (const auto& each : busy) each->when_lost([&] { ++told; });
    held other;
    EXPECT_EQ(take(all, "anna", 1, other), 1);
    EXPECT_EQ(told, 1);
    EXPECT_FALSE(quiet[0]->lost());
    EXPECT_FALSE(busy[0]->lost());
    EXPECT_FALSE(busy[1]->lost());
    EXPECT_TRUE(busy[2]->lost());
    EXPECT_EQ(all.lost(), 1);
}

TEST(shared_places, a_caller_has_a_bound_and_a_place_that_is_given_back_is_free) {
    shared_places all({2, 4});
    held own;
    EXPECT_EQ(take(all, "anna", 5, own), 2);
    own.pop_back();
    EXPECT_EQ(take(all, "anna", 5, own), 1);
    own.clear();
    EXPECT_EQ(all.size(), 0);
    shared_places none({0, 4});
    EXPECT_EQ(none.take("anna"), nullptr);
}

}  // namespace
}  // namespace esi::interface::v1
