// Which Events are written: the first of its sort at once, a repeat as a series, later repeats
// counted and written now and then (client-go tools/events). I/O-free. Owned by the event_recorder;
// bounded: above the limit the least recently seen sort of the namespace with the most is
// forgotten.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "model/meta.h"

namespace esi::controller {

/// One event, as given to the recorder.
struct event_note {
    std::string type;  ///< Normal, Warning
    std::string reason;
    std::string action;
    std::string note;
    /// regarding
    std::string api_version;
    std::string kind;
    model::object_key subject;
    std::string uid;
    /// related, the other object of the step; an empty kind where there is none.
    std::string related_api_version{};
    std::string related_kind{};
    model::object_key related{};
    std::string related_uid{};
};

/// A write that is due.
struct event_write {
    /// False: create the Event. True: patch the series of one that exists.
    bool series_only = false;
    /// Name of the Event object.
    std::string name;
    event_note what;
    wall_time first_seen{};
    /// 0: a single event without series.
    int count = 0;
    wall_time last_seen{};
};

class event_series {
public:
    /// `name`: makes a fresh object name for an event about the object of this name.
    explicit event_series(std::function<std::string(const std::string& subject)> name,
                          std::size_t limit = 2048);

    /// Adds an event. Returns what is to be written for it now, if anything.
    std::optional<event_write> add(event_note note, steady_time now, wall_time wall);
    /// Series that went quiet (6 min) or ran on (30 min): to be written now.
    std::vector<event_write> due(steady_time now);
    /// When due() may have something; nothing when no series is under way.
    std::optional<steady_time> next_due() const;
    std::size_t size() const { return sorts_.size(); }

private:
    /// All that makes two events of one sort: another note makes another event.
    using sort = std::vector<std::string>;
    struct entry {
        std::string name;
        event_note what;
        wall_time first_seen{};
        wall_time last_seen{};
        int count = 1;
        int written = 1;
        steady_time heard{};
        steady_time wrote{};
    };

    steady_time due_at(const entry& at) const;
    static event_write series_write(const entry& at);
    void forget_oldest();

    std::function<std::string(const std::string&)> name_;
    std::size_t limit_;
    std::map<sort, entry> sorts_;
};

}  // namespace esi::controller
