// The processors of a pool, opened for one session or one measurement.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/pool/pool_internals.h"
#include "processor/processor.h"
#include "run/member.h"

namespace mete {

struct OpenPool {
  std::shared_ptr<Processor> home;
  std::vector<std::unique_ptr<Member>> members;  // for each processor; the first, the home's, is null

  std::vector<Member*> pointers() const;
};

// Returns the options of the kernels, without the options that only a session on one CPU has.
SessionOptions KernelOptionsOf(const PoolOptions& options);

// Returns the processors of the pool. Error FAILED_PRECONDITION if it describes boards that are not here.
const PoolFile& FileOf(const PoolInternals::Impl& pool);

// Error if this device lacks the cores that the file names.
OpenPool Open(const PoolInternals::Impl& pool, const PoolFile& file, const PoolOptions& options);

// Error UNIMPLEMENTED if the home cannot compute a node of the model. What other processors cannot compute is
// in their costs (LayerCost::why_not).
void CheckHome(const PoolFile& file, const Graph& graph);

// Returns the pool with all processors that workers offer whose entries name none. An entry of a worker with
// one processor stays as it is. Error if such a worker does not answer.
PoolFile WithOffered(const PoolInternals::Impl& pool, PoolFile file, const PoolOptions& options);

bool HasWorkers(const PoolFile& file);

}  // namespace mete
