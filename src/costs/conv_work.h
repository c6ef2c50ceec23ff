// The work of convolutions (work.h).
#pragma once

#include <vector>

#include "costs/work.h"
#include "dispatch/convolutions.h"
#include "dispatch/quantized.h"

namespace mete {

std::vector<Work> ConvWorks(const NodeInRun& at, const Convolution& conv);  // by algorithm

Work QuantizedConvWork(const NodeInRun& at, const QuantizedConvolution& conv);

}  // namespace mete
