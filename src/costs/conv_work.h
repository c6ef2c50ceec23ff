// The work of convolutions (work.h).
#pragma once

#include <vector>

#include "costs/work.h"
#include "dispatch/convolutions.h"
#include "dispatch/quantized.h"

namespace mete {

std::vector<Work> ConvWorks(const NodeInRun& at, const Convolution& conv);  // by algorithm

Work TransposedConvWork(const NodeInRun& at, const TransposedConvolution& conv);

// The work of a convolution, or of products as convolutions of 1x1, whose operands are halves: kBf16 or kF16.
// `rounded`: the inputs are rounded already.
Work HalfConvWork(const NodeInRun& at, const ConvShape& shape, Precision operands, double products = 1,
                  bool rounded = false);

std::vector<Work> QuantizedConvWorks(const NodeInRun& at, const QuantizedConvolution& conv);  // by algorithm

}  // namespace mete
