// The files of this folder that a browser gets, as constants of the program (cmake/embed.cmake).
#pragma once

#include <span>

#include "base/embedded_file.h"

namespace esi::interface::page {

using file = embedded_file;

/// By name.
std::span<const file> files();

}  // namespace esi::interface::page
