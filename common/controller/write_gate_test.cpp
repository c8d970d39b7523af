#include "controller/write_gate.h"

#include <gtest/gtest.h>

namespace esi::controller {
namespace {

const model::object_key root{"default", "batch"};

struct a_write_gate : testing::Test {
    a_write_gate() {
        gate.watch_kind("Pod", [this](std::string_view) { return pods; });
        gate.watch_kind("BatchJob", [this](std::string_view ns) -> std::optional<std::string> {
            if (ns == "elsewhere") return std::nullopt;
            return ns == "other" ? jobs_of_other : jobs;
        });
    }
    static model::object_meta at(std::string version, std::string ns = "default") {
        model::object_meta out;
        out.namespace_ = std::move(ns);
        out.resource_version = std::move(version);
        return out;
    }
    std::string pods = "100";
    std::string jobs = "100";
    std::string jobs_of_other = "100";
    write_gate gate;
};

TEST_F(a_write_gate, is_open_before_the_first_write) { EXPECT_TRUE(gate.caught_up(root)); }

TEST_F(a_write_gate, opens_when_the_cache_has_passed_the_write) {
    struct {
        const char* seen;
        bool open;
    } table[] = {{"", false}, {"99", false}, {"100", false}, {"101", true}, {"1000", true}};
    for (auto [seen, open] : table) {
        gate.wrote(root, "Pod", at("101"));
        pods = seen;
        EXPECT_EQ(gate.caught_up(root), open) << "cache at " << seen;
        gate.forget(root);
    }
}

TEST_F(a_write_gate, waits_for_every_kind) {
    gate.wrote(root, "Pod", at("101"));
    gate.wrote(root, "BatchJob", at("102"));
    pods = "105";
    EXPECT_FALSE(gate.caught_up(root));
    jobs = "102";
    EXPECT_TRUE(gate.caught_up(root));
}

TEST_F(a_write_gate, remembers_the_newest_write_of_a_kind) {
    gate.wrote(root, "Pod", at("110"));
    gate.wrote(root, "Pod", at("99"));
    pods = "109";
    EXPECT_FALSE(gate.caught_up(root));
    pods = "110";
    EXPECT_TRUE(gate.caught_up(root));
}

TEST_F(a_write_gate, other_roots_are_not_held_up) {
    gate.wrote(root, "Pod", at("101"));
    EXPECT_TRUE(gate.caught_up({"default", "other"}));
}

TEST_F(a_write_gate, a_kind_that_is_not_watched_holds_nothing_up) {
    gate.wrote(root, "Event", at("999"));
    EXPECT_TRUE(gate.caught_up(root));
}

TEST_F(a_write_gate, each_namespace_has_a_watch_of_its_own) {
    gate.wrote(root, "BatchJob", at("101", "other"));
    jobs = "200";
    EXPECT_FALSE(gate.caught_up(root)) << "what one watch has shown says nothing of the other";
    jobs_of_other = "101";
    EXPECT_TRUE(gate.caught_up(root));
}

TEST_F(a_write_gate, a_namespace_that_is_not_watched_holds_nothing_up) {
    gate.wrote(root, "BatchJob", at("999", "elsewhere"));
    EXPECT_TRUE(gate.caught_up(root));
}

TEST_F(a_write_gate, forget_opens_it) {
    gate.wrote(root, "Pod", at("101"));
    gate.forget(root);
    EXPECT_TRUE(gate.caught_up(root));
}

}  // namespace
}  // namespace esi::controller
