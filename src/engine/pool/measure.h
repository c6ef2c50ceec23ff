// Measures a model on a pool.
#pragma once

#include "engine/pool/open_pool.h"
#include "engine/pool/pool_internals.h"
#include "profile/pool/pool_profile.h"

namespace mete {

// Measures on opened processors, and keeps what was measured. `opened`: `file` with all of its processors
// (WithOffered).
PoolProfile MeasureOn(const OpenPool& open, const PoolFile& opened, const PoolFile& file, const Graph& graph,
                      const PoolOptions& options);

}  // namespace mete
