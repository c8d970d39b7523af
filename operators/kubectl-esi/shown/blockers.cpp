#include "kubectl-esi/shown/blockers.h"

#include <fmt/format.h>

#include "kubectl-esi/shown/words.h"

namespace esi::kubectl::shown {

std::string reference_text(const scheduling::answers::reference& of, std::string_view ns) {
    return of.kind + "/" + name_in({of.namespace_, of.name}, ns);
}

std::string blockers_text(const std::vector<scheduling::answers::blocking>& of,
                          const std::vector<std::string>& jobs, std::string_view ns, bool wide,
                          const look& as, wall_time now) {
    std::vector<std::string> headings;
    if (!jobs.empty()) headings.emplace_back("JOB");
    for (const char* each :
         {"OBJECT", "REASON", "SLOTS", "HELD-BY", "SINCE", "ESTIMATE", "FREED-BY"}) {
        headings.emplace_back(each);
    }
    if (wide) headings.emplace_back("MESSAGE");
    table rows(std::move(headings));
    for (std::size_t i = 0; i < of.size(); ++i) {
        const auto& each = of[i];
        std::vector<cell> row;
        if (!jobs.empty()) row.emplace_back(i < jobs.size() ? jobs[i] : std::string());
        row.emplace_back(reference_text(each.what, ns));
        row.emplace_back(each.reason, tint::wait);
        row.emplace_back(slots_text(each.slots));
        row.emplace_back(each.holder ? reference_text(*each.holder, ns) : std::string(none));
        row.emplace_back(age_text(each.since, now));
        row.emplace_back(estimate_text(each.estimate));
        row.emplace_back(or_none(each.freed_by));
        if (wide) row.emplace_back(each.text);
        rows.add(std::move(row));
    }
    return rows.text(as);
}

std::string left_out_text(std::int64_t count) {
    return count == 0 ? std::string() : fmt::format("  ... and {} more\n", count);
}

}  // namespace esi::kubectl::shown
