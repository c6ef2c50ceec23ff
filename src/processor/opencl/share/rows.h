// Rows over the innermost axis, for nodes that are some and for the scores of attention.
#pragma once

#include <vector>

#include "processor/opencl/kernels/rows.h"
#include "processor/opencl/share/lowering.h"

namespace mete::opencl {

// Appends the launch of `spec`, whose type and number of rows are those of the output, the last argument.
void LaunchRows(Lowering& to, RowSpec spec, const std::vector<Array>& arguments);

}  // namespace mete::opencl
