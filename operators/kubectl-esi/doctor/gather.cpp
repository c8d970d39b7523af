#include "kubectl-esi/doctor/gather.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "kubectl-esi/doctor/definitions.h"
#include "kubectl-esi/read/world.h"
#include "kubectl-esi/shown/documents.h"
#include "model/crd_files.h"
#include "model/names.h"

namespace esi::kubectl::doctor {

namespace {

using shown::json;
namespace types = kube::types;

constexpr kube::resource_type deployments{"apps", "v1", "deployments", "Deployment"};
constexpr kube::resource_type priority_classes{"scheduling.k8s.io", "v1", "priorityclasses",
                                               "PriorityClass", false};
constexpr kube::resource_type policies{"admissionregistration.k8s.io", "v1",
                                       "validatingadmissionpolicies", "ValidatingAdmissionPolicy",
                                       false};
constexpr kube::resource_type bindings{"admissionregistration.k8s.io", "v1",
                                       "validatingadmissionpolicybindings",
                                       "ValidatingAdmissionPolicyBinding", false};
constexpr kube::resource_type services{"", "v1", "services", "Service"};
constexpr kube::resource_type endpoint_slices{"discovery.k8s.io", "v1", "endpointslices",
                                              "EndpointSlice"};
constexpr kube::resource_type accounts{"", "v1", "serviceaccounts", "ServiceAccount"};
constexpr kube::resource_type access_reviews{
    "authorization.k8s.io", "v1", "selfsubjectaccessreviews", "SelfSubjectAccessReview", false};

constexpr std::array operators{"esi-testbed", "esi-batchjob", "esi-scheduling"};

/// The admission policies that the chart installs with its default values.
constexpr std::array policy_names{"esi-batchjob-applications",
                                  "esi-batchjob-pods",
                                  "esi-operator-leases",
                                  "esi-operator-events",
                                  "esi-orders",
                                  "esi-holds",
                                  "esi-slices",
                                  "esi-keys",
                                  "esi-bounds",
                                  "esi-pod-marks",
                                  "esi-bindings",
                                  "esi-resizes",
                                  "esi-claim-classes",
                                  "esi-priority-classes",
                                  "esi-scheduling-testbeds",
                                  "esi-scheduling-batchjobs",
                                  "esi-scheduling-schedulings",
                                  "esi-testbed-pods",
                                  "esi-testbed-pod-status",
                                  "esi-testbed-testbeds",
                                  "esi-testbed-slices",
                                  "esi-testbed-nodes"};

struct right {
    const char* verb;
    const char* group;
    const char* resource;
    const char* needed_for;
};
constexpr std::array rights{
    right{"list", "esi.tu-berlin.de", "testbeds", "top, queue, explain, --preview"},
    right{"list", "esi.tu-berlin.de", "batchjobs", "top, runs, matrix, explain, --preview"},
    right{"list", "esi.tu-berlin.de", "schedulings", "queue, explain, --preview"},
    right{"list", "", "pods", "explain, --preview"},
    right{"create", "esi.tu-berlin.de", "schedulings", "schedule"},
    right{"patch", "esi.tu-berlin.de", "schedulings", "suspend, resume, cancel, --update"},
    right{"delete", "esi.tu-berlin.de", "schedulings", "release"},
    right{"patch", "esi.tu-berlin.de", "batchjobs", "reset"}};

struct seen_object {
    presence is = presence::hidden;
    json body = {};
};

template <class T>
T value_at(const json& of, const char* path, T otherwise) {
    const json::json_pointer at(path);
    if (!of.is_object() || !of.contains(at)) return otherwise;
    try {
        return of[at].get<T>();
    } catch (const json::exception&) {
        return otherwise;
    }
}

std::string text_at(const json& of, const char* path) {
    return value_at<std::string>(of, path, {});
}

json list_at(const json& of, const char* path) {
    const json::json_pointer at(path);
    return of.is_object() && of.contains(at) && of[at].is_array() ? of[at] : json::array();
}

presence presence_of(const error& why) {
    return why.code == errc::not_found ? presence::absent : presence::hidden;
}

asio::awaitable<seen_object> look(session& in, const kube::resource_type& type, std::string ns,
                                  std::string name) {
    const auto text = co_await in.api.get(type, std::move(ns), std::move(name));
    if (!text) co_return seen_object{presence_of(text.error())};
    co_return seen_object{presence::there, json::parse(*text, nullptr, false)};
}

asio::awaitable<seen_object> look_at_all(session& in, const kube::resource_type& type,
                                         std::string ns, kube::list_options how = {}) {
    const auto text = co_await in.api.list(type, std::move(ns), std::move(how));
    if (!text) co_return seen_object{presence_of(text.error())};
    co_return seen_object{presence::there, list_at(json::parse(*text, nullptr, false), "/items")};
}

bool is_established(const json& definition) {
    for (const auto& each : list_at(definition, "/status/conditions")) {
        if (text_at(each, "/type") == "Established") return text_at(each, "/status") == "True";
    }
    return false;
}

origin origin_of(const json& object) {
    origin out;
    out.release = text_at(object, "/metadata/annotations/meta.helm.sh~1release-name");
    out.ns = text_at(object, "/metadata/annotations/meta.helm.sh~1release-namespace");
    out.of_chart = !out.release.empty() ||
                   text_at(object, "/metadata/labels/app.kubernetes.io~1managed-by") == "Helm";
    return out;
}

asio::awaitable<void> read_definitions(session& in, facts& into) {
    for (const auto& file : model::crds::files()) {
        const auto documents = shown::read_documents(file.content, "definition");
        if (!documents || documents->empty()) continue;
        const auto& own = documents->front();
        definition_fact one;
        one.name = text_at(own, "/metadata/name");
        one.file = "crds/" + std::string(file.name);
        const auto served = co_await look(in, types::custom_resource_definition, "", one.name);
        one.is = served.is;
        if (one.is == presence::there) {
            one.established = is_established(served.body);
            one.missing = missing_fields(own, served.body);
            one.from = origin_of(served.body);
        }
        into.definitions.push_back(std::move(one));
    }
}

asio::awaitable<void> read_rights(session& in, facts& into) {
    for (const auto& each : rights) {
        const json body = {{"apiVersion", "authorization.k8s.io/v1"},
                           {"kind", "SelfSubjectAccessReview"},
                           {"spec",
                            {{"resourceAttributes",
                              {{"verb", each.verb},
                               {"group", each.group},
                               {"resource", each.resource},
                               {"namespace", in.listed_namespace()}}}}}};
        const auto answer = co_await in.api.create(access_reviews, "", body);
        if (!answer) continue;
        right_fact one;
        one.verb = each.verb;
        one.resource =
            each.resource + (*each.group == '\0' ? std::string() : "." + std::string(each.group));
        one.ns = in.listed_namespace();
        one.needed_for = each.needed_for;
        one.allowed = value_at(json::parse(*answer, nullptr, false), "/status/allowed", false);
        into.rights.push_back(std::move(one));
    }
}

asio::awaitable<void> read_operators(session& in, facts& into) {
    const auto& ns = in.flags.operators_namespace;
    for (const char* name : operators) {
        operator_fact one;
        one.name = name;
        const auto lease = co_await look(in, types::lease, ns, name);
        one.lease = lease.is;
        one.holder = text_at(lease.body, "/spec/holderIdentity");
        one.lease_seconds = value_at<std::int64_t>(lease.body, "/spec/leaseDurationSeconds", 0);
        if (auto time = model::timestamp::parse(text_at(lease.body, "/spec/renewTime"))) {
            one.renewed = *time;
        }
        const auto deployment = co_await look(in, deployments, ns, name);
        one.deployment = deployment.is;
        one.from = origin_of(deployment.body);
        one.wanted = value_at<std::int64_t>(deployment.body, "/spec/replicas", 1);
        one.ready = value_at<std::int64_t>(deployment.body, "/status/readyReplicas", 0);
        one.image = text_at(deployment.body, "/spec/template/spec/containers/0/image");
        for (const auto& each : list_at(deployment.body, "/spec/template/spec/containers/0/args")) {
            if (each.is_string()) one.arguments.push_back(each.get<std::string>());
        }
        into.operators.push_back(std::move(one));
    }
    const auto here = [](const operator_fact& each) {
        return each.lease != presence::absent || each.deployment != presence::absent;
    };
    if (std::ranges::any_of(into.operators, here)) co_return;
    kube::list_options labelled;
    labelled.label_selector = "app.kubernetes.io/part-of=esi,app.kubernetes.io/component=testbed";
    const auto elsewhere = co_await look_at_all(in, deployments, "", labelled);
    if (!elsewhere.body.empty()) {
        into.other_operators_namespace = text_at(elsewhere.body.front(), "/metadata/namespace");
    }
}

asio::awaitable<void> read_classes(session& in, facts& into) {
    const auto all = co_await look_at_all(in, priority_classes, "");
    into.classes_seen = all.is;
    for (const auto& each : all.body) {
        priority_class_fact one;
        one.name = text_at(each, "/metadata/name");
        one.value = value_at<std::int64_t>(each, "/value", 0);
        one.preemption = text_at(each, "/preemptionPolicy");
        one.part_of = text_at(each, "/metadata/labels/app.kubernetes.io~1part-of");
        one.from = origin_of(each);
        into.classes.push_back(std::move(one));
    }
}

asio::awaitable<void> read_policies(session& in, facts& into) {
    const auto all = co_await look_at_all(in, policies, "");
    const auto bound = co_await look_at_all(in, bindings, "");
    into.policies_seen = all.is == presence::there && bound.is == presence::there
                             ? presence::there
                             : presence::hidden;
    for (const char* name : policy_names) {
        policy_fact one{name};
        for (const auto& each : all.body) {
            if (text_at(each, "/metadata/name") != name) continue;
            one.there = true;
            one.from = origin_of(each);
        }
        for (const auto& each : bound.body) {
            if (text_at(each, "/spec/policyName") != name) continue;
            one.bound = true;
            for (const auto& action : list_at(each, "/spec/validationActions")) {
                if (action == "Deny") one.denies = true;
            }
        }
        into.policies.push_back(std::move(one));
    }
}

asio::awaitable<void> read_backends(session& in, facts& into) {
    for (const auto& each : model::application_kinds) {
        if (each.definition.empty()) continue;
        backend_fact one{&each};
        const auto kind =
            co_await look(in, types::custom_resource_definition, "", std::string(each.definition));
        one.kind = kind.is;
        one.established = is_established(kind.body);
        kube::list_options labelled;
        labelled.label_selector = fmt::format("app.kubernetes.io/name={}", each.label);
        const auto found = co_await look_at_all(in, deployments, "", labelled);
        if (found.is == presence::there) {
            one.deployments = found.body.empty() ? presence::absent : presence::there;
            for (const auto& deployment : found.body) {
                one.ready += value_at<std::int64_t>(deployment, "/status/readyReplicas", 0);
                one.deployment = text_at(deployment, "/metadata/namespace") + "/" +
                                 text_at(deployment, "/metadata/name");
            }
        }
        into.backends.push_back(std::move(one));
    }
}

asio::awaitable<void> read_extender(session& in, facts& into) {
    const auto* batchjob = into.find_operator("esi-batchjob");
    if (batchjob == nullptr || batchjob->argument("--placement") != "extender") co_return;
    service_fact one;
    one.name = "esi-testbed";
    const auto& ns = in.flags.operators_namespace;
    const auto service = co_await look(in, services, ns, one.name);
    one.is = service.is;
    kube::list_options of;
    of.label_selector = "kubernetes.io/service-name=" + one.name;
    const auto slices = co_await look_at_all(in, endpoint_slices, ns, of);
    if (slices.is == presence::hidden) one.is = presence::hidden;
    for (const auto& slice : slices.body) {
        for (const auto& each : list_at(slice, "/endpoints")) {
            // Unset means ready (discovery.k8s.io/v1).
            if (value_at(each, "/conditions/ready", true)) ++one.ready;
        }
    }
    into.extender = std::move(one);
}

/// All objects of the kind; none if the user may not list them, which `hidden` then notes, or if
/// the kind is not served.
template <class T>
asio::awaitable<result<std::vector<std::shared_ptr<const T>>>> read_all(
    session& in, const kube::resource_type& type, std::string ns, std::set<std::string>& hidden,
    kube::list_options how = {}) {
    std::vector<std::shared_ptr<const T>> out;
    auto list = co_await kube::live_list<T>(in.api, type, std::move(ns), std::move(how));
    if (!list && list.error().code == errc::not_found) co_return out;
    if (!list && list.error().code == errc::forbidden) {
        hidden.emplace(type.plural);
        co_return out;
    }
    if (!list) co_return std::unexpected(std::move(list).error());
    for (auto& each : *list) out.push_back(std::make_shared<const T>(std::move(each)));
    co_return out;
}

asio::awaitable<result<void>> read_objects(session& in, facts& into) {
    const auto ns = in.listed_namespace();
    auto testbeds = co_await read_all<model::testbed>(in, types::testbed, ns, into.hidden);
    if (!testbeds) co_return std::unexpected(std::move(testbeds).error());
    auto jobs = co_await read_all<model::batchjob>(in, types::batchjob, ns, into.hidden);
    if (!jobs) co_return std::unexpected(std::move(jobs).error());
    auto schedulings = co_await read_all<model::scheduling>(in, types::scheduling, ns, into.hidden);
    if (!schedulings) co_return std::unexpected(std::move(schedulings).error());
    kube::list_options marked;
    marked.label_selector = std::string(model::names::testbed);
    auto pods = co_await read_all<model::pod>(in, types::pod, ns, into.hidden, marked);
    if (!pods) co_return std::unexpected(std::move(pods).error());
    into.testbeds = std::move(*testbeds);
    into.jobs = std::move(*jobs);
    into.schedulings = std::move(*schedulings);
    into.pods = std::move(*pods);

    auto nodes = co_await kube::live_list<model::node>(in.api, types::node, "");
    if (nodes) {
        into.nodes_seen = presence::there;
        for (auto& each : *nodes) {
            into.nodes.push_back(std::make_shared<const model::node>(std::move(each)));
        }
    }
    const auto namespaces =
        co_await kube::live_list<model::metadata_only>(in.api, types::name_space, "");
    if (namespaces) {
        into.namespaces_seen = presence::there;
        for (const auto& each : *namespaces) {
            if (each.metadata.deleting()) into.ending_namespaces.insert(each.metadata.name);
        }
    }
    co_return result<void>();
}

/// Each namespace is listed once.
asio::awaitable<void> read_accounts(session& in, facts& into) {
    std::map<std::string, std::optional<std::set<std::string>>> known;
    for (const auto& job : into.jobs) {
        const auto account = account_of(*job);
        if (account.name.empty() || into.accounts.contains(account.text())) continue;
        if (!known.contains(account.namespace_)) {
            auto& names = known[account.namespace_];
            const auto list = co_await kube::live_list<model::metadata_only>(in.api, accounts,
                                                                             account.namespace_);
            if (list) {
                names.emplace();
                for (const auto& each : *list) names->insert(each.metadata.name);
            }
        }
        const auto& names = known.at(account.namespace_);
        auto& is = into.accounts[account.text()];
        is = presence::hidden;
        if (names) is = names->contains(account.name) ? presence::there : presence::absent;
    }
}

}  // namespace

asio::awaitable<result<facts>> gather(session& in) {
    facts out;
    out.operators_namespace = in.flags.operators_namespace;
    // Leases are compared with the server's time.
    auto answer = co_await in.api.wire().send(kube::request("GET", "/version"),
                                              in.time.now() + in.flags.request_timeout);
    if (!answer) co_return std::unexpected(std::move(answer).error());
    out.now = answer->date.value_or(in.now());
    if (auto known = kube::parse_server_version(answer->body)) out.server = *known;
    co_await read_definitions(in, out);
    co_await read_rights(in, out);
    co_await read_operators(in, out);
    co_await read_classes(in, out);
    co_await read_policies(in, out);
    co_await read_backends(in, out);
    co_await read_extender(in, out);
    const auto done = co_await read_objects(in, out);
    if (!done) co_return std::unexpected(done.error());
    co_await read_accounts(in, out);
    co_return out;
}

}  // namespace esi::kubectl::doctor
