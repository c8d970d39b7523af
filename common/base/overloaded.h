// std::visit with one function for each alternative: an alternative without one does not compile.
#pragma once

namespace esi {

template <class... Functions>
struct overloaded : Functions... {
    using Functions::operator()...;
};

}  // namespace esi
