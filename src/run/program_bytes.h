// The memory that requests take, computed before any of it is allocated.
#pragma once

#include <cstdint>

#include "plan/pool/program.h"
#include "run/coding.h"

namespace mete {

// Returns the bytes of a request on a worker, which holds nothing at first: the pieces that come in, also
// those of the next request, and all that is put together, computed, held and sent. All stages count,
// because other processors may be ahead or behind. The result is an upper bound, except for the one piece
// that is being encoded.
int64_t RequestBytes(const Program& program, int processor, Coding coding);

}  // namespace mete
