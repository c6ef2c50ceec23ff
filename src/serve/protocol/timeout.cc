#include "serve/protocol/timeout.h"

#include "base/error.h"

namespace mete::serve {

std::optional<std::chrono::microseconds> TimeoutOf(const Parameters& parameters) {
  const auto timeout = parameters.find("timeout");
  if (timeout == parameters.end()) return std::nullopt;
  const int64_t* us = std::get_if<int64_t>(&timeout->second);
  constexpr int64_t kMost = std::chrono::microseconds(kMostTimeout).count();
  if (!us || *us < 0 || *us > kMost)
    Invalid("parameter 'timeout'", "is no number of microseconds from 0 to {}", kMost);
  if (*us == 0) return std::nullopt;
  return std::chrono::microseconds(*us);
}

}  // namespace mete::serve
