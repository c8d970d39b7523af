// The operations that answer questions about plans: preview, explain, matrix. Nothing is written.
#pragma once

#include <optional>

#include "interface/v1/job_explanation.h"
#include "interface/v1/sources.h"
#include "interface/v1/turns.h"

namespace esi::interface::v1 {

class questions {
public:
    explicit questions(const sources& from) : from_(from), turns_(from.executor) {}
    questions(const questions&) = delete;
    questions& operator=(const questions&) = delete;

    asio::awaitable<answer> preview(http::server_request from);
    asio::awaitable<answer> explain_scheduling(http::server_request from);
    asio::awaitable<answer> explain_job(http::server_request from);
    asio::awaitable<answer> matrix(http::server_request from);

private:
    using explained = std::expected<scheduling::answers::explanation, http::problem_details>;
    asio::awaitable<std::unique_ptr<turns::turn>> take_turn(const http::server_request& from);
    asio::awaitable<explained> explain(const http::server_request& from,
                                       std::shared_ptr<const model::scheduling> of,
                                       std::optional<model::object_key> only);

    const sources& from_;
    turns turns_;
};

}  // namespace esi::interface::v1
