// Where this checkout lies, for what reads its files. Defined in a file that the build makes, so
// that nothing else is compiled anew in another checkout.
#pragma once

#include <string>

namespace esi {

std::string source_folder();

}  // namespace esi
