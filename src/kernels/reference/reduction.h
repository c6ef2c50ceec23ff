// The tables of the reductions' two files.
#pragma once

#include <span>

#include "kernels/reference/reference.h"

namespace mete {

std::span<const RefEntry> ReduceReferences();     // reduction_reduce.cc: Reduce...
std::span<const RefEntry> AlongAxisReferences();  // reduction_axis.cc: ArgMax, TopK, CumSum, Softmax, ...

}  // namespace mete
