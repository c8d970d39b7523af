// The next step of a reflector: which list, which watch, from which resourceVersion, after which
// pause. I/O-free: resume(event) -> step; the adapter (reflector.cpp) sends, reads and feeds the
// sink. One per reflector, for its whole life. Never holds objects.
//
// The rungs, as client-go's reflector climbs them: streaming list (KEP-3157), paged list and watch
// where that is refused; the first list is a quorum read, a relist asks for "not older than the
// last version seen", and only when that is gone or unknown to the server for a quorum read again.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <variant>

#include "base/clock.h"
#include "base/result.h"

namespace esi::kube {

namespace ladder {

struct started {};
/// The pause of the last step is over.
struct waited {};
/// The list or watch of the last step got no answer, or a status >= 400.
struct refused {
    error why;
};
/// One page of a list, its items already handed to the sink.
struct page {
    std::string version;
    std::string continue_token;
};
/// The stream of the last step is open.
struct opened {};
enum class change { added, modified, deleted };
/// One change, already handed to the sink. An empty version is not recorded.
struct object {
    change what;
    std::string version;
};
struct bookmark {
    std::string version;
    /// Annotation k8s.io/initial-events-end.
    bool initial_events_end = false;
};
/// A line that was reported and skipped.
struct skipped {};
/// An ERROR event.
struct error_event {
    error why;
};
/// The orderly end of the stream.
struct closed {};
/// Reading failed: reset, idle limit, a line too long.
struct broken {
    error why;
};

using event = std::variant<started, waited, refused, page, opened, object, bookmark, skipped,
                           error_event, closed, broken>;

}  // namespace ladder

struct ladder_step {
    enum class kind {
        wait,   ///< for `delay`
        list,   ///< `version`, `continue_token`, `limit`, `answer_limit`
        watch,  ///< `version`, `initial_events`, `timeout`; an older stream is dropped
        read,   ///< the next event of the stream, until `read_deadline`
    };
    kind what = kind::wait;
    steady_time::duration delay{};
    /// resourceVersion of the request; empty: left out (most recent).
    std::string version;
    std::string continue_token;
    int limit = 0;
    /// Bytes of the answer to a list, at most.
    std::size_t answer_limit = 0;
    /// sendInitialEvents=true, resourceVersionMatch=NotOlderThan.
    bool initial_events = false;
    seconds timeout{};
    steady_time read_deadline{};

    // For the sink, in this order, before the step is taken.
    bool end_list = false;
    /// Not empty: the newest version shown.
    std::string seen;
    bool begin_list = false;
};

class watch_ladder {
public:
    /// `random`: uniform in [0, 1).
    explicit watch_ladder(std::function<double()> random);

    ladder_step resume(const ladder::event& event, steady_time now);

    /// False after a 404 of the kind, until a list or watch is answered again.
    bool served() const { return served_; }
    bool streaming() const { return streaming_; }
    /// A list is under way, as pages or as the first events of a stream.
    bool listing() const { return phase_ != phase::watching; }

private:
    enum class phase { listing_stream, listing_pages, watching };

    ladder_step on(const ladder::started&, steady_time now);
    ladder_step on(const ladder::waited&, steady_time now);
    ladder_step on(const ladder::refused& event, steady_time now);
    ladder_step on(const ladder::page& event, steady_time now);
    ladder_step on(const ladder::opened&, steady_time now);
    ladder_step on(const ladder::object& event, steady_time now);
    ladder_step on(const ladder::bookmark& event, steady_time now);
    ladder_step on(const ladder::skipped&, steady_time now);
    ladder_step on(const ladder::error_event& event, steady_time now);
    ladder_step on(const ladder::closed&, steady_time now);
    ladder_step on(const ladder::broken& event, steady_time now);

    ladder_step list_failed(const error& why, steady_time now);
    ladder_step list_too_long(const error& why, steady_time now);
    ladder_step page(std::string continue_token);
    ladder_step relist();
    ladder_step rewatch();
    ladder_step read(steady_time now) const;
    ladder_step pause(steady_time now, bool relist_then, const error* why = nullptr);
    void listed(std::string version);
    seconds watch_timeout();

    std::function<double()> random_;
    phase phase_ = phase::listing_stream;
    std::string version_;
    bool version_unusable_ = false;  ///< the server has refused version_ for a list
    bool streaming_ = true;
    bool paging_ = true;
    bool listing_pages_under_way_ = false;  ///< a continue token was sent
    bool by_pages_ = false;                 ///< the list was asked for with a limit
    int page_size_ = 0;
    std::string continue_token_;  ///< of the page that was asked for last
    bool relist_after_wait_ = true;
    bool served_ = true;
    int streams_without_end_ = 0;
    int internal_errors_ = 0;

    seconds timeout_{};
    steady_time opened_at_{};
    bool heard_event_ = false;

    int failures_ = 0;
    steady_time last_failure_{};
};

}  // namespace esi::kube
