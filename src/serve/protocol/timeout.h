// How long a caller waits for an answer, as a parameter of its request says.
#pragma once

#include <chrono>
#include <optional>

#include "serve/protocol/inference.h"

namespace mete::serve {

inline constexpr std::chrono::hours kMostTimeout{24};  // guess: nobody waits for a day

// Returns the parameter "timeout", in microseconds, which Triton's clients send; nothing: it is not there, or
// is 0. Error INVALID_ARGUMENT.
std::optional<std::chrono::microseconds> TimeoutOf(const Parameters& parameters);

}  // namespace mete::serve
