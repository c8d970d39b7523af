// Places that callers hold for a while (streams, waits), a fixed number for all. If all are taken,
// the tenant that has the most loses one to a tenant that has fewer: a tenant alone may have all of
// them, and locks out no other. No I/O; memory is bounded by the places.
#pragma once

#include <cstddef>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace esi::interface::v1 {

class shared_places {
public:
    struct bounds {
        int of_caller = 0;
        int of_all = 0;
    };

    explicit shared_places(bounds most) : most_(most) {}
    shared_places(const shared_places&) = delete;
    shared_places& operator=(const shared_places&) = delete;

    /// Until it is destroyed, or lost. The table outlives it.
    class place {
    public:
        ~place();
        place(const place&) = delete;
        place& operator=(const place&) = delete;

        /// Another tenant has it now: the holder has to end its use.
        bool lost() const { return lost_; }
        /// Called when it is lost, within the take() of another caller: it may only wake a task.
        void when_lost(std::function<void()> tell) { tell_ = std::move(tell); }

    private:
        friend class shared_places;
        place(shared_places& of, std::string_view caller) : of_(of), caller_(caller) {}

        shared_places& of_;
        std::string caller_;
        std::list<place*>::iterator at_;
        std::function<void()> tell_;
        bool lost_ = false;
    };

    /// Null: the caller has as many as one may have, or all are taken and no tenant has enough more
    /// to lose one.
    std::unique_ptr<place> take(std::string_view caller);
    /// Places that are held and not lost.
    int size() const { return all_; }
    /// How often one was lost.
    int lost() const { return lost_; }

private:
    struct tenant {
        /// In the order in which they came.
        std::list<place*> places;
        std::map<std::string, int, std::less<>> by_caller;
        int count() const { return static_cast<int>(places.size()); }
    };
    bool make_room(int for_one_with);
    void leave(place& which);

    bounds most_;
    int all_ = 0;
    int lost_ = 0;
    /// Only tenants that hold some.
    std::map<std::string, tenant, std::less<>> tenants_;
};

}  // namespace esi::interface::v1
