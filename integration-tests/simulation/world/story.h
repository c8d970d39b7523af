// Who did what, when. Written only where it is asked for (a replay with --story): the
// text is made by a function that is not called otherwise.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "world/timeline.h"

namespace esi::simulation {

class story {
public:
    explicit story(const timeline& time) : time_(time) {}

    void keep(bool wanted) { wanted_ = wanted; }
    bool wanted() const { return wanted_; }
    /// `who`: "esi-testbed/0", "kube-scheduler", "kubelet node-1", "people", "fault".
    template <class Text>
    void tell(std::string_view who, Text text) {
        if (wanted_) add(who, text());
    }
    /// "+123.456789s who: text", in order.
    const std::vector<std::string>& lines() const { return lines_; }

private:
    void add(std::string_view who, std::string text);

    const timeline& time_;
    bool wanted_ = false;
    std::vector<std::string> lines_;
};

}  // namespace esi::simulation
