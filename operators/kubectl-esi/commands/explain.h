// Explains why a Scheduling, a job or a pod waits, with the operator's own planner.
#pragma once

#include <string>

#include "kubectl-esi/read/session.h"
#include "scheduling/answers/explanation.h"
#include "scheduling/answers/waiting_pod.h"

namespace esi::kubectl {

/// Pure.
std::string explanation_text(const scheduling::answers::explanation& of, bool wide,
                             const shown::look& as, wall_time now);
/// Pure.
std::string waiting_pod_text(const scheduling::answers::waiting_pod& of, wall_time now);

/// A claim that the API server refuses is known to the operator only: the blocker of a claim that
/// waits gets the reason and the words of the Scheduling's status. Pure.
void repeat_refusal(const model::scheduling& of, scheduling::answers::explanation& why);

struct explain_options {
    /// --exit-code: 3 if it is blocked.
    bool exit_code = false;
};

asio::awaitable<result<reply>> explain_scheduling(session& in, std::string name,
                                                  explain_options how);
asio::awaitable<result<reply>> explain_job(session& in, std::string name, explain_options how);
asio::awaitable<result<reply>> explain_pod(session& in, std::string name, explain_options how);

}  // namespace esi::kubectl
