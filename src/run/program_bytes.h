// How much memory requests take, told before any of it is asked for.
#pragma once

#include <cstdint>

#include "plan/pool/program.h"
#include "run/coding.h"

namespace mete {

// Of a request on a processor that holds nothing at first, a worker: what comes in, that of the next request
// too, what is put together, computed, held and sent. Of all stages, as others may be ahead or behind; an
// upper bound, but for the one piece that is being encoded.
int64_t RequestBytes(const Program& program, int processor, Coding coding);

}  // namespace mete
