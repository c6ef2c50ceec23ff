// Converts exceptions to errors that are sent to another device.
#pragma once

#include <new>

#include "base/error.h"

namespace mete {

inline Error AsError(const std::exception& exception) {
  if (const auto* error = dynamic_cast<const Error*>(&exception)) return *error;
  if (dynamic_cast<const std::bad_alloc*>(&exception))
    return Error(Code::kResourceExhausted,
                 "[worker] the system has no memory left; try a smaller --memory-gib of the worker");
  return Error(Code::kInternal, fmt::format("[worker] {}", exception.what()));
}

}  // namespace mete
