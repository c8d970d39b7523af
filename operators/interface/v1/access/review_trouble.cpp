#include "interface/v1/access/review_trouble.h"

#include <fmt/format.h>

#include "base/log.h"

namespace esi::interface::v1 {

namespace {

constexpr auto log_pause = std::chrono::minutes(1);
constexpr int retry_soon = 2;
constexpr int retry_when_granted = 30;

}  // namespace

http::problem_details review_trouble::failed(const kube::resource_type& type, const error& why,
                                             steady_time now) {
    const auto resource = fmt::format("{}.{}", type.plural, type.group);
    const bool no_right = why.code == errc::forbidden;
    http::problem_details out;
    out.status = 503;
    out.retryable = true;
    if (no_right) {
        text_ = fmt::format(
            "this operator may not create {}, so /api/v1 answers 503; its ClusterRole has to have "
            "that right, as the chart gives it",
            resource);
        out.detail = fmt::format(
            "rights cannot be asked for: this operator may not create {}; its ClusterRole has to "
            "have that right",
            resource);
        out.retry_after_seconds = retry_when_granted;
    } else {
        text_ = fmt::format("the API server answers no {}, so /api/v1 answers 503", resource);
        out.detail =
            fmt::format("rights cannot be asked for: the API server answers no {}", resource);
        out.retry_after_seconds =
            why.retry_after ? static_cast<int>(why.retry_after->count()) : retry_soon;
    }
    if (!told_ || now - *told_ >= log_pause) {
        told_ = now;
        log::error(
            "/api/v1 cannot ask for rights",
            {{"review", resource},
             {"error", why.text},
             {"remedy", no_right ? fmt::format("grant create on {} to this operator's "
                                               "service account (ClusterRole esi-scheduling)",
                                               resource)
                                 : std::string()}});
    }
    return out;
}

}  // namespace esi::interface::v1
