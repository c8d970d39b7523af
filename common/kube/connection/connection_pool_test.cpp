#include "kube/connection/connection_pool.h"

#include <gtest/gtest.h>

namespace esi::kube {
namespace {

using kind = connection_pool::grant::kind;
using numbers = std::vector<connection_pool::number>;
using std::chrono::seconds;

steady_time at(int second) { return steady_time(seconds(second)); }

pool_limits bounds(std::size_t in_flight, std::size_t idle) {
    pool_limits out;
    out.in_flight = in_flight;
    out.idle = idle;
    out.idle_age = seconds(60);
    return out;
}

TEST(connection_pool, reuses_the_newest_idle_connection) {
    connection_pool pool(bounds(8, 8));
    const auto a = pool.acquire(at(0), at(10));
    const auto b = pool.acquire(at(0), at(10));
    EXPECT_EQ(a.what, kind::open);
    EXPECT_EQ(b.what, kind::open);
    EXPECT_NE(a.id, b.id);
    pool.release(a.id, true, at(1));
    pool.release(b.id, true, at(2));
    EXPECT_EQ(pool.acquire(at(3), at(10)), (connection_pool::grant{kind::reuse, b.id}));
    EXPECT_EQ(pool.acquire(at(3), at(10)), (connection_pool::grant{kind::reuse, a.id}));
    EXPECT_EQ(pool.acquire(at(3), at(10)).what, kind::open);
    EXPECT_EQ(pool.take_closed(), numbers());
}

TEST(connection_pool, closes_what_was_idle_too_long) {
    connection_pool pool(bounds(8, 8));
    const auto a = pool.acquire(at(0), at(10));
    const auto b = pool.acquire(at(0), at(10));
    pool.release(a.id, true, at(0));
    pool.release(b.id, true, at(30));
    EXPECT_EQ(pool.acquire(at(60), at(99)), (connection_pool::grant{kind::reuse, b.id}));
    EXPECT_EQ(pool.take_closed(), numbers({a.id}));
    EXPECT_EQ(pool.idle(), 0u);
}

TEST(connection_pool, keeps_at_most_so_many_idle) {
    connection_pool pool(bounds(8, 1));
    const auto a = pool.acquire(at(0), at(10));
    const auto b = pool.acquire(at(0), at(10));
    pool.release(a.id, true, at(1));
    pool.release(b.id, true, at(1));
    EXPECT_EQ(pool.take_closed(), numbers({a.id}));
    EXPECT_EQ(pool.idle(), 1u);
}

TEST(connection_pool, a_broken_connection_is_closed) {
    connection_pool pool(bounds(8, 8));
    const auto a = pool.acquire(at(0), at(10));
    pool.release(a.id, false, at(1));
    EXPECT_EQ(pool.take_closed(), numbers({a.id}));
    pool.release(a.id, true, at(1));
    EXPECT_EQ(pool.take_closed(), numbers());
    EXPECT_EQ(pool.idle(), 0u);
}

TEST(connection_pool, waiters_go_on_in_order) {
    connection_pool pool(bounds(1, 8));
    const auto a = pool.acquire(at(0), at(10));
    const auto first = pool.acquire(at(0), at(10));
    const auto second = pool.acquire(at(0), at(10));
    EXPECT_EQ(first.what, kind::wait);
    EXPECT_EQ(pool.redeem(second.id, at(1)).what, kind::wait);
    EXPECT_FALSE(pool.take_wake());
    pool.release(a.id, true, at(1));
    EXPECT_TRUE(pool.take_wake());
    EXPECT_EQ(pool.redeem(second.id, at(1)).what, kind::wait);
    EXPECT_EQ(pool.redeem(first.id, at(1)), (connection_pool::grant{kind::reuse, a.id}));
    pool.release(a.id, false, at(2));
    EXPECT_EQ(pool.redeem(second.id, at(2)).what, kind::open);
    EXPECT_EQ(pool.waiting(), 0u);
}

TEST(connection_pool, a_newcomer_does_not_overtake_a_waiter) {
    connection_pool pool(bounds(1, 8));
    const auto a = pool.acquire(at(0), at(10));
    const auto first = pool.acquire(at(0), at(10));
    pool.detach(a.id, at(1));
    EXPECT_EQ(pool.in_flight(), 1u) << "granted to the waiter";
    EXPECT_EQ(pool.acquire(at(1), at(10)).what, kind::wait);
    EXPECT_EQ(pool.redeem(first.id, at(1)).what, kind::open);
}

TEST(connection_pool, a_waiter_expires) {
    connection_pool pool(bounds(1, 8));
    const auto a = pool.acquire(at(0), at(10));
    const auto first = pool.acquire(at(0), at(5));
    const auto second = pool.acquire(at(0), at(10));
    pool.release(a.id, true, at(6));
    EXPECT_EQ(pool.redeem(second.id, at(6)), (connection_pool::grant{kind::reuse, a.id}));
    EXPECT_EQ(pool.redeem(first.id, at(6)).what, kind::expired);
    EXPECT_EQ(pool.redeem(first.id, at(6)).what, kind::expired);
}

TEST(connection_pool, what_was_granted_to_one_who_left_goes_to_the_next) {
    for (const bool keep : {true, false}) {
        connection_pool pool(bounds(1, 8));
        const auto a = pool.acquire(at(0), at(10));
        const auto first = pool.acquire(at(0), at(10));
        const auto second = pool.acquire(at(0), at(10));
        pool.release(a.id, keep, at(1));
        pool.abandon(first.id, at(1));
        EXPECT_EQ(pool.redeem(second.id, at(1)).what, keep ? kind::reuse : kind::open);
        EXPECT_EQ(pool.in_flight(), 1u);
        pool.abandon(second.id, at(1));
        EXPECT_EQ(pool.in_flight(), 1u);
    }
}

TEST(connection_pool, a_stream_takes_its_connection_out) {
    connection_pool pool(bounds(1, 8));
    const auto a = pool.acquire(at(0), at(10));
    pool.detach(a.id, at(0));
    EXPECT_EQ(pool.in_flight(), 0u);
    pool.release(a.id, true, at(0));
    EXPECT_EQ(pool.idle(), 0u);
    EXPECT_EQ(pool.take_closed(), numbers());
}

TEST(connection_pool, drain_closes_idle_ones_now_and_busy_ones_later) {
    connection_pool pool(bounds(8, 8));
    const auto a = pool.acquire(at(0), at(10));
    const auto b = pool.acquire(at(0), at(10));
    pool.release(a.id, true, at(0));
    pool.drain();
    EXPECT_EQ(pool.take_closed(), numbers({a.id}));
    pool.release(b.id, true, at(1));
    EXPECT_EQ(pool.take_closed(), numbers({b.id}));
    const auto c = pool.acquire(at(1), at(10));
    EXPECT_EQ(c.what, kind::open);
    pool.release(c.id, true, at(1));
    EXPECT_EQ(pool.idle(), 1u);
}

}  // namespace
}  // namespace esi::kube
