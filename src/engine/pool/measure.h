// Measures a model on a pool.
#pragma once

#include "engine/pool/open_pool.h"
#include "engine/pool/pool_internals.h"
#include "profile/pool/pool_profile.h"

namespace mete {

// Opened processors to measure on; the home's member is null.
struct MeasuredOn {
  Processor& home;
  std::vector<Member*> members;
  Turn* home_turn = nullptr;  // as in PoolProfileOptions
};

// Measures on opened processors, and keeps what was measured. `opened`: `file` with all of its processors
// (WithOffered).
PoolProfile MeasureOn(const MeasuredOn& on, const PoolFile& opened, const PoolFile& file, const Graph& graph,
                      const PoolOptions& options);

}  // namespace mete
