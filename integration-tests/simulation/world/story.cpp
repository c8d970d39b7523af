#include "world/story.h"

#include <fmt/format.h>

namespace esi::simulation {

void story::add(std::string_view who, std::string text) {
    // The virtual clock starts at 1,000 s.
    const std::chrono::duration<double> passed =
        time_.now().time_since_epoch() - std::chrono::seconds(1000);
    lines_.push_back(fmt::format("+{:.6f}s {}: {}", passed.count(), who, text));
}

}  // namespace esi::simulation
