// The metadata of every Kubernetes object, trimmed to what ESI reads.
#pragma once

#include <boost/describe.hpp>
#include <compare>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace esi::model {

using string_map = std::map<std::string, std::string, std::less<>>;

/// A point in time as Kubernetes writes it: RFC 3339, to the microsecond where the source has it.
struct timestamp {
    wall_time value{};

    /// A time that its offset moves out of the years 0 to 9999, which cannot be written, becomes
    /// the nearest that can.
    static result<timestamp> parse(std::string_view text);
    /// "2026-11-21T09:34:07.149160Z"
    std::string micro() const;
    /// "2026-11-21T09:34:07Z"
    std::string whole_seconds() const;
    auto operator<=>(const timestamp&) const = default;
};

/// Part of a JSON object that is passed on unread; kept as minified text.
struct raw_json {
    std::string text;
    bool operator==(const raw_json&) const = default;
};

/// Namespace and name; the key of an object in stores and queues.
struct object_key {
    std::string namespace_;
    std::string name;

    auto operator<=>(const object_key&) const = default;
    /// "namespace/name", or "name" for cluster-scoped objects.
    std::string text() const;
    static object_key from_text(std::string_view text);
};
BOOST_DESCRIBE_STRUCT(object_key, (), (namespace_, name))

// Bounds on what ESI reads of an object that any client may write. The API server bounds few of
// these, and an object that has more is one that ESI cannot read (object_meta::undecodable).
/// Labels. Nodes with discovered features have some two hundred.
inline constexpr std::size_t most_labels = 1024;
/// Annotations with ESI's prefix.
inline constexpr std::size_t most_annotations = 64;
/// Bytes of their values together; a list of all slots that a job can have takes 20 KB.
inline constexpr std::size_t most_annotation_bytes = 32 * 1024;
inline constexpr std::size_t most_owners = 64;
/// Bytes of the name of another object: the four texts of an owner, a pod's scheduler.
inline constexpr std::size_t most_name_bytes = 1024;
/// Kinds of resources that a pod requests. It may name many with a request of zero.
inline constexpr std::size_t most_requests = 64;
/// Scheduling gates; those of ESI are among them in any case.
inline constexpr std::size_t most_gates = 16;
/// Entries of each other list and map of a pod or node.
inline constexpr std::size_t most_entries = 512;
/// Bytes of a rule that is kept as text: affinity, topology spread.
inline constexpr std::size_t most_rule_text = 64 * 1024;

struct owner_reference {
    std::string api_version;
    std::string kind;
    std::string name;
    std::string uid;
    bool controller = false;

    bool operator==(const owner_reference&) const = default;
};
BOOST_DESCRIBE_STRUCT(owner_reference, (), (api_version, kind, name, uid, controller))

struct object_meta {
    std::string name;
    std::string namespace_;
    std::string uid;
    std::string resource_version;
    std::int64_t generation = 0;
    std::optional<timestamp> creation_timestamp;
    std::optional<timestamp> deletion_timestamp;
    string_map labels;
    /// Only those with the prefix esi.tu-berlin.de/ are kept, and those of kube-batch by which a
    /// pod names its group. If there are more than most_annotations, only those that ESI writes are
    /// kept, and none that would make them larger than most_annotation_bytes.
    string_map annotations;
    std::vector<owner_reference> owner_references;
    std::vector<std::string> finalizers;
    /// Why ESI cannot read the whole object, which the API server has accepted; empty if it can.
    /// Unreadable parts count as absent.
    std::string undecodable;
    /// The same as a sentence for conditions.
    std::string undecodable_text() const { return "ESI cannot read the object: " + undecodable; }

    object_key key() const { return {namespace_, name}; }
    bool deleting() const { return deletion_timestamp.has_value(); }
    /// Empty if there is none.
    std::string_view label(std::string_view key) const;
    std::string_view annotation(std::string_view key) const;
    const owner_reference* controller_owner() const;
    bool has_finalizer(std::string_view name) const;
};
BOOST_DESCRIBE_STRUCT(object_meta, (),
                      (name, namespace_, uid, resource_version, generation, creation_timestamp,
                       deletion_timestamp, labels, annotations, owner_references, finalizers))

/// An object of any kind of which only the metadata is known: PartialObjectMetadata, or a whole
/// object of which nothing else is read.
struct metadata_only {
    object_meta metadata;
};
BOOST_DESCRIBE_STRUCT(metadata_only, (), (metadata))

/// metav1.Condition. lastTransitionTime moves with status only (Kubernetes API conventions).
struct condition {
    std::string type;
    std::string status;  ///< True, False, Unknown
    std::optional<std::int64_t> observed_generation;
    std::optional<timestamp> last_transition_time;
    std::string reason;
    std::string message;

    bool operator==(const condition&) const = default;
};
BOOST_DESCRIBE_STRUCT(condition, (),
                      (type, status, observed_generation, last_transition_time, reason, message))

/// Sets one condition; keeps lastTransitionTime if the status did not change. Reason must be
/// CamelCase and not empty; the message is cut at 4,096 bytes.
void set_condition(std::vector<condition>& list, std::string_view type, std::string_view status,
                   std::string_view reason, std::string_view message, std::int64_t generation,
                   wall_time now);
/// Removes the condition of this type, if there is one.
void remove_condition(std::vector<condition>& list, std::string_view type);
const condition* find_condition(const std::vector<condition>& list, std::string_view type);

/// Whether an object can have this name. Authors of specs may write another text, which must not
/// end up in a path.
bool may_exist(const object_key& key);

/// Order by age, then uid: the older goes first.
bool older(const object_meta& a, const object_meta& b);

/// Compares two resourceVersions of ONE resource (numeric since KEP-5504). Texts that are not
/// decimal numbers compare as "not newer".
bool version_at_least(std::string_view have, std::string_view want);

}  // namespace esi::model
