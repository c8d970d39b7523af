// esi-simulation: the three operators in a world of virtual time, with every fault.
#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "base/source_folder.h"
#include "plan/generate.h"
#include "program/commands.h"
#include "sweep/sweep.h"

int main(int argc, char** argv) {
    using namespace esi::simulation;
    CLI::App app(
        "Runs the three operators over a model API server in virtual time, with faults, and judges "
        "each step. The same seed gives the same run on every machine.",
        "esi-simulation");
    app.require_subcommand(1);
    int jobs = 0;
    std::function<int()> act;
    auto command = [&](const char* name, const char* text, std::function<int()> what) {
        auto* out = app.add_subcommand(name, text);
        out->callback([&act, what] { act = what; });
        return out;
    };
    auto add_jobs = [&](CLI::App* to) {
        to->add_option("--jobs", jobs, "Processes side by side; 0: one for each core")
            ->check(CLI::NonNegativeNumber);
    };

    seeds_request seeds;
    auto add_seeds = [&](const char* name, const char* text, bool gangs) {
        auto* many = command(name, text, [&, gangs] {
            seeds.jobs = jobs;
            seeds.gangs = gangs;
            return run_seeds(seeds);
        });
        many->add_option("--from", seeds.from, "The first seed")
            ->check(CLI::NonNegativeNumber)
            ->capture_default_str();
        many->add_option("--count", seeds.count, "How many")
            ->check(CLI::PositiveNumber)
            ->capture_default_str();
        many->add_flag("--until-failure", seeds.until_failure, "Stop at the first that fails");
        many->add_option("--twice-every", seeds.twice_every,
                         "Every so many seeds is run twice and must give the same bytes; 0: none")
            ->check(CLI::NonNegativeNumber)
            ->capture_default_str();
        add_jobs(many);
    };
    add_seeds("seeds", "Run seeds, with a summary", false);
    add_seeds("gangs", "The same with plans of gangs", true);

    replay_request again;
    auto* once =
        command("replay", "Run one plan and tell what happened", [&] { return replay(again); });
    once->add_option("plan", again.plan, "A seed, gangs:SEED, a scenario's name, or a file")
        ->required();
    once->add_option("--keep", again.keep, "Numbers of the faults to keep (see: plan)")
        ->check(CLI::NonNegativeNumber)
        ->delimiter(',');
    once->add_flag("--no-faults", again.no_faults, "The same without faults");
    once->add_flag("--story", again.story, "Print who did what, when");
    once->add_flag("--logs", again.logs, "The same with the log lines of the operators");
    once->add_option("--crash", again.crash,
                     "OPERATOR:WRITE:before|after, a line of the crash table");

    std::string plan;
    command("plan", "Print the plan of a seed", [&] { return show_plan(plan); })
        ->add_option("plan", plan, "A seed, a scenario's name, or the file of a plan")
        ->required();
    std::string save;
    auto* cut = command("shrink", "Cut a failing plan down to what it takes to fail",
                        [&] { return shrink_plan(plan, save); });
    cut->add_option("plan", plan, "A seed, or the file of a plan")->required();
    cut->add_option("--save", save, "Write the plan there");

    std::string folder = esi::source_folder() + "/integration-tests/simulation/cases";
    auto* kept = command("cases", "Run the kept plans", [&] { return run_cases(folder, jobs); });
    kept->add_option("--folder", folder, "Where they are")->capture_default_str();
    add_jobs(kept);

    std::string only;
    auto* table = command("crash-table", "A crash before and after every write of every scenario",
                          [&] { return run_crash_table(only, jobs); });
    std::vector<std::string> names;
    for (const auto& one : scenarios()) names.push_back(one.scenario);
    table->add_option("--scenario", only, "Only this one")->check(CLI::IsMember(names));
    add_jobs(table);

    auto* specs =
        command("sweep", "Every property of the three kinds, absent, wrong, at its bounds",
                [&] { return run_sweep(jobs); });
    add_jobs(specs);

    foresee_request asked;
    auto* answers = command("foresee", "Compare preview and explain with what then happens", [&] {
        asked.jobs = jobs;
        return run_foresee(asked);
    });
    answers->add_option("--from", asked.from, "The first seed")
        ->check(CLI::NonNegativeNumber)
        ->capture_default_str();
    answers->add_option("--count", asked.count, "How many seeds; of each one state")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    answers->add_flag("--until-failure", asked.until_failure, "Stop at the first that fails");
    answers->add_flag("--story", asked.story, "Tell who did what, when, of the first seed alone");
    answers->add_flag("--logs", asked.logs, "The same with the log lines of the operators");
    add_jobs(answers);

    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& e) {
        return app.exit(e) == 0 ? 0 : 2;
    }
    return act();
}
