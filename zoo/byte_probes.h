// Networks of bytes for measuring only; a part of the probes (architectures.h).
#pragma once

#include <cstdint>

#include "zoo/builder.h"

namespace mete::zoo {

// Convolutions of all kinds with sums, gates, tables and pools between them, and operators in floats between
// some: `layers` layers of each size from half of `side` down.
void ByteLayers(GraphBuilder& b, uint64_t seed, int side, int layers, int most_channels);

// Maxima and averages of windows of all sizes, with a convolution between them.
void BytePools(GraphBuilder& b);

// Products of two computed values, and transposes, over sequences of several lengths.
void ByteAttention(GraphBuilder& b);

}  // namespace mete::zoo
