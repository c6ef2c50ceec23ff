// The work of convolutions (work.h).
#pragma once

#include <vector>

#include "costs/work.h"
#include "dispatch/convolutions.h"
#include "dispatch/quantized.h"

namespace mete {

std::vector<Work> ConvWorks(const NodeInRun& at, const Convolution& conv);  // by algorithm

// The work of the f32 convolution, which stands in because no probe has this kernel, and a guess of the time
// of the conversions.
Work QuantizedConvWork(const NodeInRun& at, const QuantizedConvolution& conv);

}  // namespace mete
