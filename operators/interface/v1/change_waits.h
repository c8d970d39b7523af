// Requests that wait for a change: blocking queries and waitFor. Changes of the caches wake them;
// there is no polling. Callers bound their number (access/quota.h). Owned by the surface; used on
// the process' loop.
#pragma once

#include <algorithm>
#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/task_group.h"
#include "interface/v1/wire/print.h"
#include "kube/watch/store.h"

namespace esi::interface::v1 {

/// A resourceVersion as a number; 0 if it is none.
std::uint64_t number_of_version(std::string_view version);

/// The place of a wait: one object, all of a namespace (empty name), all of a kind (both empty).
struct wait_place {
    std::string_view kind;
    model::object_key key;
    auto operator<=>(const wait_place&) const = default;
};

class change_waits {
public:
    enum class outcome {
        due,
        time_up,
        left,      ///< the caller has gone
        stopping,  ///< the process ends
    };

    /// `namespaces`: the watched ones; none: all.
    change_waits(asio::any_io_executor executor, clock& time, std::vector<std::string> namespaces)
        : executor_(std::move(executor)), time_(time), namespaces_(std::move(namespaces)) {}
    change_waits(const change_waits&) = delete;
    change_waits& operator=(const change_waits&) = delete;

    /// Call before the first object arrives. This and `of` outlive each other's use.
    template <class T>
    void follow(kube::store<T>& of) {
        of.on_change([this, &of](const kube::change<T>& what) {
            const auto& any = what.after ? what.after : what.before;
            // A deletion gets its version later: the version is beyond all that was shown before.
            const auto version = what.after
                                     ? number_of_version(what.after->metadata.resource_version)
                                     : shown_version(of, any->metadata.namespace_) + 1;
            changed({type_of<T>().kind, any->metadata.key()}, version);
        });
    }

    /// Whether something of the place (a namespace, or a kind) has changed since `version`, or may
    /// have: changes before this process began are unknown.
    template <class T>
    bool changed_since(const kube::store<T>& of, const std::string& ns, std::uint64_t version) {
        const auto kind = type_of<T>().kind;
        const auto began = floors_.try_emplace(kind, shown_version(of, "")).first->second;
        if (version < began) return true;
        const auto found = last_.find({kind, {ns, ""}});
        return found != last_.end() && found->second > version;
    }

    /// Waits until `is_due` holds, which is asked at once, and after each change at the place.
    /// `has_left` (it may be empty) is asked every `look_for_caller`.
    asio::awaitable<outcome> until(wait_place at, std::function<bool()> is_due,
                                   steady_time deadline, std::function<bool()> has_left = nullptr);
    static constexpr seconds look_for_caller{2};
    /// Makes the waits at the place check again whether they are due.
    void ring(const wait_place& at);
    /// Ends all waits.
    void stop();
    std::size_t size() const { return waiting_.size(); }

    /// The version that the watch has shown of the kind in that namespace, or in all of them.
    template <class T>
    std::uint64_t shown_version(const kube::store<T>& of, const std::string& ns) const {
        if (const auto shown = of.version(ns)) return number_of_version(*shown);
        // One watch for each namespace.
        std::uint64_t out = 0;
        for (const auto& each : namespaces_) {
            out = std::max(out, number_of_version(of.version(each).value_or("")));
        }
        return out;
    }

private:
    void changed(const wait_place& at, std::uint64_t version);

    asio::any_io_executor executor_;
    clock& time_;
    std::vector<std::string> namespaces_;
    std::multimap<wait_place, notifier*> waiting_;
    /// The version of the last change, by namespace, and for each kind as a whole.
    std::map<wait_place, std::uint64_t> last_;
    /// By kind: the version shown when this was first asked.
    std::map<std::string_view, std::uint64_t> floors_;
    bool stopping_ = false;
};

}  // namespace esi::interface::v1
