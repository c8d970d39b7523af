// A file of the sources that is a constant of the program (cmake/embed.cmake).
#pragma once

#include <string_view>

namespace esi {

struct embedded_file {
    std::string_view name;
    std::string_view content;
    std::string_view digest;  ///< SHA-256 of the content, in hex
};

}  // namespace esi
