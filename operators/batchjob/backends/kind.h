// A kind of application as a row of the operator's one table (backends/registry.h): which part of a
// BatchJob's spec describes such an application, which flags the kind adds to the operator, and how
// to make its backend and its caches. Owned by the table, for the whole life of the process; its
// flags are parsed before the first backend is made and do not change afterwards.
#pragma once

#include <memory>
#include <string_view>
#include <utility>

#include "batchjob/backends/backend.h"
#include "batchjob/backends/source.h"

namespace CLI {
class App;
}

namespace esi::batchjob {

class application_kind {
public:
    virtual ~application_kind() = default;
    /// "Spark": status.type of its jobs, and backend::type() of its backend.
    virtual std::string_view type() const = 0;
    /// The field of a BatchJob's spec that describes such an application: "sparkSpec".
    virtual std::string_view spec_field() const = 0;
    /// The content of that field; null if the job has none and so is not of this kind.
    virtual const model::raw_json* spec_in(const model::batchjob_spec& spec) const = 0;
    /// Adds the flags of this kind; the parser writes them into this object.
    virtual void add_flags(CLI::App&) {}
    virtual std::unique_ptr<backend> make_backend(const placement_options& placement) const = 0;
    /// The caches of `of`, which make_backend has made: a typed_source of the record that the watch
    /// decodes.
    virtual std::unique_ptr<application_source> make_source(std::unique_ptr<backend> of,
                                                            source_context with) const = 0;
};

/// 16 hex digits; they change when the kind of a job's spec or its text does. `kind` is that of
/// `spec`, null if it is not known.
std::string hash_of(const application_kind* kind, const model::batchjob_spec& spec);

}  // namespace esi::batchjob
