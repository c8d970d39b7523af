#include "kubectl-esi/candidates.h"

#include <gtest/gtest.h>

#include <CLI/CLI.hpp>

namespace esi::kubectl::completion {
namespace {

class completions : public testing::Test {
protected:
    void SetUp() override { line.add_to(app); }
    question of(const std::vector<std::string>& words) { return ask(app, words); }
    std::string fixed(const std::vector<std::string>& words) {
        std::string out;
        for (const auto& each : of(words).fixed) out += (out.empty() ? "" : " ") + each.word;
        return out;
    }
    command_line line;
    CLI::App app{"", "kubectl esi"};
};

TEST_F(completions, commands_begin_with_what_is_typed) {
    EXPECT_EQ(fixed({"re"}), "release resume reset");
    EXPECT_EQ(fixed({"explain", ""}), "scheduling job pod");
    EXPECT_EQ(fixed({"-n", "lab", "que"}), "queue");
    EXPECT_EQ(fixed({"completion", ""}), "bash zsh fish kubectl");
}

TEST_F(completions, flags_are_those_of_the_command_and_the_general_ones) {
    EXPECT_EQ(fixed({"queue", "--fi"}), "--finished");
    EXPECT_EQ(fixed({"queue", "--no-h"}), "--no-headers");
    EXPECT_EQ(fixed({"export", "--format", ""}), "csv jsonl trace");
    EXPECT_EQ(fixed({"top", "-o", "j"}), "json");
    const auto joined = of({"top", "--output=j"});
    EXPECT_EQ(joined.before + joined.fixed.at(0).word, "--output=json");
}

TEST_F(completions, an_argument_is_the_name_of_an_object) {
    EXPECT_EQ(of({"top", ""}).names, named::testbeds);
    EXPECT_EQ(of({"top", "slots", ""}).names, named::nothing);
    EXPECT_EQ(of({"explain", "sched", ""}).names, named::schedulings) << "by its alias";
    EXPECT_EQ(of({"explain", "pod", "x"}).names, named::pods);
    EXPECT_EQ(of({"cancel", ""}).names, named::schedulings);
    EXPECT_EQ(of({"cancel", "nightly", ""}).names, named::jobs);
    EXPECT_EQ(of({"cancel", "nightly", "a", "b"}).names, named::jobs) << "of which there are many";
    EXPECT_EQ(of({"schedule", "-f", ""}).names, named::files);
    EXPECT_EQ(of({"--context", ""}).names, named::contexts);
}

TEST_F(completions, the_words_before_say_where_to_look) {
    const auto asked = of({"-n", "lab", "--context=c", "--kubeconfig", "f", "reset", "-A", "sp"});
    EXPECT_EQ(asked.flags.ns, "lab");
    EXPECT_EQ(asked.flags.context, "c");
    EXPECT_EQ(asked.flags.kubeconfig, "f");
    EXPECT_TRUE(asked.flags.all_namespaces);
    EXPECT_EQ(asked.prefix, "sp");
}

TEST_F(completions, of_a_list_of_nodes_the_last_one_is_completed) {
    const auto asked = of({"nodes", "slots", "--nodes", "a,no"});
    EXPECT_EQ(asked.names, named::nodes);
    EXPECT_EQ(answer_text(asked, {"node-1", "node-2", "x"}), "a,node-1\na,node-2\n:4\n");
}

TEST_F(completions, the_answer_ends_with_a_directive) {
    EXPECT_EQ(answer_text(of({"que"}), {}),
              "queue\tSchedulings in the order in which they go first, for each Testbed\n:4\n");
    EXPECT_EQ(answer_text(of({"schedule", "-f", ""}), {}), ":0\n") << "files";
}

/// Checks that each command and flag has a text, and each command an example.
void check_help(const CLI::App& at) {
    for (const auto* each : at.get_subcommands([](const CLI::App*) { return true; })) {
        EXPECT_FALSE(each->get_description().empty()) << each->get_name();
        EXPECT_NE(
            each->get_footer().find("kubectl esi " + (at.get_parent() ? at.get_name() + " " : "") +
                                    each->get_name()),
            std::string::npos)
            << each->get_name();
        for (const auto* option : each->get_options()) {
            EXPECT_FALSE(option->get_description().empty())
                << each->get_name() << " " << option->get_name();
        }
        check_help(*each);
    }
}

TEST_F(completions, every_command_has_an_example_and_every_flag_a_text) { check_help(app); }

}  // namespace
}  // namespace esi::kubectl::completion
