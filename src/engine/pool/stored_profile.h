// What was measured of a model on a pool, kept in the cache folder: a file for each graph on each pool.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "engine/pool/pool_internals.h"
#include "profile/pool/pool_profile.h"

namespace mete {

// The name of a profile's file follows from the pool's file as it is written; the profile itself has the
// names of the processors that a worker offers without being named in the pool's file.

// Returns the path of the file for a graph on a pool whose processors of this device have these kernels. The
// path is different for another CPU, version of Mete, instruction set, policy, GPU or driver of one. Where
// nobody knows the driver yet, as after a change of its settings, this function and those below wait seconds
// for the child process that tries it. Error FAILED_PRECONDITION if there is no cache folder.
std::string PoolProfilePath(const std::string& digest, const PoolFile& file, const SessionOptions& kernels);

// Returns whether the path is known without such a wait.
bool KnowsPoolProfilePath(const PoolFile& file);

// Returns the profile that is kept; nothing if there is no file, or if it is of another model or version, or
// damaged. If it is of another version or damaged, `note`, which may be empty, is called with a line about
// it.
std::optional<PoolProfile> StoredPoolProfile(const Graph& graph, const PoolFile& file,
                                             const SessionOptions& kernels,
                                             const std::function<void(const std::string&)>& note);
// Returns the same profile; Error FAILED_PRECONDITION if there is none.
PoolProfile NeededPoolProfile(const Graph& graph, const PoolFile& file, const SessionOptions& kernels,
                              const std::function<void(const std::string&)>& note);

// Writes the whole file or leaves it as it was. Returns its path. Error UNAVAILABLE.
std::string StorePoolProfile(const PoolProfile& profile, const PoolFile& file, const SessionOptions& kernels);

// Returns the pool with the processors that were measured of workers whose entries name none.
PoolFile AsMeasured(PoolFile file, const PoolCosts& costs);

// Returns the measured costs, with the watts that the file has of devices with one processor, and with which
// processors are the same hardware.
PoolCosts CostsOn(const PoolProfile& profile, const PoolFile& file);

}  // namespace mete
