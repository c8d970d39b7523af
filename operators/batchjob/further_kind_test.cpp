// A kind of application that only this file knows, as a row of the operator's table. It shows what
// a further backend has to provide, and that no other part of the operator has to know it.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>

#include "base/virtual_clock.h"
#include "batchjob/backends/marks.h"
#include "batchjob/options.h"
#include "batchjob/testing.h"
#include "kube/testing/scripted_transport.h"
#include "model/application_kinds.h"

namespace esi::batchjob {
namespace {

using testing::at;
using testing::bind;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::order;
using testing::release;
using testing::run_1;
using ::testing::SizeIs;
using testing::stamp;
using testing::start;

struct echo_status {
    std::string state;
    std::string message;
    std::optional<model::timestamp> ended;
};
BOOST_DESCRIBE_STRUCT(echo_status, (), (state, message, ended))

/// The record that the watch decodes.
struct echo_job {
    model::object_meta metadata;
    echo_status status;
};
BOOST_DESCRIBE_STRUCT(echo_job, (), (metadata, status))

constexpr kube::resource_type echo_resource{"example.com", "v1", "echojobs", "EchoJob"};

application facts_of(const echo_job& object) {
    application out;
    out.metadata = object.metadata;
    const std::string& state = object.status.state;
    out.phase = state == "RUNNING"     ? phase::running
                : state == "SUCCEEDED" ? phase::succeeded
                : state == "FAILED"    ? phase::failed
                                       : phase::underway;
    out.word = state;
    out.message = object.status.message;
    out.attempt = state.empty() ? 0 : 1;
    out.ended = object.status.ended;
    return out;
}

/// One pod "NAME-head", and a worker in each slot; all are owned by the EchoJob.
class echo_backend final : public backend {
public:
    echo_backend(placement_options options, std::string volume)
        : options_(std::move(options)), volume_(std::move(volume)) {}

    std::string_view type() const override { return "Echo"; }
    const kube::resource_type& resource() const override { return echo_resource; }
    std::expected<built, spec_problem> build(const build_request& request) const override {
        const auto spec = json::parse(request.spec.text);
        if (!spec.contains("words")) {
            return std::unexpected(spec_problem{"NoWords", "echoSpec.words is missing"});
        }
        built out;
        out.object = {{"apiVersion", echo_resource.api_version()},
                      {"kind", echo_resource.kind},
                      {"metadata", application_metadata(request)},
                      {"spec",
                       {{"words", spec["words"]},
                        {"volume", volume_},
                        {"workers", request.slot_ids.size()},
                        {"workerLabels", slot_labels(request)},
                        {"workerAnnotations", slot_annotations(request)}}}};
        return out;
    }
    std::expected<built, spec_problem> probe(const model::object_meta& job,
                                             const model::raw_json& spec, bool) const override {
        return build(probe_request(job, spec, 64));
    }
    result<application> read(std::string_view text) const override {
        auto object = model::decode<echo_job>(text, "EchoJob");
        if (!object) return std::unexpected(object.error());
        return facts_of(*object);
    }
    pod_role role_of(const model::pod& pod, std::string_view name) const override {
        if (pod.metadata.label("echo") != name) return pod_role::none;
        return pod.metadata.label("role") == "head" ? pod_role::coordinator : pod_role::slot;
    }
    std::string foreign(const model::pod& pod, const application& app,
                        std::span<const pod_pointer>) const override {
        const auto* owner = pod.metadata.controller_owner();
        if (owner && owner->uid == app.metadata.uid) return {};
        return fmt::format("its owner is {}", show_owner(pod.metadata));
    }
    std::string_view coordinator() const override { return "head"; }
    std::string_view worker() const override { return "worker"; }
    const std::string& priority_class() const override { return options_.priority_class(); }
    std::optional<spec_problem> too_small(const model::raw_json&,
                                          const model::resource_list&) const override {
        return std::nullopt;
    }

private:
    placement_options options_;
    std::string volume_;
};

/// The model has no field for this kind: it borrows the one of Spark, whose row it replaces. A real
/// kind has a field of its own in model::batchjob_spec.
class echo_kind final : public application_kind {
public:
    std::string_view type() const override { return "Echo"; }
    std::string_view spec_field() const override { return "echoSpec"; }
    const model::raw_json* spec_in(const model::batchjob_spec& spec) const override {
        return spec.spark_spec ? &*spec.spark_spec : nullptr;
    }
    void add_flags(CLI::App& app) override { app.add_option("--echo-volume", volume_); }
    std::unique_ptr<backend> make_backend(const placement_options& placement) const override {
        return std::make_unique<echo_backend>(placement, volume_);
    }
    std::unique_ptr<application_source> make_source(std::unique_ptr<backend> of,
                                                    source_context with) const override {
        return std::make_unique<typed_source<echo_job>>(std::move(of), facts_of, std::move(with));
    }

private:
    std::string volume_ = "low";
};

application_kinds kinds_with_echo() {
    auto kinds = known_kinds();
    kinds[0] = std::make_shared<echo_kind>();
    return kinds;
}

std::shared_ptr<model::pod> echo_pod(const std::string& name, std::string_view role) {
    auto pod = std::make_shared<model::pod>();
    pod->metadata.name = name;
    pod->metadata.namespace_ = "jobs";
    pod->metadata.uid = "uid-" + name;
    pod->metadata.creation_timestamp = stamp(12);
    pod->metadata.labels = {
        {"echo", "a"}, {"role", std::string(role)}, {"esi.tu-berlin.de/job", "a"}};
    pod->metadata.annotations = {{"esi.tu-berlin.de/run", std::string(run_1)}};
    pod->metadata.owner_references = {{"example.com/v1", "EchoJob", "a", "app-1", true}};
    pod->phase = "Pending";
    return pod;
}

/// A job of the further kind; its backend is the one that the table makes.
struct echo_world : testing::world {
    echo_world() {
        kinds = kinds_with_echo();
        job->spec.spark_spec = model::raw_json{R"({"words":"hello"})"};
        made_ = kind_of(kinds, job->spec)->make_backend({});
        kind = made_.get();
    }
    /// The application that was created, as the API server has it.
    void show(const std::string& state, int ended = 0) {
        json object = created;
        object["metadata"]["uid"] = "app-1";
        object["metadata"]["resourceVersion"] = "5";
        object["metadata"]["creationTimestamp"] = stamp(10).whole_seconds();
        object["status"] = {{"state", state}, {"message", state == "FAILED" ? "no voice" : ""}};
        if (ended > 0) object["status"]["ended"] = stamp(ended).whole_seconds();
        app = *kind->read(object.dump());
    }
    void submit() {
        queued();
        order(*job, {0, 3});
        step(10);
        show("PENDING");
        pods = {echo_pod("a-head", "head"), echo_pod("a-1", "worker"), echo_pod("a-2", "worker")};
        step(13);
    }
    /// Call it after submit().
    void run() {
        replace(0, [](model::pod& pod) {
            bind(pod, "infra", 13);
            start(pod, 13);
        });
        for (const std::size_t worker : {1u, 2u}) {
            replace(worker, [](model::pod& pod) {
                bind(pod, "node-a", 14);
                start(pod, 16);
            });
        }
        show("RUNNING");
        step(17);
    }

private:
    std::unique_ptr<backend> made_;
};

TEST(further_kind, runs_from_launch_to_release_by_its_row_alone) {
    echo_world w;
    w.submit();
    EXPECT_EQ(w.created["kind"], "EchoJob");
    EXPECT_EQ(w.created["spec"]["workers"], 2);
    EXPECT_EQ(w.job->status.type, "Echo");
    EXPECT_EQ(w.job->status.state, "SubmittedState");
    EXPECT_EQ(w.job->status.placements,
              (std::vector<model::placement>{{0, "uid-a-1", "a-1"}, {3, "uid-a-2", "a-2"}}));
    EXPECT_EQ(w.message("BackendAvailable"), "echojobs.example.com is served");

    w.run();
    EXPECT_EQ(w.job->status.state, "RunningState");
    EXPECT_EQ(w.job->status.application->kind, "EchoJob");

    w.take_log();
    w.show("SUCCEEDED", 30);
    w.replace(0, [](model::pod& pod) {
        pod.phase = "Succeeded";
        pod.finished_at = stamp(29);
    });
    w.step(31);
    EXPECT_EQ(w.job->status.state, "CompletedState");
    EXPECT_EQ(w.job->status.last_result, "Succeeded 13.0s");
    EXPECT_THAT(w.take_log(),
                ElementsAre("status CompletedState", "delete pod a-1", "delete pod a-2"));

    w.pods.resize(1);
    release(*w.job);
    w.step(32);
    EXPECT_EQ(w.job->status.state, "PendingDeletion");
    EXPECT_THAT(w.take_log(), ElementsAre("status PendingDeletion", "delete application app-1",
                                          "delete pod a-head"));
    w.app.reset();
    w.pods.clear();
    w.step(34);
    EXPECT_EQ(w.job->status.state, "ReadyState");
    EXPECT_THAT(w.job->status.placements, IsEmpty());
}

TEST(further_kind, fails_in_its_own_words) {
    echo_world w;
    w.submit();
    w.run();
    w.show("FAILED", 30);
    w.replace(0, [](model::pod& pod) {
        pod.phase = "Failed";
        pod.finished_at = stamp(30);
    });
    w.step(31);
    EXPECT_EQ(w.job->status.state, "FailedState");
    EXPECT_EQ(w.message("Failed"), "no voice");
    EXPECT_THAT(w.message("Startable"),
                HasSubstr("the job can be started again once its echoSpec has changed"));
}

TEST(further_kind, refuses_a_spec_by_the_name_of_its_field) {
    echo_world w;
    w.job->spec.spark_spec = model::raw_json{"{}"};
    w.ready();
    EXPECT_EQ(w.condition("Accepted"), "False NoWords");
    EXPECT_THAT(w.job->status.problems,
                ElementsAre("echoSpec was refused: echoSpec.words is missing"));
}

TEST(further_kind, its_flags_are_the_operators) {
    options flags;
    flags.kinds = kinds_with_echo();
    CLI::App app;
    flags.add_to(app);
    app.parse("--echo-volume=high --flink-version=v1_20");
    testing::world w;
    w.job->spec.spark_spec = model::raw_json{R"({"words":"hello"})"};
    const auto made = kind_of(flags.kinds, w.job->spec)->make_backend(flags.placement_of_pods());
    const auto probe = made->probe(w.job->metadata, *w.job->spec.spark_spec, false);
    EXPECT_EQ(probe.value().object["spec"]["volume"], "high");
}

TEST(further_kind, is_watched_like_the_others) {
    asio::io_context loop;
    virtual_clock time;
    kube::scripted_transport wire(loop.get_executor(), time);
    kube::client api(wire, time);
    const auto sources = make_sources(kinds_with_echo(), {}, {api, time, loop.get_executor(), {}});
    ASSERT_THAT(sources, SizeIs(known_kinds().size()));
    EXPECT_EQ(sources[0]->kind().definition(), "echojobs.example.com");
    std::vector<std::string> names;
    for (const auto& cache : sources[0]->caches()) names.push_back(cache.name);
    EXPECT_THAT(names, ElementsAre("definition of echojobs", "echojobs"));
}

TEST(kinds, each_row_makes_a_backend_of_its_type_and_finds_its_own_spec_only) {
    const auto kinds = known_kinds();
    model::batchjob_spec spark;
    spark.spark_spec = model::raw_json{"{}"};
    model::batchjob_spec flink;
    flink.flink_spec = model::raw_json{"{}"};
    EXPECT_EQ(kind_of(kinds, spark)->spec_field(), "sparkSpec");
    EXPECT_EQ(kind_of(kinds, flink)->spec_field(), "flinkSpec");
    model::batchjob_spec driver;
    driver.spark_driver = model::raw_json{"{}"};
    EXPECT_EQ(kind_of(kinds, driver)->spec_field(), "sparkDriver");
    EXPECT_EQ(kind_of(kinds, model::batchjob_spec()), nullptr);
    for (const auto& kind : kinds) EXPECT_EQ(kind->make_backend({})->type(), kind->type());
}

TEST(kinds, have_the_names_of_the_table_that_all_parts_share) {
    const auto kinds = known_kinds();
    ASSERT_EQ(kinds.size(), model::application_kinds.size());
    for (std::size_t i = 0; i < kinds.size(); ++i) {
        const auto& shared = model::application_kinds[i];
        EXPECT_EQ(kinds[i]->type(), shared.type);
        EXPECT_EQ(kinds[i]->spec_field(), shared.spec_field);
        model::batchjob_spec spec;
        spec.*shared.spec = model::raw_json{"{}"};
        EXPECT_EQ(kinds[i]->spec_in(spec), &*(spec.*shared.spec));
        EXPECT_EQ(model::kind_of(spec), &shared);
        if (shared.definition.empty()) continue;
        const auto made = kinds[i]->make_backend({});
        EXPECT_EQ(made->definition(), shared.definition);
        EXPECT_THAT(made->resource().plural, ::testing::StartsWith(std::string(shared.resource)));
    }
}

TEST(kinds, a_flag_decides_what_a_flink_spec_becomes) {
    const auto kind_made = [](std::string command_line) {
        options flags;
        CLI::App app;
        flags.add_to(app);
        app.parse(std::move(command_line));
        model::batchjob_spec spec;
        spec.flink_spec = model::raw_json{"{}"};
        return std::string(kind_of(flags.kinds, spec)->make_backend({})->resource().kind);
    };
    EXPECT_EQ(kind_made(""), "FlinkDeployment");
    EXPECT_EQ(kind_made("--flink-backend=FlinkCluster"), "FlinkCluster");
}

}  // namespace
}  // namespace esi::batchjob
