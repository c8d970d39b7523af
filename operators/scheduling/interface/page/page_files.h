// The files of this folder that a browser gets, as constants of the program (cmake/embed.cmake).
#pragma once

#include <span>
#include <string_view>

namespace esi::scheduling::page {

struct file {
    std::string_view name;
    std::string_view content;
    std::string_view digest;  ///< SHA-256 of the content, in hex
};

/// By name.
std::span<const file> files();

}  // namespace esi::scheduling::page
