#include "model/packed.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <boost/pfr.hpp>
#include <random>

#include "model/cluster.h"
#include "model/names.h"

namespace esi::model {
namespace {

template <class T>
concept record = std::is_class_v<T> && std::is_aggregate_v<T>;

// A second opinion on each member of a record, including members that are added later.

bool equal(const auto& a, const auto& b);
bool equal(const record auto& a, const record auto& b) {
    bool out = true;
    boost::pfr::for_each_field(a, [&](const auto& member, auto nth) {
        out = out && equal(member, boost::pfr::get<decltype(nth)::value>(b));
    });
    return out;
}
bool equal(const auto& a, const auto& b) { return a == b; }

/// Gives members random values.
struct filler {
    std::mt19937 chance;
    /// One in this many stays at its default; 0: none.
    unsigned spare = 0;

    unsigned upto(unsigned n) { return static_cast<unsigned>(chance() % n); }

    void fill(std::string& into) {
        const char* const kinds[] = {"12345678-9abc-4def-8012-3456789abcde",
                                     "12345678-9ABC-4def-8012-3456789abcde",
                                     "12345678-9abc-4def-8012+3456789abcde",
                                     "999999999999999999",
                                     "1000000000000000000",
                                     "007",
                                     "0",
                                     "-1",
                                     "true",
                                     "cpu",
                                     "default-scheduler",
                                     "node.kubernetes.io/not-ready"};
        const auto kind = upto(20);
        if (kind < std::size(kinds)) {
            into = kinds[kind];
        } else {
            into.assign(1 + upto(kind == 19 ? 20'000 : 300), '\0');
            for (auto& each : into) each = static_cast<char>(chance());
        }
    }
    void fill(bool& into) { into = true; }
    void fill(std::int64_t& into) {
        const std::int64_t kinds[] = {1, -1, INT64_MAX, INT64_MIN, 1'500'000'000'000};
        into = kinds[upto(std::size(kinds))];
    }
    void fill(timestamp& into) {
        const char* const kinds[] = {"2026-11-24T02:30:00Z",   "2026-11-24T02:30:00.000001Z",
                                     "0000-01-01T00:00:00Z",   "9999-12-31T23:59:59.999999Z",
                                     "1969-12-31T23:59:59.5Z", "1970-01-01T00:00:00Z"};
        into = timestamp::parse(kinds[upto(std::size(kinds))]).value();
    }
    template <class T>
    void fill(std::optional<T>& into) {
        fill(into.emplace());
    }
    template <class T>
    void fill(std::vector<T>& into) {
        for (auto left = 1 + upto(4); left > 0; --left) fill(into.emplace_back());
    }
    template <class V, class C>
    void fill(std::map<std::string, V, C>& into) {
        for (auto left = 1 + upto(4); left > 0; --left) {
            std::string key;
            fill(key);
            fill(into[key]);
        }
    }
    void fill(record auto& into) {
        boost::pfr::for_each_field(into, [&](auto& member) {
            if (spare == 0 || upto(spare) != 0) fill(member);
        });
    }
};

pod round_trip(const pod& of) {
    pod out;
    unpack(pack(of), out);
    return out;
}

/// How many members are at their default, deep down in its records.
int count_defaults(const record auto& of) {
    int out = 0;
    boost::pfr::for_each_field(of, [&](const auto& member) {
        using type = std::remove_cvref_t<decltype(member)>;
        if constexpr (record<type> && !std::is_same_v<type, timestamp>) {
            out += count_defaults(member);
        } else {
            out += member == type() ? 1 : 0;
        }
    });
    return out;
}

TEST(packed, a_pod_comes_out_as_it_went_in_with_every_member_filled) {
    for (unsigned seed = 1; seed <= 200; ++seed) {
        pod full;
        filler{std::mt19937(seed)}.fill(full);
        ASSERT_EQ(count_defaults(full), 0) << "seed " << seed;
        EXPECT_TRUE(equal(round_trip(full), full)) << "seed " << seed;
    }
}

TEST(packed, and_with_any_of_them_at_their_default) {
    EXPECT_TRUE(equal(round_trip({}), pod()));
    for (unsigned seed = 1; seed <= 500; ++seed) {
        pod some;
        filler{std::mt19937(seed), 2 + seed % 3}.fill(some);
        EXPECT_TRUE(equal(round_trip(some), some)) << "seed " << seed;
    }
}

TEST(packed, each_member_makes_other_bytes) {
    const auto nothing = pack({});
    pod full;
    filler{std::mt19937(1)}.fill(full);
    boost::pfr::for_each_field(full, [&](const auto& member, auto nth) {
        pod one;
        boost::pfr::get<decltype(nth)::value>(one) = member;
        EXPECT_FALSE(pack(one) == nothing) << "member " << nth;
    });
}

TEST(packed, texts_of_every_length_come_out_whole) {
    for (const std::size_t length : {1u, 31u, 32u, 127u, 128u, 4095u, 4096u, 1u << 20}) {
        pod one;
        one.message = std::string(length, 'x');
        one.metadata.name = std::string(length, 'n');
        one.metadata.namespace_ = std::string(length, 's');
        one.metadata.labels[std::string(length, 'k')] = std::string(length, 'v');
        EXPECT_TRUE(equal(round_trip(one), one)) << length;
    }
}

TEST(packed, the_key_is_read_without_the_rest) {
    pod one;
    one.metadata.namespace_ = "team-a";
    one.metadata.name = "12";
    const auto bytes = pack(one);
    EXPECT_EQ(bytes.key(), key_view("team-a", "12"));
    EXPECT_EQ(packed().key(), key_view());
    EXPECT_EQ(packed().size(), 0U);
}

TEST(packed, equal_objects_have_equal_bytes) {
    pod one;
    filler{std::mt19937(7)}.fill(one);
    pod other = one;
    EXPECT_TRUE(pack(one) == pack(other));
    other.requests["cpu"] += 1;
    EXPECT_FALSE(pack(one) == pack(other));
}

TEST(packed, what_many_pods_have_in_common_takes_a_byte_or_two) {
    pod one;
    one.metadata.uid = "12345678-9abc-4def-8012-3456789abcde";
    one.metadata.labels[std::string(names::ghost)] = "true";
    one.phase = "Running";
    one.scheduler_name = "default-scheduler";
    EXPECT_LE(pack(one).size(), 32U);
}

TEST(packed, what_only_gangs_need_costs_other_pods_nothing) {
    pod one;
    one.metadata.uid = "12345678-9abc-4def-8012-3456789abcde";
    one.node_name = "n";
    one.phase = "Running";
    one.requests = {{"cpu", 100}};
    // Sizes, a byte of bits each for the pod and its metadata, and the members.
    EXPECT_EQ(pack(one).size(), 3U + 1U + 1U + 17U + 2U + 1U + 4U);
    one.host_ports = {{"TCP", "", 80}};
    EXPECT_GT(pack(one).size(), 29U);
}

}  // namespace
}  // namespace esi::model
