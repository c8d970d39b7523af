#include "model/text.h"

namespace esi::model {

std::size_t cut_size(std::string_view text, std::size_t limit) {
    if (text.size() <= limit) return text.size();
    auto end = limit;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
    return end;
}

std::string cut(std::string_view text, std::size_t limit) {
    return std::string(text.substr(0, cut_size(text, limit)));
}

}  // namespace esi::model
