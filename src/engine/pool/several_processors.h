// The cores of one CPU as several processors.
#pragma once

#include <optional>
#include <string>

#include "machine/machine.h"
#include "machine/pool_file.h"
#include "mete/engine.h"

namespace mete {

// Returns the pool with the cores of its only processor as processors of their own, which are named after
// them ("cpu:0-3"): one for each cluster that has some of the cores, the fastest first, or, if one cluster
// has all of them, two halves without a physical core in common. `kernels` are those of the pool's session.
// Returns nothing if the pool has workers or other processors, if its processor is emulated or has the
// threads of one physical core alone, and if fewer threads than cores are to compute.
std::optional<PoolFile> AsSeveralProcessors(const PoolFile& pool, const Machine& machine,
                                            const SessionOptions& kernels);

// Returns the same of this machine, which is read only where the pool may be such a one.
std::optional<PoolFile> AsSeveralProcessors(const PoolFile& pool, const SessionOptions& kernels);

// Returns the name of such a pool for notes: "cpu:0-3 and cpu:4-5 as two processors".
std::string TextOfSeveral(const PoolFile& several);

}  // namespace mete
