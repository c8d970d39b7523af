// Runs many pieces of work side by side in processes of their own: what crashes or hangs costs one
// piece, and its number is known.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace esi::simulation {

struct pool_settings {
    /// 0: one for each core.
    int jobs = 0;
    /// Processor time for one piece, and so much real time times `most_patience`: on a busy machine
    /// a piece waits long for its turn.
    std::chrono::seconds limit{120};
    static constexpr int most_patience = 20;
};

/// What became of a piece: a result, or why there is none ("killed by signal 6", "no end within
/// 120 s").
struct piece {
    std::size_t number = 0;
    nlohmann::json result;
    std::string failure;
};

/// `work(n)` for n in [0, count), in other processes, begun in order; `done` here, as they end;
/// false from it: begin no more.
void run_all(std::size_t count, const pool_settings& how,
             const std::function<nlohmann::json(std::size_t)>& work,
             const std::function<bool(const piece&)>& done);

/// A copy of this process, made in the middle of its work, which goes on in both.
class branch {
public:
    /// Nothing: this is the copy, which has `limit` of processor time. Else it is the process that
    /// was, the copy has ended, and this is what became of it.
    std::optional<piece> begin(std::chrono::seconds limit);
    /// Ends the copy, with its result.
    [[noreturn]] void end(const nlohmann::json& result) const;

private:
    int line_ = -1;
};

}  // namespace esi::simulation
