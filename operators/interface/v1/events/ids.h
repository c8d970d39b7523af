// How far a client has read: for each kind the resourceVersion up to which it knows all changes,
// and the id of an event that says so. Pure.
//
// An id names a version of each kind, because it has to resume a stream of several kinds on any
// replica without losing or repeating a change. A replica follows each kind by a watch of its own,
// and one watch may be ahead of another. A client that got the Testbed's change 124 may not have
// got the job's change 110 yet: resumed after the one number 124 it would never get it; resumed
// after 109 it would get 124 twice. Nor can the numbers of two kinds be compared at all if their
// objects live in different stores. So an id is "t124.j109.s98", and each kind continues from its
// own version.
//
// An id covers the kinds of its stream, and begins with a check of namespaces and labels if the
// stream does not have all of them ("n1f0c.j109"): with another selection a client would not know
// the earlier state, so the id is not valid for it. With --namespace each namespace has a watch and
// a version of its own ("t124_90"). For clients an id is opaque.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kube/resource.h"

namespace esi::interface::v1::events {

enum class kind { testbed, batchjob, scheduling };
inline constexpr kind all_kinds[] = {kind::testbed, kind::batchjob, kind::scheduling};
const kube::resource_type& type_of(kind of);
/// As a query names it: "testbeds", "jobs", "schedulings".
std::string_view word_of(kind of);
std::optional<kind> kind_of_word(std::string_view word);

/// A resourceVersion; 0: none.
using version = std::uint64_t;
/// 0 if the text is no decimal number.
version version_of(std::string_view text);

/// By feed.
using positions = std::vector<version>;
/// Raises each position to the greater of the two.
void raise(positions& to, const positions& other);
bool at_least(const positions& have, const positions& want);

/// The watches of a process: one of each kind in each namespace, or in all of them.
class feed_table {
public:
    explicit feed_table(std::vector<std::string> namespaces);

    std::size_t size() const { return 3 * namespaces_.size(); }
    kind kind_of(std::size_t feed) const { return all_kinds[feed / namespaces_.size()]; }
    /// Empty: all.
    const std::string& namespace_of(std::size_t feed) const {
        return namespaces_[feed % namespaces_.size()];
    }
    /// Nothing if that is not watched.
    std::optional<std::size_t> find(kind of, std::string_view ns) const;
    /// Feeds of these kinds; all namespaces if `ns` is empty.
    std::vector<std::size_t> select(const std::vector<kind>& kinds, std::string_view ns) const;

    const std::vector<std::string>& namespaces() const { return namespaces_; }
    /// Only some namespaces are watched.
    bool limited() const { return !namespaces_.front().empty(); }

private:
    std::vector<std::string> namespaces_;
};

/// The ids of a stream of some kinds, in one namespace or (empty) in all of them, of objects that
/// `labels` selects (as it was asked for; empty: all).
class id_form {
public:
    id_form(const feed_table& of, const std::vector<kind>& kinds, std::string_view ns,
            std::string_view labels = {});

    const std::vector<std::size_t>& feeds() const { return feeds_; }
    std::string id(const positions& of) const;
    /// Nothing if it is no id of such a stream. Other feeds are 0.
    std::optional<positions> parse(std::string_view id) const;

private:
    struct part {
        std::size_t feed;
        /// The text before its version: ".j", "_".
        std::string before;
    };
    std::size_t all_;
    std::vector<std::size_t> feeds_;
    std::vector<part> parts_;
};

}  // namespace esi::interface::v1::events
