#include "kubectl-esi/doctor/doctor.h"

#include <fmt/format.h>

#include "kubectl-esi/doctor/gather.h"
#include "kubectl-esi/shown/documents.h"
#include "kubectl-esi/shown/words.h"

namespace esi::kubectl::doctor {

namespace {

using shown::tint;

tint tint_of(std::string_view how_bad) {
    if (how_bad == severity::error) return tint::bad;
    return how_bad == severity::warning ? tint::wait : tint::dim;
}

std::size_t count_of(const std::vector<finding>& found, std::string_view how_bad) {
    return static_cast<std::size_t>(std::ranges::count(found, how_bad, &finding::severity));
}

}  // namespace

std::string report_text(const std::vector<finding>& found, const shown::look& as) {
    shown::table rows({"CHECK", "RESULT", "OBJECT", "MESSAGE"});
    std::string out;
    for (const auto& each : checks()) {
        const auto named = [&](const finding& of) { return of.check == each.name; };
        if (std::ranges::none_of(found, named)) {
            rows.add({std::string(each.name), {"ok", tint::good}, "", ""});
            continue;
        }
        for (const auto& of : found) {
            if (!named(of)) continue;
            rows.add({of.check, {of.severity, tint_of(of.severity)}, of.object, of.text});
        }
    }
    out = rows.text(as);
    if (found.empty()) return out;
    out += "\nWhat mends it:\n";
    for (const auto& each : found) {
        out += fmt::format("  {}\n      {}\n", shown::printable(each.object),
                           shown::printable(each.remedy));
    }
    return out;
}

asio::awaitable<result<reply>> examine(session& in) {
    auto seen = co_await gather(in);
    if (!seen) co_return std::unexpected(std::move(seen).error());
    const auto found = findings_of(*seen);
    reply out;
    const bool wrong = count_of(found, severity::error) + count_of(found, severity::warning) > 0;
    out.code = wrong ? exit_code::failed : exit_code::ok;
    if (!in.tables()) {
        out.out = shown::object_text({{"ok", !wrong}, {"findings", shown::items_of(found)}},
                                     in.flags.output);
        co_return out;
    }
    out.out = report_text(found, in.look());
    out.note = fmt::format("errors: {}, warnings: {}, could not be looked at: {}\n",
                           count_of(found, severity::error), count_of(found, severity::warning),
                           count_of(found, severity::unknown));
    co_return out;
}

}  // namespace esi::kubectl::doctor
