#include "model/packed.h"

#include <algorithm>
#include <array>
#include <boost/pfr.hpp>
#include <charconv>
#include <cstring>
#include <type_traits>

#include "model/cluster.h"
#include "model/names.h"

namespace esi::model {

namespace {

// --- numbers: seven bits in each byte, the lowest first ---

void put(std::string& to, std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) to += static_cast<char>(value | 0x80);
    to += static_cast<char>(value);
}

std::uint64_t take_number(std::string_view& from) {
    std::uint64_t out = 0;
    for (unsigned shift = 0; shift < 64 && !from.empty(); shift += 7) {
        const auto byte = static_cast<unsigned char>(from.front());
        from.remove_prefix(1);
        out |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
        if (byte < 0x80) break;
    }
    return out;
}

std::string_view take_bytes(std::string_view& from, std::size_t size) {
    const auto out = from.substr(0, size);
    from.remove_prefix(out.size());
    return out;
}

/// Small numbers of either sign are short.
std::uint64_t fold(std::int64_t value) {
    return (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63);
}
std::int64_t unfold(std::uint64_t value) {
    return static_cast<std::int64_t>(value >> 1) ^ -static_cast<std::int64_t>(value & 1);
}

// --- texts: a number that says how the text is written in its two lowest bits ---

enum form : std::uint64_t { as_it_is, known_word, uuid, decimal };

/// Words that many pods have in common. The order is free: packed bytes do not outlive the process.
constexpr auto words = std::to_array<std::string_view>({
    names::testbed,
    names::testbed_namespace,
    names::ghost,
    names::job,
    names::run,
    names::slots,
    names::slot,
    names::slot_node,
    names::slot_ghost,
    names::nomination_shown,
    names::node,
    names::index,
    names::ghost_image,
    "true",
    "True",
    "False",
    "Pending",
    "Running",
    "Succeeded",
    "Failed",
    "Unknown",
    "default",
    "kube-system",
    "default-scheduler",
    "cpu",
    "memory",
    "ephemeral-storage",
    "v1",
    "apps/v1",
    "batch/v1",
    "Pod",
    "Node",
    "ReplicaSet",
    "DaemonSet",
    "StatefulSet",
    "Job",
    "Testbed",
    "esi.tu-berlin.de/v1alpha1",
    "Exists",
    "Equal",
    "NoSchedule",
    "NoExecute",
    "node.kubernetes.io/not-ready",
    "node.kubernetes.io/unreachable",
    "node.kubernetes.io/memory-pressure",
    "node.kubernetes.io/disk-pressure",
    "node.kubernetes.io/pid-pressure",
    "SchedulingGated",
    "Unschedulable",
    names::gang,
    names::gang_node,
    names::gang_plan,
    names::group_name,
    names::pod_group,
    names::tenstack_group,
    "TCP",
    "UDP",
    "spark-role",
    "executor",
    "driver",
    "spark-app-selector",
    "sparkoperator.k8s.io/submission-id",
});

constexpr std::string_view digits = "0123456789abcdef";

int value_of(char digit) {
    const auto at = digits.find(digit);
    return at == std::string_view::npos ? -1 : static_cast<int>(at);
}

constexpr bool is_dash(std::size_t at) { return at == 8 || at == 13 || at == 18 || at == 23; }

/// 16 bytes of a UUID as Kubernetes writes it; false for every other text.
bool put_uuid(std::string_view text, std::string& to) {
    if (text.size() != 36) return false;
    std::array<char, 16> bytes{};
    std::size_t half = 0;
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (is_dash(at)) {
            if (text[at] != '-') return false;
            continue;
        }
        const int value = value_of(text[at]);
        if (value < 0) return false;
        auto& byte = bytes[half / 2];
        byte = static_cast<char>((static_cast<unsigned char>(byte) << 4) | value);
        ++half;
    }
    put(to, uuid);
    to.append(bytes.data(), bytes.size());
    return true;
}

std::string take_uuid(std::string_view& from) {
    const auto bytes = take_bytes(from, 16);
    std::string out;
    out.reserve(36);
    for (const char each : bytes) {
        if (is_dash(out.size())) out += '-';
        const auto byte = static_cast<unsigned char>(each);
        out += digits[byte >> 4];
        out += digits[byte & 15];
    }
    return out;
}

/// Only a text that is the same when unpacked: no sign, no leading zero, below 10^18.
bool put_decimal(std::string_view text, std::string& to) {
    if (text.empty() || text.size() > 18 || (text.front() == '0' && text.size() > 1)) return false;
    if (!std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; })) return false;
    std::uint64_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    put(to, value << 2 | decimal);
    return true;
}

void put(std::string& to, const std::string& text) {
    if (put_decimal(text, to) || put_uuid(text, to)) return;
    const auto word = std::ranges::find(words, std::string_view(text));
    if (word != words.end()) {
        put(to, static_cast<std::uint64_t>(word - words.begin()) << 2 | known_word);
        return;
    }
    put(to, static_cast<std::uint64_t>(text.size()) << 2 | as_it_is);
    to += text;
}

void take(std::string_view& from, std::string& into) {
    const auto number = take_number(from);
    const auto rest = number >> 2;
    switch (static_cast<form>(number & 3)) {
        case as_it_is:
            into = take_bytes(from, rest);
            break;
        case known_word:
            if (rest < words.size()) into = words[rest];
            break;
        case uuid:
            into = take_uuid(from);
            break;
        case decimal:
            into = std::to_string(rest);
            break;
    }
}

// --- the other types of members ---

void put(std::string& to, bool value) { put(to, std::uint64_t{value}); }
void take(std::string_view& from, bool& into) { into = take_number(from) != 0; }

void put(std::string& to, const std::int64_t& value) { put(to, fold(value)); }
void take(std::string_view& from, std::int64_t& into) { into = unfold(take_number(from)); }

/// Most times are whole seconds.
void put(std::string& to, const timestamp& value) {
    const std::int64_t micros = value.value.time_since_epoch().count();
    const bool whole = micros % 1'000'000 == 0;
    put(to, fold(whole ? micros / 1'000'000 : micros) << 1 | std::uint64_t{!whole});
}
void take(std::string_view& from, timestamp& into) {
    const auto number = take_number(from);
    const auto value = unfold(number >> 1);
    into.value =
        wall_time(std::chrono::microseconds((number & 1) != 0 ? value : value * 1'000'000));
}

template <class T>
void put(std::string& to, const std::optional<T>& value);
template <class T>
void take(std::string_view& from, std::optional<T>& into);
template <class T>
void put(std::string& to, const std::vector<T>& list);
template <class T>
void take(std::string_view& from, std::vector<T>& into);
template <class V, class C>
void put(std::string& to, const std::map<std::string, V, C>& entries);
template <class V, class C>
void take(std::string_view& from, std::map<std::string, V, C>& into);

template <class T>
bool is_default(const T& value) {
    if constexpr (requires { value.empty(); }) {
        return value.empty();
    } else if constexpr (requires { value.has_value(); }) {
        return !value.has_value();
    } else if constexpr (std::is_arithmetic_v<T>) {
        return value == T();
    } else if constexpr (std::is_same_v<T, raw_json>) {
        return value.text.empty();
    } else {
        return false;
    }
}

/// All members of any type: a member that is added to a record is packed without a change here, or
/// does not compile. First a bit for each that is not at its default.
template <class T>
    requires std::is_class_v<T> && std::is_aggregate_v<T>
void put(std::string& to, const T& record) {
    static_assert(boost::pfr::tuple_size_v<T> < 64);
    const auto left_out = [&](const auto& member) {
        if constexpr (std::is_same_v<T, object_meta>) {
            // They are the key.
            const void* at = &member;
            if (at == &record.name || at == &record.namespace_) return true;
        }
        return is_default(member);
    };
    std::uint64_t present = 0;
    boost::pfr::for_each_field(record, [&](const auto& member, std::size_t nth) {
        if (!left_out(member)) present |= std::uint64_t{1} << nth;
    });
    put(to, present);
    boost::pfr::for_each_field(record, [&](const auto& member) {
        if (!left_out(member)) put(to, member);
    });
}
template <class T>
    requires std::is_class_v<T> && std::is_aggregate_v<T>
void take(std::string_view& from, T& record) {
    const auto present = take_number(from);
    boost::pfr::for_each_field(record, [&](auto& member, std::size_t nth) {
        if ((present >> nth & 1) != 0) take(from, member);
    });
}

template <class T>
void put(std::string& to, const std::optional<T>& value) {
    put(to, *value);
}
template <class T>
void take(std::string_view& from, std::optional<T>& into) {
    take(from, into.emplace());
}

template <class T>
void put(std::string& to, const std::vector<T>& list) {
    put(to, std::uint64_t{list.size()});
    for (const auto& item : list) put(to, item);
}
template <class T>
void take(std::string_view& from, std::vector<T>& into) {
    const auto size = take_number(from);
    for (std::uint64_t i = 0; i < size && !from.empty(); ++i) take(from, into.emplace_back());
}

template <class V, class C>
void put(std::string& to, const std::map<std::string, V, C>& entries) {
    put(to, std::uint64_t{entries.size()});
    for (const auto& [key, value] : entries) {
        put(to, key);
        put(to, value);
    }
}
template <class V, class C>
void take(std::string_view& from, std::map<std::string, V, C>& into) {
    const auto size = take_number(from);
    for (std::uint64_t i = 0; i < size && !from.empty(); ++i) {
        std::string key;
        take(from, key);
        // The keys come in order.
        take(from, into.emplace_hint(into.end(), std::move(key), V())->second);
    }
}

}  // namespace

// --- the whole: sizes of namespace, name and body, then these ---

packed::packed(const key_view& key, std::string_view body) {
    std::string sizes;
    for (const auto size : {key.first.size(), key.second.size(), body.size()}) {
        put(sizes, std::uint64_t{size});
    }
    const auto all = sizes.size() + key.first.size() + key.second.size() + body.size();
    bytes_ = std::make_unique_for_overwrite<char[]>(all);
    char* to = bytes_.get();
    for (const std::string_view part : {std::string_view(sizes), key.first, key.second, body}) {
        to = std::ranges::copy(part, to).out;
    }
}

namespace {

struct parts {
    std::size_t head = 0;
    std::size_t ns = 0;
    std::size_t name = 0;
    std::size_t body = 0;
};

parts parts_of(const char* bytes) {
    // The length of the bytes is known only once the sizes are read: no byte after the third one is
    // touched. The last byte of a number is below 0x80.
    const char* end = bytes;
    for (int numbers = 0; numbers < 3; ++end) {
        if (static_cast<unsigned char>(*end) < 0x80) ++numbers;
    }
    std::string_view sizes(bytes, end);
    parts out;
    out.head = sizes.size();
    out.ns = take_number(sizes);
    out.name = take_number(sizes);
    out.body = take_number(sizes);
    return out;
}

}  // namespace

key_view packed::key() const {
    if (!bytes_) return {};
    const auto at = parts_of(bytes_.get());
    const char* ns = bytes_.get() + at.head;
    return {{ns, at.ns}, {ns + at.ns, at.name}};
}

std::string_view packed::body() const {
    if (!bytes_) return {};
    const auto at = parts_of(bytes_.get());
    return {bytes_.get() + at.head + at.ns + at.name, at.body};
}

std::size_t packed::size() const {
    if (!bytes_) return 0;
    const auto at = parts_of(bytes_.get());
    return at.head + at.ns + at.name + at.body;
}

packed pack(const pod& object) {
    std::string body;
    body.reserve(256);
    put(body, object);
    return {{object.metadata.namespace_, object.metadata.name}, body};
}

void unpack(const packed& from, pod& into) {
    auto body = from.body();
    take(body, into);
    const auto [ns, name] = from.key();
    into.metadata.namespace_ = ns;
    into.metadata.name = name;
}

}  // namespace esi::model
