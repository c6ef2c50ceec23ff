// Exceptions of a processor's threads as errors that its caller can be told.
#pragma once

#include <new>
#include <string_view>

#include "base/error.h"

namespace mete {

// Returns an Error as it is. Any other exception becomes one that names `where`, such as "worker"; `advice`
// is what to try where the system has no memory left.
inline Error AsError(const std::exception& exception, std::string_view where, std::string_view advice) {
  if (const auto* error = dynamic_cast<const Error*>(&exception)) return *error;
  if (dynamic_cast<const std::bad_alloc*>(&exception))
    return Error(Code::kResourceExhausted,
                 fmt::format("[{}] the system has no memory left; try {}", where, advice));
  return Error(Code::kInternal, fmt::format("[{}] {}", where, exception.what()));
}

}  // namespace mete
