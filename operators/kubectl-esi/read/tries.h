// Repeats what was read and written in one go when another writer was first: operators write an
// object's status every few moments while a plan begins.
#pragma once

#include <boost/asio/awaitable.hpp>

#include "base/result.h"

namespace esi::kubectl {

inline constexpr int most_tries = 10;

/// The result of `once`, which reads an object and writes by the resourceVersion that it read. It
/// is called again on errc::conflict, most_tries times at most; the last conflict is the result.
/// @param once  a function without arguments that gives an awaitable<result<T>>
template <class F>
auto tried(F once) -> decltype(once()) {
    for (int tries = 1;; ++tries) {
        auto done = co_await once();
        if (done || done.error().code != errc::conflict || tries == most_tries) co_return done;
    }
}

}  // namespace esi::kubectl
