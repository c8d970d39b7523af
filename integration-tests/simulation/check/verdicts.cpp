#include "check/verdicts.h"

#include <algorithm>

namespace esi::simulation::checks {

void verdicts::add(std::string_view rule, std::initializer_list<std::string_view> about,
                   std::string text) {
    if (found_.size() >= most) return;
    for (const auto& known : found_) {
        if (known.rule == rule && known.text == text) return;
    }
    const auto at = std::chrono::duration_cast<milliseconds>(time_.now() - start_);
    found_.push_back({std::string(rule), std::move(text), at});
    about_.emplace_back(about.begin(), about.end());
}

void verdicts::edited(std::string_view what) {
    edited_.emplace(what);
    const auto at = std::chrono::duration_cast<milliseconds>(time_.now() - start_);
    for (std::size_t i = found_.size(); i-- > 0;) {
        if (found_[i].at != at) break;
        if (std::ranges::find(about_[i], what) == about_[i].end()) continue;
        found_.erase(found_.begin() + static_cast<std::ptrdiff_t>(i));
        about_.erase(about_.begin() + static_cast<std::ptrdiff_t>(i));
    }
}

}  // namespace esi::simulation::checks
