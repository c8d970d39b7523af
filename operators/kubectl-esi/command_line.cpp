#include "kubectl-esi/command_line.h"

#include <CLI/CLI.hpp>
#include <map>

#include "controller/duration_flag.h"
#include "kubectl-esi/commands/matrix.h"
#include "kubectl-esi/commands/queue.h"
#include "kubectl-esi/commands/top.h"
#include "kubectl-esi/commands/version.h"
#include "kubectl-esi/completion/scripts.h"
#include "kubectl-esi/doctor/doctor.h"
#include "model/names.h"

namespace esi::kubectl {

namespace types = kube::types;

namespace {

std::vector<watched> watched_in(const session& in, std::initializer_list<kube::resource_type> of) {
    std::vector<watched> out;
    for (const auto& type : of) out.push_back({type, in.listed_namespace(), {}});
    return out;
}

/// Testbeds, jobs and plans: all answers about waiting depend on them.
std::vector<watched> plan_kinds(const session& in) {
    return watched_in(in, {types::testbed, types::batchjob, types::scheduling});
}

CLI::App* add(CLI::App& to, const std::string& name, const std::string& text,
              const std::string& examples) {
    auto* out = to.add_subcommand(name, text);
    out->footer("Examples:\n" + examples);
    out->fallthrough();
    return out;
}

void add_general(CLI::App& app, general_flags& flags) {
    const std::map<std::string, form> forms{
        {"table", form::table}, {"wide", form::wide}, {"json", form::json}, {"yaml", form::yaml}};
    app.add_option("--kubeconfig", flags.kubeconfig,
                   "The kubeconfig file; else KUBECONFIG, then ~/.kube/config")
        ->type_name("FILE");
    app.add_option("--context", flags.context,
                   "The context of the kubeconfig; else the current one")
        ->type_name("NAME");
    app.add_option("-n,--namespace", flags.ns, "The namespace; else that of the context")
        ->type_name("NAME");
    app.add_flag("-A,--all-namespaces", flags.all_namespaces, "List objects of all namespaces");
    app.add_option("-o,--output", flags.output, "table, wide, json or yaml")
        ->type_name("FORM")
        ->transform(CLI::CheckedTransformer(forms).description(""));
    app.add_flag("--no-headers", flags.no_headers, "Print tables without headings");
    app.add_flag("-w,--watch", flags.watch,
                 "Print the answer again whenever it changes, until Ctrl-C");
    controller::add_duration(app, "--request-timeout", flags.request_timeout,
                             "How long one request may take: 30s, 1m", seconds(1));
    app.add_option("--operators-namespace", flags.operators_namespace,
                   "Where the operators of ESI run")
        ->type_name("NAME")
        ->capture_default_str();
    app.add_flag("--cross-namespace-jobs", flags.cross_namespace_jobs,
                 "Plan as an esi-scheduling that runs with this flag does");
}

}  // namespace

const std::vector<argument_kind>& argument_kinds() {
    static const std::vector<argument_kind> kinds{
        {"top", "TESTBED", named::testbeds},
        {"matrix", "TESTBED", named::testbeds},
        {"nodes", "TESTBED", named::testbeds},
        {"nodes", "--nodes", named::nodes},
        {"explain scheduling", "NAME", named::schedulings},
        {"explain job", "NAME", named::jobs},
        {"explain pod", "NAME", named::pods},
        {"release", "NAME", named::schedulings},
        {"suspend", "NAME", named::schedulings},
        {"resume", "NAME", named::schedulings},
        {"cancel", "NAME", named::schedulings},
        {"cancel", "JOB", named::jobs},
        {"reset", "JOB", named::jobs},
        {"runs", "JOB", named::jobs},
        {"schedule", "--filename", named::files},
        {"", "--kubeconfig", named::files},
        {"", "--context", named::contexts},
        {"", "--namespace", named::namespaces},
        {"", "--operators-namespace", named::namespaces},
    };
    return kinds;
}

void command_line::add_to(CLI::App& app) {
    app.require_subcommand(1);
    app.footer("kubectl esi COMMAND --help has examples of each command.");
    add_general(app, general);

    auto* top_command = add(app, "top", "The slot map: nodes as rows, slots as cells",
                            "  kubectl esi top scheduler-slots --watch\n"
                            "  kubectl esi top -A -o wide        # a line for each slot");
    top_command->add_option("TESTBED", name, "One Testbed; else all of the namespace");
    top_command->callback([this] {
        run = [this](session& in) { return top(in, name); };
        kinds = [](const session& in) { return watched_in(in, {types::testbed, types::batchjob}); };
    });

    auto* queue_command =
        add(app, "queue", "Schedulings in the order in which they go first, for each Testbed",
            "  kubectl esi queue\n  kubectl esi queue -A --finished -o wide");
    queue_command->add_flag("--finished", finished, "Show those that are over, too");
    queue_command->callback([this] {
        run = [this](session& in) { return queue(in, finished); };
        kinds = plan_kinds;
    });

    auto* explain_command = add(app, "explain", "Why a Scheduling, a job or a pod waits",
                                "  kubectl esi explain scheduling nightly\n"
                                "  kubectl esi explain job spark-job-1 -o wide\n"
                                "  kubectl esi explain pod spark-job-1-exec-1");
    explain_command->require_subcommand(1);
    const auto add_explain =
        [&](const std::string& what, const std::string& alias, const std::string& text,
            asio::awaitable<result<reply>> (*how)(session&, std::string, explain_options)) {
            auto* one =
                add(*explain_command, what, text, "  kubectl esi explain " + what + " NAME");
            one->alias(alias);
            one->add_option("NAME", name, "Its name")->required();
            one->add_flag("--exit-code", explain.exit_code, "End with 3 where something blocks it");
            one->callback([this, how] {
                run = [this, how](session& in) { return how(in, name, explain); };
                kinds = plan_kinds;
            });
        };
    add_explain("scheduling", "sched", "What blocks a Scheduling and each of its jobs",
                explain_scheduling);
    add_explain("job", "bj", "What blocks a BatchJob", explain_job);
    add_explain("pod", "po", "Why a pod is not bound yet", explain_pod);

    auto* schedule_command =
        add(app, "schedule", "Create Schedulings, or see what they would come to",
            "  kubectl esi schedule -f plan.yaml --preview\n"
            "  kubectl esi schedule -f plan.yaml --wait");
    schedule_command->add_option("-f,--filename", schedule.file, "YAML or JSON; - is stdin")
        ->type_name("FILE")
        ->required();
    auto* preview =
        schedule_command->add_flag("--preview", schedule.preview,
                                   "Which job gets which slots now, what waits for what, what "
                                   "is refused; nothing is written");
    schedule_command->add_flag("--dry-run", schedule.dry_run,
                               "The API server checks them; nothing is written");
    schedule_command->add_flag("--update", schedule.update, "Change those that exist");
    auto* wait = schedule_command->add_flag("--wait", schedule.wait,
                                            "Wait until they are over; end with 1 if one fails");
    wait->excludes(preview);
    controller::add_duration(*schedule_command, "--timeout", schedule.timeout, "Of --wait",
                             seconds(1));
    schedule_command->add_flag("--exit-code", schedule.exit_code,
                               "With --preview: end with 3 where no job starts now");
    schedule_command->callback([this] {
        run = [this](session& in) { return kubectl::schedule(in, schedule); };
        if (schedule.preview && schedule.file != "-") kinds = plan_kinds;
    });

    auto* release_command =
        add(app, "release", "Delete Schedulings, which gives back their Testbeds and jobs",
            "  kubectl esi release nightly");
    release_command->add_option("NAME", names, "Schedulings")->required();
    release_command->add_flag("--no-wait", no_wait, "Do not wait until they are released");
    controller::add_duration(*release_command, "--timeout", release.timeout, "How long to wait",
                             seconds(1));
    release_command->callback([this] {
        release.wait = !no_wait;
        run = [this](session& in) { return kubectl::release(in, names, release); };
    });

    auto* suspend_command = add(app, "suspend", "Start no further job of Schedulings",
                                "  kubectl esi suspend nightly\n"
                                "  kubectl esi suspend nightly --release-running");
    suspend_command->add_option("NAME", names, "Schedulings")->required();
    suspend_command->add_flag("--release-running", release_running,
                              "End the runs under way; their jobs start again later");
    suspend_command->callback(
        [this] { run = [this](session& in) { return suspend(in, names, release_running); }; });

    auto* resume_command =
        add(app, "resume", "Let suspended Schedulings go on", "  kubectl esi resume nightly");
    resume_command->add_option("NAME", names, "Schedulings")->required();
    resume_command->callback([this] { run = [this](session& in) { return resume(in, names); }; });

    auto* cancel_command =
        add(app, "cancel",
            "Take jobs out of a Scheduling: a run is ended, a job that waits is not "
            "started",
            "  kubectl esi cancel nightly spark-job-3");
    cancel_command->add_option("NAME", name, "The Scheduling")->required();
    cancel_command->add_option("JOB", jobs, "BatchJobs of its plan")->required();
    cancel_command->callback(
        [this] { run = [this](session& in) { return cancel(in, name, jobs); }; });

    auto* reset_command = add(app, "reset", "Make failed BatchJobs ready again",
                              "  kubectl esi reset spark-job-1\n  kubectl esi reset --all");
    auto* reset_names = reset_command->add_option("JOB", jobs, "BatchJobs");
    reset_command->add_flag("--all", all, "All of the namespace that have failed")
        ->excludes(reset_names);
    reset_command->callback([this] {
        if (!all && jobs.empty()) throw CLI::RequiredError("JOB, or --all,");
        run = [this](session& in) { return reset(in, jobs, all); };
    });

    auto* runs_command = add(app, "runs", "The recorded runs: slots, neighbours, times, outcome",
                             "  kubectl esi runs\n  kubectl esi runs spark-job-1 -o wide");
    runs_command->add_option("JOB", name, "One BatchJob; else all of the namespace");
    runs_command->callback([this] {
        run = [this](session& in) { return runs(in, name); };
        kinds = [](const session& in) { return watched_in(in, {types::batchjob}); };
    });

    auto* matrix_command =
        add(app, "matrix", "Run times of jobs by neighbour on one Testbed: mean, and how many runs",
            "  kubectl esi matrix scheduler-slots\n"
            "  kubectl esi matrix scheduler-slots -o wide   # n, mean, p50, p95, deviation");
    matrix_command->add_option("TESTBED", name, "The Testbed")->required();
    matrix_command->callback([this] {
        run = [this](session& in) { return matrix(in, name); };
        kinds = [](const session& in) { return watched_in(in, {types::batchjob}); };
    });

    auto* export_command = add(
        app, "export", "All recorded runs, for other programs",
        "  kubectl esi export --format csv > runs.csv\n"
        "  kubectl esi export --format trace -A > trace.json   # for chrome://tracing, Perfetto");
    const std::map<std::string, export_form> formats{
        {"csv", export_form::csv}, {"jsonl", export_form::jsonl}, {"trace", export_form::trace}};
    export_command->add_option("--format", format, "csv, jsonl or trace")
        ->type_name("FORM")
        ->transform(CLI::CheckedTransformer(formats).description(""));
    export_command->callback(
        [this] { run = [this](session& in) { return export_runs(in, format); }; });

    auto* nodes_command =
        add(app, "nodes", "Choose the nodes of a Testbed: label them with 0, 1, ...",
            "  kubectl esi nodes scheduler-slots                      # which it has\n"
            "  kubectl esi nodes scheduler-slots --count 3 --dry-run  # the least requested ones\n"
            "  kubectl esi nodes scheduler-slots --nodes node-1,node-2\n"
            "  kubectl esi nodes scheduler-slots --clear");
    nodes_command->add_option("TESTBED", name, "The Testbed")->required();
    auto* count = nodes_command
                      ->add_option("--count", nodes.count,
                                   "So many nodes, the least requested with room for the slots")
                      ->check(CLI::Range(1, 20000));
    auto* list = nodes_command->add_option("--nodes", nodes.names, "These nodes, in this order")
                     ->delimiter(',')
                     ->type_name("NODE,...");
    auto* clear = nodes_command->add_flag("--clear", nodes.clear, "Take the label off all nodes");
    nodes_command->add_flag("--dry-run", nodes.dry_run, "Show the changes; nothing is written");
    count->excludes(list)->excludes(clear);
    list->excludes(clear);
    nodes_command->callback(
        [this] { run = [this](session& in) { return kubectl::nodes(in, name, nodes); }; });

    auto* doctor_command =
        add(app, "doctor", "What is wrong with the installation, and the command that mends it",
            "  kubectl esi doctor\n  kubectl esi doctor -o json");
    doctor_command->callback([this] { run = [](session& in) { return doctor::examine(in); }; });

    auto* version_command =
        add(app, "version", "Versions of this program, the API server, the operators",
            "  kubectl esi version\n  kubectl esi version --client");
    version_command->add_flag("--client", client_only, "Of this program only");
    version_command->callback([this] {
        if (!client_only) run = [](session& in) { return version_of_all(in); };
    });

    auto* completion_command = add(
        app, "completion", "A script that completes kubectl-esi in a shell",
        "  kubectl esi completion bash > ~/.local/share/bash-completion/completions/kubectl-esi\n"
        "  kubectl esi completion kubectl > ~/bin/kubectl_complete-esi   # for `kubectl esi`; "
        "chmod +x");
    completion_command->add_option("SHELL", shell, "bash, zsh, fish, or kubectl")
        ->required()
        ->check(CLI::IsMember(completion::shells()).description(""));
}

}  // namespace esi::kubectl
