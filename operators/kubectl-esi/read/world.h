// The objects by which the planner decides, read with the user's own rights: of all namespaces if
// the user may list them, else of the relevant ones.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "kube/watch/live_list.h"
#include "kubectl-esi/read/session.h"
#include "model/kept.h"
#include "scheduling/answers/snapshot.h"

namespace esi::kubectl {

struct world {
    scheduling::answers::snapshot objects;
    /// Sentences about what could not be read: the answer may lack existing objects.
    std::vector<std::string> hidden;
};

/// The part of the cluster that a question concerns.
struct extent {
    /// These namespaces are read even if the user may not list all namespaces.
    std::set<std::string> namespaces;
    /// True: ghosts and job pods are read, and the slices of large Testbeds.
    bool pods = true;
    /// The pods and slices of this Testbed alone; an empty name: of all Testbeds.
    model::object_key testbed = {};
};

/// Missing rights in a namespace are no error; the error is the first one of another kind.
asio::awaitable<result<world>> read_world(session& in, extent what);

/// Reads one object; errc::not_found says how it can be found.
template <class T>
asio::awaitable<result<std::shared_ptr<const T>>> read_one(session& in,
                                                           const kube::resource_type& type,
                                                           model::object_key key) {
    auto text = co_await in.api.get(type, key.namespace_, key.name);
    if (!text) co_return std::unexpected(std::move(text).error());
    auto out = model::decode<T>(*text, type.kind);
    if (!out) co_return std::unexpected(std::move(out).error());
    co_return std::make_shared<const T>(std::move(*out));
}

/// Removes from a listed object what no command shows and what may be a megabyte of each.
template <class T>
void trim_listed(T& of) {
    if constexpr (std::is_same_v<T, model::batchjob>) model::drop_application_specs(of);
}

/// Lists the objects in the namespace of the flags.
template <class T>
asio::awaitable<result<std::vector<std::shared_ptr<const T>>>> read_listed(
    session& in, const kube::resource_type& type,
    kube::list_options options = kube::list_options()) {
    auto list = co_await kube::paged_list<T>(in.api, type, in.listed_namespace(),
                                             std::move(options), trim_listed<T>);
    if (!list) co_return std::unexpected(std::move(list).error());
    std::vector<std::shared_ptr<const T>> out;
    for (auto& each : *list) out.push_back(std::make_shared<const T>(std::move(each)));
    co_return out;
}

/// Lists the objects of all namespaces; if the user may not, those of `namespaces`, and `hidden`
/// reports it.
template <class T>
asio::awaitable<result<std::vector<T>>> read_widely(session& in, const kube::resource_type& type,
                                                    std::set<std::string> namespaces,
                                                    kube::list_options options,
                                                    std::vector<std::string>& hidden) {
    auto all = co_await kube::paged_list<T>(in.api, type, "", options, trim_listed<T>);
    if (all || all.error().code != errc::forbidden) co_return all;
    std::vector<T> out;
    std::string seen;
    for (const auto& ns : namespaces) {
        auto part = co_await kube::paged_list<T>(in.api, type, ns, options, trim_listed<T>);
        if (!part && part.error().code == errc::forbidden) continue;
        if (!part) co_return part;
        std::ranges::move(*part, std::back_inserter(out));
        seen += (seen.empty() ? "" : ", ") + ns;
    }
    hidden.push_back("you may not list " + std::string(type.plural) + " of " +
                     (seen.empty() ? "any namespace" : "namespaces other than " + seen) +
                     ": what they have or wait for is not in this answer");
    co_return out;
}

/// The text of `hidden` for stderr: one line each.
std::string notes_text(const std::vector<std::string>& hidden);

}  // namespace esi::kubectl
