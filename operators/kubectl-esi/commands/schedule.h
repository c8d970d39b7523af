// Creates Schedulings out of files, and previews their result.
#pragma once

#include <string>
#include <string_view>

#include "kubectl-esi/read/session.h"
#include "scheduling/answers/preview.h"

namespace esi::kubectl {

struct schedule_options {
    std::string file;  ///< "-": stdin
    bool preview = false;
    bool dry_run = false;
    bool update = false;
    /// Waits until each of them has ended, at most for this long.
    bool wait = false;
    seconds timeout{3600};
    /// --exit-code: 3 if a preview starts nothing.
    bool exit_code = false;
};

// The next two are pure.

/// `outcome`: "succeeded" or "failed"; the latter also reports the problems.
std::string end_text(const model::object_key& name, const model::scheduling_status& of,
                     std::string_view outcome);
std::string preview_text(const model::object_key& name, const scheduling::answers::preview& of,
                         bool wide, const shown::look& as, wall_time now);

asio::awaitable<result<reply>> schedule(session& in, schedule_options how);

}  // namespace esi::kubectl
