#include "kube/trouble.h"

#include <fmt/format.h>

#include <utility>

namespace esi::kube {

namespace {

/// "schedulings.esi.tu-berlin.de", as `kubectl auth can-i` takes it.
std::string full_name(const resource_type& type) {
    if (type.group.empty()) return std::string(type.plural);
    return fmt::format("{}.{}", type.plural, type.group);
}

std::string what_is_missing(const trouble& of) {
    if (of.type == &types::lease) {
        return fmt::format(
            "create the namespace (kubectl create namespace {}), or name another one by "
            "--leader-elect-namespace",
            of.ns);
    }
    if (of.type->group == types::testbed.group) {
        return "install ESI's kinds (kubectl apply -f crds/), or the chart";
    }
    return "install what brings this kind, its CustomResourceDefinition above all";
}

std::string right_that_is_missing(const trouble& of) {
    return fmt::format("grant this operator the verb {} on {} by a {}", of.verb,
                       full_name(*of.type),
                       of.ns.empty() ? "ClusterRole" : "Role in namespace " + of.ns);
}

}  // namespace

std::string_view status_of(errc code) {
    switch (code) {
        case errc::unauthorized:
            return "401";
        case errc::forbidden:
            return "403";
        case errc::not_found:
            return "404";
        case errc::conflict:
        case errc::already_exists:
            return "409";
        case errc::gone:
            return "410";
        case errc::too_many_requests:
            return "429";
        case errc::bad_request:
        case errc::invalid:
            return "4xx";
        case errc::server:
            return "5xx";
        default:
            return "<error>";
    }
}

bool trouble::refused() const {
    return code == errc::unauthorized || code == errc::forbidden || code == errc::not_found;
}

std::string trouble::remedy() const {
    if (code == errc::not_found) return what_is_missing(*this);
    if (code == errc::forbidden) return right_that_is_missing(*this);
    if (code == errc::unauthorized) {
        return "give this operator a valid token or client certificate (the kubeconfig, or the "
               "service account of its pod)";
    }
    return {};
}

std::string trouble::text() const {
    auto out = fmt::format("{} {}", verb, full_name(*type));
    if (!ns.empty()) out += " in namespace " + ns;
    const auto status = status_of(code);
    out +=
        status == "<error>" ? ": the API server does not answer" : fmt::format(": HTTP {}", status);
    if (const auto mends = remedy(); !mends.empty()) out += ": " + mends;
    return out;
}

bool trouble_memory::failed(trouble now) {
    const bool news = !present_ || present_->code != now.code;
    if (present_) {
        now.since = present_->since;
        now.aside = present_->aside;
    }
    present_ = std::move(now);
    return news;
}

bool trouble_memory::mended() { return std::exchange(present_, std::nullopt).has_value(); }

}  // namespace esi::kube
