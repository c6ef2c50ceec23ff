// The processors of one board that is not present, as a list names them: "cpu,gpu".
#pragma once

#include <string>

#include "machine/pool_file.h"

namespace mete {

// Returns the pool of some processors of a machine file (machine/file.h), which is one described device. The
// list has names that differ: "cpu" is all cores of the board and comes first, because the calling threads
// compute on it; "gpu" is its first GPU, with products of f32, and "gpu:f16" the same one with products of
// halves; with both each group is computed by either (UnitsOf()). Error if the file or the list is wrong, or
// if the board has no GPU.
PoolFile PoolOfBoard(const std::string& path, const std::string& list);

}  // namespace mete
