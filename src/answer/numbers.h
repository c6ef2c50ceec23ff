// Functions of single numbers that heads have in common.
#pragma once

#include <cmath>

namespace mete {

inline float SigmoidOf(float v) { return 1 / (1 + std::exp(-v)); }

}  // namespace mete
