#include "foresee/report.h"

#include <fmt/format.h>

namespace esi::simulation::foresee {

void report::add(const report& other) {
    violations.insert(violations.end(), other.violations.begin(), other.violations.end());
    for (const auto& [what, times] : other.counts) counts[what] += times;
}

json to_json(const report& what) {
    json found = json::array();
    for (const auto& one : what.violations) {
        found.push_back({{"rule", one.rule}, {"text", one.text}, {"at", one.at.count()}});
    }
    return {{"violations", std::move(found)}, {"counts", what.counts}};
}

report report_from_json(const json& from) {
    report out;
    for (const auto& one : from.at("violations")) {
        out.violations.push_back({one.at("rule").get<std::string>(),
                                  one.at("text").get<std::string>(),
                                  milliseconds(one.at("at").get<std::int64_t>())});
    }
    out.counts = from.at("counts").get<std::map<std::string, int>>();
    return out;
}

const std::vector<bound>& bounds() {
    static const std::vector<bound> all = [] {
        std::vector<bound> out;
        for (const std::string of : {"of a plan", "of an intent"}) {
            const auto name = [&](const char* how) { return "preview " + of + ": " + how; };
            const std::vector<std::string> whole{name("none starts"),    name("as foreseen"),
                                                 name("after a change"), name("overtaken"),
                                                 name("behind"),         name("gone")};
            for (const char* how : {"overtaken", "behind"}) out.push_back({name(how), whole, 50});
            // A plan that is gone cannot break its promise any more.
            out.push_back({name("gone"), whole, 200});
        }
        for (const std::string of : {"plan", "job", "pod"}) {
            const auto name = [&](const char* how) { return "explain " + of + ": " + how; };
            const std::vector<const char*> exempt{
                "exempt: it is gone",         "exempt: it is wanted no more",
                "exempt: a node is silent",   "exempt: a pod of nobody",
                "exempt: nobody can mend it", "exempt: too many steps"};
            std::vector<std::string> whole{name("freed"), name("freed by itself")};
            for (const char* how : exempt) whole.push_back(name(how));
            for (const char* how : exempt) out.push_back({name(how), whole, 100});
        }
        return out;
    }();
    return all;
}

std::vector<std::string> beyond_bounds(const std::map<std::string, int>& counts) {
    const auto of = [&](const std::string& what) {
        const auto found = counts.find(what);
        return found == counts.end() ? 0 : found->second;
    };
    std::vector<std::string> out;
    for (const auto& each : bounds()) {
        int whole = 0;
        for (const auto& what : each.whole) whole += of(what);
        const int part = of(each.part);
        // A few are no share.
        if (part <= 3 || part * 1000 <= whole * each.permille) continue;
        out.push_back(fmt::format("\"{}\" is {} of {}, at most {} of a thousand may be", each.part,
                                  part, whole, each.permille));
    }
    return out;
}

}  // namespace esi::simulation::foresee
