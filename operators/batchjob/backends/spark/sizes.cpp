#include "batchjob/backends/spark/sizes.h"

#include <fmt/format.h>

#include <algorithm>

#include "batchjob/backends/json_parts.h"
#include "batchjob/backends/pod_size.h"

namespace esi::batchjob::spark {

namespace {

constexpr std::int64_t mebi = 1024 * 1024;
/// Larger numbers mean the same: no slot is so large. Their sums and products do not overflow.
constexpr std::int64_t most_mib = std::int64_t{1} << 40;
constexpr std::int64_t most_overhead_share = 1'000'000;

/// Reads one number from the spec's member of the role, or from sparkConf; remembers the first that
/// is none.
class reader {
public:
    reader(const json& spec, const spark_role& role)
        : spec_(spec), role_(role), conf_(member(spec, "sparkConf")) {}

    /// The text of the first that is there: the role's field, then the keys of sparkConf.
    std::optional<std::string> text(const char* field, std::initializer_list<std::string> keys) {
        const auto* part = member(spec_, role_.name);
        if (const auto* value = part ? member(*part, field) : nullptr) {
            where_ = fmt::format("{}.{}", role_.name, field);
            return conf_text(*value);
        }
        return conf(keys);
    }
    std::optional<std::string> conf(std::initializer_list<std::string> keys) {
        for (const auto& key : keys) {
            const auto* value = conf_ ? member(*conf_, key) : nullptr;
            if (!value) continue;
            where_ = fmt::format("sparkConf[{}]", key);
            return conf_text(*value);
        }
        return std::nullopt;
    }
    std::optional<std::int64_t> memory(const std::optional<std::string>& text, std::int64_t unit) {
        if (!text) return std::nullopt;
        const auto out = mebibytes_in(*text, unit);
        if (!out) wrong("an amount of memory such as 4g");
        return out;
    }
    std::optional<model::quantity> cpu(const std::optional<std::string>& text) {
        if (!text) return std::nullopt;
        const auto out = model::quantity::parse(*text);
        if (out && out->milli > 0) return *out;
        wrong("a number of cores such as 2 or 500m");
        return std::nullopt;
    }
    const std::optional<spec_problem>& problem() const { return problem_; }

private:
    void wrong(std::string_view what) {
        if (problem_) return;
        problem_ =
            spec_problem{"SpecMalformed", fmt::format("sparkSpec.{} must be {}", where_, what)};
    }

    const json& spec_;
    const spark_role& role_;
    const json* conf_;
    std::string where_;
    std::optional<spec_problem> problem_;
};

std::int64_t overhead_share_of(reader& in, const json& spec, const spark_role& role) {
    auto text = in.conf({fmt::format("spark.{}.memoryOverheadFactor", role.name),
                         "spark.kubernetes.memoryOverheadFactor"});
    if (const auto* field = member(spec, "memoryOverheadFactor")) text = conf_text(*field);
    if (text) {
        const auto given = model::quantity::parse(*text);
        if (given && given->milli > 0) return std::min(given->milli, most_overhead_share);
    }
    return usual_overhead_share(spec);
}

void append_all(json& pod, const char* key, const json* more) {
    if (!more || !more->is_array()) return;
    auto* list = typed_in(pod, key, json::array());
    if (!list) return;
    for (const auto& each : *more) list->push_back(each);
}

}  // namespace

const spark_role& executor_role() {
    static const spark_role one{"executor", "spark-kubernetes-executor", true};
    return one;
}

const spark_role& driver_role() {
    static const spark_role one{"driver", "spark-kubernetes-driver", false};
    return one;
}

std::int64_t asked_size::least_mib() const {
    const auto heap = heap_mib.value_or(least_heap_mib);
    const auto share = std::max(least_overhead_mib, heap * overhead_share / 1000);
    return heap + overhead_mib.value_or(share) + beside_mib;
}

std::int64_t usual_overhead_share(const json& spec) {
    const auto* type = member(spec, "type");
    const bool outside_jvm = type && (*type == "Python" || *type == "R");
    return outside_jvm ? overhead_outside_jvm : overhead_in_jvm;
}

std::expected<asked_size, spec_problem> read_asked(const json& spec, const spark_role& role) {
    reader in(spec, role);
    asked_size out;
    const auto& name = role.name;
    const auto cores = in.cpu(in.text("cores", {fmt::format("spark.{}.cores", name)}));
    if (cores) out.cores = std::max<std::int64_t>(1, cores->milli / 1000);
    out.cpu =
        in.cpu(in.text("coreRequest", {fmt::format("spark.kubernetes.{}.request.cores", name)}));
    if (!out.cpu) out.cpu = cores;
    out.heap_mib = in.memory(in.text("memory", {fmt::format("spark.{}.memory", name)}), mebi);
    out.overhead_mib =
        in.memory(in.text("memoryOverhead", {fmt::format("spark.{}.memoryOverhead", name)}), mebi);
    out.overhead_share = overhead_share_of(in, spec, role);
    if (role.has_memory_beside) {
        const auto pyspark = in.memory(in.conf({"spark.executor.pyspark.memory"}), mebi);
        const bool used = in.conf({"spark.memory.offHeap.enabled"}) == "true";
        const auto off_heap =
            used ? in.memory(in.conf({"spark.memory.offHeap.size"}), 1) : std::nullopt;
        out.beside_mib = pyspark.value_or(0) + off_heap.value_or(0);
    }
    if (in.problem()) return std::unexpected(*in.problem());
    for (auto* part : {&out.heap_mib, &out.overhead_mib}) {
        if (*part) *part = std::min(**part, most_mib);
    }
    out.beside_mib = std::min(out.beside_mib, most_mib);
    return out;
}

std::expected<memory_split, spec_problem> split_as_asked(const asked_size& asked,
                                                         std::int64_t bytes,
                                                         const spark_role& role) {
    const auto whole = bytes / mebi;
    if (!asked.heap_mib && !asked.overhead_mib) {
        return split_memory(bytes - asked.beside_mib * mebi, asked.overhead_share, role.name);
    }
    if (whole < asked.least_mib()) {
        return std::unexpected(spec_problem{
            "LargerThanSlot", fmt::format("a Spark {} of this spec needs {} MiB of memory, its "
                                          "slot has {} MiB",
                                          role.name, asked.least_mib(), whole)});
    }
    const auto room = whole - asked.beside_mib;
    if (asked.heap_mib) return memory_split{*asked.heap_mib, room - *asked.heap_mib};
    return memory_split{room - *asked.overhead_mib, *asked.overhead_mib};
}

json pod_of(const json& spec, const spark_role& role) {
    const auto* part = member(spec, role.name);
    if (!part) return json::object();
    const auto* given = member(*part, "template");
    given = given ? member(*given, "spec") : nullptr;
    json out = given && given->is_object() ? *given : json::object();
    append_all(out, "containers", member(*part, "sidecars"));
    append_all(out, "initContainers", member(*part, "initContainers"));
    const auto* gpu = member(*part, "gpu");
    const auto* device = gpu ? member(*gpu, "name") : nullptr;
    const auto* count = gpu ? member(*gpu, "quantity") : nullptr;
    if (device && device->is_string() && count && count->is_number_integer()) {
        // A container of its own adds as much as a limit of the main container does.
        json limits = json::object();
        limits[device->get<std::string>()] = conf_text(*count);
        const json more = json::array({{{"name", "gpu"}, {"resources", {{"limits", limits}}}}});
        append_all(out, "containers", &more);
    }
    return out;
}

}  // namespace esi::batchjob::spark
