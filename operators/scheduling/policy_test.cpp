#include "scheduling/plan.h"
#include "scheduling/testing.h"

#include <gtest/gtest.h>

#include "scheduling/wait_graph.h"

namespace esi::scheduling {
namespace {

using model::object_key;

object_key job(std::string name) { return {"ns", std::move(name)}; }

std::set<object_key> jobs(std::vector<const char*> names) {
    std::set<object_key> out;
    for (const auto* name : names) out.insert(job(name));
    return out;
}

model::scheduling queue_of(std::vector<const char*> entries) {
    model::scheduling out;
    out.metadata.namespace_ = "ns";
    out.metadata.name = "s";
    out.spec.testbed.name = "t";
    out.spec.queue_based.emplace();
    for (const auto* entry : entries) out.spec.queue_based->push_back({"", entry});
    return out;
}

model::scheduling slots_of(std::string mode,
                           std::vector<std::pair<std::string, std::vector<int>>> of) {
    model::scheduling out;
    out.metadata.namespace_ = "ns";
    out.spec.slot_based.emplace();
    out.spec.slot_based->mode = std::move(mode);
    for (auto& [name, ids] : of) out.spec.slot_based->jobs.push_back({{"", name}, ids});
    return out;
}

next_starts plan_next(const plan& of, const std::set<object_key>& startable,
                      const std::set<object_key>& started, const std::set<int>& free) {
    return of.chosen->next(of, {startable, started}, free_slots(free));
}

/// "a:0,2 b:1,3"
std::string show(const next_starts& next) {
    std::string out;
    for (const auto& start : next.starts) {
        if (!out.empty()) out += " ";
        out += start.job.name + ":";
        for (std::size_t i = 0; i < start.slot_ids.size(); ++i) {
            out += (i ? "," : "") + std::to_string(start.slot_ids[i]);
        }
    }
    return out;
}

struct queue_case {
    const char* name;
    std::vector<const char*> entries;
    std::vector<const char*> startable;
    std::set<int> free;
    const char* starts;
};

class queue_planner : public testing::TestWithParam<queue_case> {};

TEST_P(queue_planner, gives_the_entry_at_place_i_the_i_th_free_slot) {
    const auto& c = GetParam();
    EXPECT_EQ(show(plan_next(plan_of(queue_of(c.entries)), jobs(c.startable), {}, c.free)),
              c.starts);
}

INSTANTIATE_TEST_SUITE_P(
    orders, queue_planner,
    testing::Values(
        queue_case{
            "interleaved", {"a", "b", "a", "b"}, {"a", "b"}, {0, 1, 2, 3, 4, 5}, "a:0,2 b:1,3"},
        queue_case{"only_the_first", {"a", "b", "a", "b"}, {"a", "b"}, {0, 1, 2}, "a:0,2"},
        queue_case{"one_too_few_for_the_first", {"a", "b", "a"}, {"a", "b"}, {0, 1}, ""},
        queue_case{"a_later_one_never_overtakes", {"a", "a", "b"}, {"a", "b"}, {4}, ""},
        queue_case{"gaps_in_the_free_list", {"a", "b", "b"}, {"a", "b"}, {1, 4, 5}, "a:1 b:4,5"},
        queue_case{"entries_of_started_jobs_are_not_in_the_remaining_queue",
                   {"a", "b", "a", "b"},
                   {"b"},
                   {1, 5},
                   "b:1,5"},
        queue_case{
            "what_is_not_acquired_holds_up_nobody", {"x", "b", "c"}, {"b", "c"}, {0, 1}, "b:0 c:1"},
        queue_case{"several_in_one_pass",
                   {"a", "b", "c", "d"},
                   {"a", "b", "c", "d"},
                   {0, 1, 2},
                   "a:0 b:1 c:2"},
        queue_case{"no_free_slot", {"a"}, {"a"}, {}, ""}, queue_case{"empty", {}, {}, {0}, ""}),
    [](const auto& param) { return std::string(param.param.name); });

TEST(slot_planner, strict_and_relaxed_differ_in_one_fixed_input) {
    std::vector<std::pair<std::string, std::vector<int>>> input{
        {"a", {0}}, {"b", {1}}, {"c", {0}}, {"d", {1}}};
    auto all = jobs({"a", "b", "c", "d"});
    for (std::string mode : {"strict", "relaxed"}) {
        auto first = plan_next(plan_of(slots_of(mode, input)), all, {}, {0, 1});
        EXPECT_EQ(show(first), "a:0 b:1") << mode;
    }
    // b ends first: slot 1 is free, slot 0 is not.
    auto strict =
        plan_next(plan_of(slots_of("strict", input)), jobs({"c", "d"}), jobs({"a", "b"}), {1});
    EXPECT_EQ(show(strict), "");
    ASSERT_EQ(strict.waits.size(), 2u);
    EXPECT_EQ(strict.waits[0].why, slot_blocker::kind::slots_taken);
    EXPECT_EQ(strict.waits[0].slots, std::vector<int>{0});
    EXPECT_EQ(strict.waits[1].why, slot_blocker::kind::job_before);
    EXPECT_EQ(strict.waits[1].before, job("c"));
    auto relaxed =
        plan_next(plan_of(slots_of("relaxed", input)), jobs({"c", "d"}), jobs({"a", "b"}), {1});
    EXPECT_EQ(show(relaxed), "d:1");
}

TEST(pool_planner, a_job_takes_free_slots_whatever_those_before_it_wait_for) {
    model::scheduling of;
    of.metadata.namespace_ = "ns";
    of.spec.pool_based.emplace().jobs = {
        {{"", "a"}, 3}, {{"", "b"}, 1}, {{"", "c"}, 2}, {{"", "d"}, 1}};
    const auto read = plan_of(of);
    const auto all = jobs({"a", "b", "c", "d"});
    EXPECT_EQ(show(plan_next(read, all, {}, {0, 1, 2, 3, 4, 5, 6})), "a:0,1,2 b:3 c:4,5 d:6");
    const auto two = plan_next(read, all, {}, {1, 4});
    EXPECT_EQ(show(two), "b:1 d:4");
    ASSERT_EQ(two.waits.size(), 2u);
    EXPECT_EQ(two.waits[0], (slot_blocker{job("a"), slot_blocker::kind::too_few_free, {}, {}}));
    EXPECT_EQ(two.waits[1].job, job("c"));
    EXPECT_EQ(show(plan_next(read, jobs({"c", "d"}), jobs({"a", "b"}), {0, 3})), "c:0,3")
        << "what has started, and what is not acquired, takes none";
}

TEST(plan, a_pool_that_names_a_job_twice_is_told) {
    model::scheduling of;
    of.metadata.namespace_ = "ns";
    of.spec.pool_based.emplace().jobs = {{{"", "a"}, 1}, {{"ns", "a"}, 2}};
    const auto read = plan_of(of);
    ASSERT_TRUE(read.wrong);
    EXPECT_EQ(read.wrong->text,
              "poolBased names BatchJob ns/a twice; name it once, with the number of its slots");
}

TEST(slot_planner, slots_are_given_once_per_pass) {
    auto next = plan_next(plan_of(slots_of("relaxed", {{"a", {1, 0}}, {"b", {1}}, {"c", {2}}})),
                          jobs({"a", "b", "c"}), {}, {0, 1, 2});
    EXPECT_EQ(show(next), "a:0,1 c:2");
}

TEST(slot_planner, strict_waits_for_a_job_that_is_not_acquired) {
    auto next =
        plan_next(plan_of(slots_of("strict", {{"a", {0}}, {"b", {1}}})), jobs({"b"}), {}, {0, 1});
    EXPECT_EQ(show(next), "");
    EXPECT_EQ(next.waits[0].why, slot_blocker::kind::not_ready);
}

/// Positions 0 and 1 are coordinator places.
next_starts next_with_coordinators(const plan& of, const std::set<object_key>& startable,
                                   const std::set<int>& free) {
    return of.chosen->next(of, {startable, {}}, free_slots(free, {}, {0, 1}));
}

TEST(coordinator_place, the_lowest_free_one_comes_last_in_the_slots_of_each_job) {
    const auto of = plan_of(queue_of({"a", "b", "a", "b"}));
    const auto both = jobs({"a", "b"});
    EXPECT_EQ(show(next_with_coordinators(of, both, {0, 1, 2, 3, 4, 5, 6})), "a:2,4,0 b:3,5,1");
    EXPECT_EQ(show(next_with_coordinators(of, both, {1, 3, 4, 6, 7})), "a:3,6,1")
        << "the entries are matched to free places of workers only";
}

TEST(coordinator_place, a_job_waits_for_it_and_holds_up_as_one_that_waits_for_slots) {
    const auto all = jobs({"a", "b", "c"});
    const std::set<int> free{1, 2, 3, 4};
    const auto queue = next_with_coordinators(plan_of(queue_of({"a", "b", "c"})), all, free);
    EXPECT_EQ(show(queue), "a:2,1");
    ASSERT_EQ(queue.waits.size(), 2u);
    EXPECT_EQ(queue.waits[0],
              (slot_blocker{job("b"), slot_blocker::kind::coordinator_busy, {0, 1}, {}}));
    EXPECT_EQ(queue.waits[1].why, slot_blocker::kind::job_before);

    std::vector<std::pair<std::string, std::vector<int>>> slots{{"a", {2}}, {"b", {3}}, {"c", {4}}};
    const auto strict = next_with_coordinators(plan_of(slots_of("strict", slots)), all, free);
    EXPECT_EQ(show(strict), "a:2,1");
    EXPECT_EQ(strict.waits.at(0).why, slot_blocker::kind::coordinator_busy);
    EXPECT_EQ(strict.waits.at(1).why, slot_blocker::kind::job_before);
    const auto relaxed = next_with_coordinators(plan_of(slots_of("relaxed", slots)), all, free);
    EXPECT_EQ(show(relaxed), "a:2,1");
    EXPECT_EQ(relaxed.waits.at(1).why, slot_blocker::kind::coordinator_busy);
    slots = {{"a", {2}}, {"b", {2}}};
    const auto taken = next_with_coordinators(plan_of(slots_of("relaxed", slots)), all, {0, 1, 2});
    EXPECT_EQ(taken.waits.at(0).why, slot_blocker::kind::slots_taken)
        << "what it names is not free either";
    const auto few = next_with_coordinators(plan_of(queue_of({"a", "a"})), all, {2});
    EXPECT_EQ(few.waits.at(0).why, slot_blocker::kind::too_few_free);
}

TEST(coordinator_place, is_no_place_of_a_worker) {
    const std::set<int> free{0, 1, 2, 5};
    const free_slots of(free, {1, 5}, {0, 1, 3});
    EXPECT_EQ(of.size(), 1u);
    EXPECT_EQ(of.next(0), 2);
    EXPECT_EQ(of.next(3), std::nullopt);
    EXPECT_FALSE(of.contains(0));
    EXPECT_TRUE(of.contains(2));
    EXPECT_EQ(of.next_coordinator(0), 0);
    EXPECT_EQ(of.next_coordinator(1), std::nullopt);

    const plan_places places(world::layout_of_claim("t", 1, 3));
    EXPECT_EQ(places.count(), 4);
    EXPECT_EQ(places.workers(), 3);
    EXPECT_EQ(places.coordinators(), std::set{0});
    EXPECT_EQ(places.workers_among(std::vector{2, 3, 0}), 2);
}

TEST(coordinator_place, is_not_named_and_does_not_count_as_a_slot) {
    const plan_places places(world::layout_of_claim("t", 1, 2));
    const auto named = problem_of(plan_of(slots_of("strict", {{"a", {1, 0}}})), places);
    EXPECT_EQ(named->reason, "SlotOfCoordinator");
    EXPECT_EQ(named->text,
              "BatchJob ns/a names slot 0, which is a coordinator place: slotIds name places of "
              "workers, and the job gets a free coordinator place with them; take 0 out");
    EXPECT_EQ(problem_of(plan_of(slots_of("strict", {{"a", {1, 2}}})), places), std::nullopt);
    EXPECT_EQ(problem_of(plan_of(slots_of("strict", {{"a", {3}}})), places)->text,
              "BatchJob ns/a wants slot 3, the Testbed has slots 0 to 2");
    EXPECT_EQ(problem_of(plan_of(queue_of({"a", "a", "a"})), places)->text,
              "BatchJob ns/a needs 3 slots, the Testbed has 2 for workers");
    EXPECT_EQ(problem_of(plan_of(queue_of({"a", "b", "a"})), places)->reason, "TooManySlots")
        << "the last entry is at place 3";
}

TEST(plan, names_what_can_never_start) {
    auto queue = plan_of(queue_of({"a", "b", "b", "b"}));
    EXPECT_EQ(problem_of(queue, 2)->reason, "TooManySlots");
    EXPECT_EQ(problem_of(queue, 2)->text, "BatchJob ns/b needs 3 slots, the Testbed has 2");
    EXPECT_EQ(problem_of(queue, 3), std::nullopt);
    auto spread = plan_of(queue_of({"x", "a", "b", "x", "a"}));
    EXPECT_EQ(
        problem_of(spread, 3)->text,
        "BatchJob ns/x has an entry at place 4 of the queue when its turn comes, the Testbed has "
        "3 slots: it cannot start; move its entries closer together");
    EXPECT_EQ(problem_of(spread, 4), std::nullopt) << "a is at place 3 once x has started";
    EXPECT_EQ(problems_by_job(spread, 3).size(), 1u) << "a fits once x is out of the way";
    EXPECT_EQ(problems_by_job(plan_of(queue_of({"b", "c", "c", "c", "b", "d"})), 4).begin()->first,
              job("b"));
    auto large = plan_of(queue_of({"b", "c", "c", "c", "c", "c", "b"}));
    EXPECT_EQ(problems_by_job(large, 4).begin()->first, job("c"))
        << "b fits: c never stands in its way";
    EXPECT_EQ(problems_by_job(large, 4).size(), 1u);
    auto slots = plan_of(slots_of("strict", {{"a", {6}}}));
    EXPECT_EQ(problem_of(slots, 6)->text,
              "BatchJob ns/a wants slot 6, the Testbed has slots 0 to 5");
    EXPECT_EQ(plan_of(slots_of("strict", {{"a", {0}}, {"a", {1}}})).wrong->reason, "DuplicateJob");
}

TEST(plan, refuses_more_than_1024_different_jobs) {
    model::scheduling of = queue_of({});
    for (int i = 0; i < 1024; ++i) of.spec.queue_based->push_back({"", "job-" + std::to_string(i)});
    EXPECT_EQ(plan_of(of).wrong, std::nullopt);
    of.spec.queue_based->push_back({"", "one-more"});
    EXPECT_EQ(plan_of(of).wrong->reason, "TooManyJobs");
    EXPECT_EQ(problems_by_job(plan_of(of), 4).begin()->first, job("one-more")) << "in an extension";
    EXPECT_EQ(problems_by_job(plan_of(of), 4).size(), 1u);
}

TEST(plan, after_the_first_assignment_only_the_queue_changes) {
    auto of = queue_of({"a", "a"});
    of.status.plan = frozen_spec(of);
    of.status.assignments.push_back({{"ns", "a", "u"}, {0, 1}, "h.1", {}, {}, "", "", {}});
    EXPECT_TRUE(plan_of(of).ignored.empty());
    of.spec.queue_based->push_back({"", "b"});
    EXPECT_TRUE(plan_of(of).ignored.empty());
    EXPECT_EQ(plan_of(of).jobs.size(), 2u);
    of.spec.queue_based->push_back({"", "a"});
    of.spec.release_on_completion = true;
    const auto layout = world::layout_of_claim("t", 0, 3);
    auto changed = plan_of(of, known_policies(), &layout);
    EXPECT_FALSE(changed.release_on_completion);
    EXPECT_EQ(changed.ignored.size(), 2u);
}

TEST(plan, the_coordinator_place_of_a_started_job_is_no_entry) {
    auto of = queue_of({"a", "a"});
    of.status.plan = frozen_spec(of);
    of.status.assignments.push_back({{"ns", "a", "u"}, {1, 2, 0}, "h.1", {}, {}, "", "", {}});
    const auto layout = world::layout_of_claim("t", 1, 2);
    EXPECT_TRUE(plan_of(of, known_policies(), &layout).ignored.empty());
    of.spec.queue_based->push_back({"", "a"});
    EXPECT_EQ(plan_of(of, known_policies(), &layout).ignored.at(0),
              "BatchJob ns/a was started with 2 slots, which stands, and is now written with 3");
    EXPECT_TRUE(plan_of(of).ignored.empty()) << "without a layout nothing tells that slot's role";
}

TEST(plan, a_queue_that_became_a_slot_plan_is_told_what_is_left_of_it) {
    auto of = queue_of({"a", "b"});
    of.status.plan = frozen_spec(of);
    of.status.assignments.push_back({{"ns", "a", "u"}, {0}, "h.1", {}, {}, "", "", {}});
    of.spec.queue_based.reset();
    of.spec.slot_based = {"strict", {{{"", "b"}, {0}}}};
    auto read = plan_of(of);
    EXPECT_TRUE(read.jobs.empty());
    EXPECT_EQ(
        read.ignored.at(0),
        "slotBased was set after the first start of a plan without it; what has started stays, "
        "nothing else starts");
}

/// A plan of `mode` whose job a has been started in slot 0.
model::scheduling started_slots(std::string mode) {
    auto of = slots_of(std::move(mode), {{"a", {0}}, {"b", {0}}});
    of.status.plan = frozen_spec(of);
    of.status.assignments.push_back({{"ns", "a", "u"}, {0}, "h.1", {}, {}, "", "", {}});
    return of;
}

std::vector<std::string> ignored_of(const model::scheduling& of) {
    const auto layout = world::layout_of_claim("t", 0, 3);
    return plan_of(of, known_policies(), &layout).ignored;
}

TEST(plan, a_slot_plan_that_runs_takes_new_jobs_and_changes_of_those_not_started) {
    for (const char* mode : {"strict", "relaxed"}) {
        auto of = started_slots(mode);
        auto& written = of.spec.slot_based->jobs;
        written[1].slot_ids = {1};
        written.push_back({{"", "c"}, {2}});
        const auto read = plan_of(of);
        ASSERT_EQ(read.jobs.size(), 3u) << mode;
        EXPECT_EQ(read.jobs[1].slot_ids, std::vector<int>{1});
        EXPECT_EQ(read.jobs[2].name, job("c"));
        EXPECT_EQ(read.chosen->mode(), mode);
        EXPECT_TRUE(ignored_of(of).empty());
        written.erase(written.begin() + 1);
        EXPECT_EQ(plan_of(of).jobs.size(), 2u);
        EXPECT_TRUE(ignored_of(of).empty());
    }
}

TEST(plan, of_a_slot_plan_that_runs_the_mode_and_what_has_started_stay) {
    auto of = started_slots("strict");
    of.spec.slot_based->mode = "relaxed";
    of.spec.slot_based->jobs[0].slot_ids = {2, 1};
    EXPECT_EQ(plan_of(of).chosen->mode(), "strict");
    EXPECT_EQ(ignored_of(of),
              (std::vector<std::string>{
                  "slotBased.mode was changed after the first start; it stays strict",
                  "BatchJob ns/a was started in slot 0, which stands, and is now written with "
                  "slots 1, 2"}));
    of = started_slots("relaxed");
    of.spec.slot_based->jobs.erase(of.spec.slot_based->jobs.begin());
    EXPECT_EQ(ignored_of(of),
              std::vector<std::string>{"taken out after the start, which stands: BatchJob ns/a"});
}

TEST(plan, a_slot_plan_that_runs_goes_on_with_what_can_be_read_of_its_jobs) {
    auto of = started_slots("relaxed");
    of.spec.slot_based->jobs.push_back({{"", "b"}, {1}});
    EXPECT_EQ(plan_of(of).jobs.size(), 2u);
    EXPECT_EQ(ignored_of(of),
              std::vector<std::string>{
                  "slotBased names BatchJob ns/b twice; name it once, with all its slots"});
    of.spec.slot_based.reset();
    of.spec.queue_based.emplace().push_back({"", "c"});
    EXPECT_EQ(plan_of(of).jobs.size(), 2u);
    EXPECT_EQ(ignored_of(of), std::vector<std::string>{
                                  "slotBased was taken out after the first start; the plan stays"});
}

TEST(plan, a_pool_that_runs_takes_what_is_written) {
    model::scheduling of;
    of.metadata.namespace_ = "ns";
    of.spec.pool_based.emplace().jobs = {{{"", "a"}, 1}};
    of.status.plan = frozen_spec(of);
    EXPECT_FALSE(of.status.plan->pool_based);
    of.status.assignments.push_back({{"ns", "a", "u"}, {0}, "h.1", {}, {}, "", "", {}});
    of.spec.pool_based->jobs = {{{"", "a"}, 2}, {{"", "b"}, 1}};
    EXPECT_EQ(plan_of(of).jobs.size(), 2u);
    EXPECT_EQ(ignored_of(of),
              std::vector<std::string>{
                  "BatchJob ns/a was started with 1 slots, which stands, and is now written with "
                  "2"});
}

/// A policy that the table does not have: a queue whose entries take the free slots from the last
/// one on.
class reverse_queue final : public policy {
public:
    std::string_view mode() const override { return "reverse"; }
    std::string_view field() const override { return queue_policy().field(); }
    bool is_asked_for(const model::scheduling_spec& spec) const override {
        return queue_policy().is_asked_for(spec);
    }
    void read(plan& into, const model::scheduling_spec& spec, std::string_view ns) const override {
        queue_policy().read(into, spec, ns);
    }
    next_starts next(const plan& of, const plan_progress& jobs,
                     const free_slots& free) const override {
        std::vector<int> left;
        for (auto at = free.next(0); at; at = free.next(*at + 1)) left.push_back(*at);
        next_starts out;
        for (const auto& job : of.jobs) {
            const auto wanted = static_cast<std::size_t>(job.slots_wanted);
            if (!jobs.startable.contains(job.name) || wanted > left.size()) continue;
            std::vector<int> taken(left.end() - job.slots_wanted, left.end());
            left.resize(left.size() - wanted);
            out.starts.push_back({job.name, std::move(taken)});
        }
        return out;
    }
};

TEST(policy, that_is_new_is_driven_by_the_same_code) {
    const reverse_queue reverse;
    const policy* const table[] = {&reverse, &strict_policy(), &relaxed_policy()};
    world w;
    w.policies = table;
    w.add_testbed("t", 3, 2);
    for (const char* name : {"a", "b"}) w.add_job(name);
    w.add_queue("s", "t", {"a", "a", "b"});
    w.settle();
    EXPECT_EQ(w.running("s"), "a:4,5 b:3");
    EXPECT_EQ(w.s("s").status.mode, "reverse");
    w.end_job("a");
    w.end_job("b");
    w.settle();
    EXPECT_EQ(w.s("s").status.state, "CompletedState");
    EXPECT_FALSE(w.s("s").status.plan->queue_based) << "it may change at any time";
    w.erase_scheduling("s");
    w.settle();
    w.expect_nothing_left();
}

TEST(wait_graph, finds_the_shortest_cycle_through_one) {
    std::map<std::string, std::vector<std::string>> edges{
        {"a", {"b", "c"}}, {"b", {"d"}}, {"d", {"a"}}, {"c", {"a"}}, {"e", {"a"}}};
    auto waits = [&](const object_key& at) {
        std::vector<object_key> out;
        for (const auto& to : edges[at.name]) out.push_back(job(to));
        return out;
    };
    EXPECT_EQ(cycle_through(job("a"), waits), (std::vector{job("a"), job("c")}));
    EXPECT_EQ(cycle_through(job("d"), waits), (std::vector{job("d"), job("a"), job("b")}));
    EXPECT_TRUE(cycle_through(job("e"), waits).empty());
}

}  // namespace
}  // namespace esi::scheduling
