// What a session on a pool plans by.
#pragma once

#include <string>

#include "mete/pool.h"
#include "plan/pool/objective.h"

namespace mete {

// The objective that the options name; the default is by the lanes. Error for an unknown name.
PoolObjective ObjectiveOf(const PoolOptions& options);

}  // namespace mete
