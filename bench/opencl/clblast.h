// CLBlast's product of matrices, a well-known one to compare with, where the build found CLBlast.
#pragma once

#include <cstdint>
#include <string>

namespace mete {

// Returns the least time of a product [m][k] x [k][n] of f32 in several calls, by the host's clock, on
// compute unit `unit` of the first device, or on all of it if `unit` is below 0; 0 without CLBlast. Its
// parameters are those that it comes with for such a device.
double ClblastSeconds(int unit, int64_t m, int64_t n, int64_t k);

}  // namespace mete
