// Whether the API server answers reviews: logged when that changes, and shown in /readyz.
#pragma once

#include <optional>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "http/problem.h"
#include "kube/resource.h"

namespace esi::interface::v1 {

class review_trouble {
public:
    /// The API server gave no answer to a review of `type`: logged at most once a minute. `why` may
    /// be logged. Returns the answer for the caller.
    http::problem_details failed(const kube::resource_type& type, const error& why,
                                 steady_time now);
    void answered() { text_.clear(); }
    /// In ESI's own words; empty: nothing is wrong.
    const std::string& text() const { return text_; }

private:
    std::string text_;
    std::optional<steady_time> told_;
};

}  // namespace esi::interface::v1
