// The API server's causes for a refused object, as faults with JSON pointers.
#pragma once

#include <expected>
#include <string>
#include <string_view>

#include "interface/v1/validation.h"
#include "kube/client.h"

namespace esi::interface::v1 {

/// "spec.queueBased[0].name" -> "/spec/queueBased/0/name"; empty for what names no field. Pure.
std::string pointer_of_field(std::string_view field);

/// The causes of a Status object; none if the text is no Status. Pure.
faults faults_of_status(std::string_view status_json);

/// Sends one request as kube::client does, and keeps the answer that refuses it.
class refusal_reader final : public kube::transport {
public:
    explicit refusal_reader(kube::transport& under) : under_(under) {}

    asio::awaitable<result<kube::response>> send(kube::request what, steady_time deadline) override;
    asio::awaitable<result<std::unique_ptr<kube::stream>>> open(kube::request what,
                                                                steady_time deadline) override;
    /// Faults of the last answer of 400 or 422.
    const faults& found() const { return found_; }

private:
    kube::transport& under_;
    faults found_;
};

/// The problem for a write that the API server refused, with its faults if it names any.
http::problem_details problem_of_write(const error& why, const faults& found);

}  // namespace esi::interface::v1
