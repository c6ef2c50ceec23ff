// Pooling of bytes over NHWC: maxima, averages and averages over whole images. All targets give the same bits
// as the reference. Shapes and blocks are those of kernels/fast/pool/pool.h.
#pragma once

#include <cstdint>

#include "kernels/fast/bytes/byte_elementwise.h"
#include "kernels/fast/pool/pool.h"

namespace mete {

// Computes the given output pixels of a maximum. A window without any tap inside the input gives the least
// byte.
void RunByteMaxPool(const PoolShape& shape, bool is_signed, const uint8_t* input, Range pixels,
                    uint8_t* output);

// Computes the given output pixels of an average: sums of (byte - x.zero) * x.scale in the order of the taps,
// rounded after each step.
void RunByteAveragePool(const PoolShape& shape, const ByteScale& x, const ByteScale& y, const uint8_t* input,
                        Range pixels, uint8_t* output);

// The most pixels of an image whose sum of bytes needs no more than 32 bits.
inline constexpr int64_t kMostPooledPixels = (int64_t{1} << 31) / 256;

// Computes the averages over the `pixels` pixels of one image for the channels `channels` of its `all`
// channels. `input` and `output` point at channel 0.
void RunByteGlobalAverage(const ByteScale& x, const ByteScale& y, const uint8_t* input, int64_t pixels,
                          int64_t all, Range channels, uint8_t* output);

}  // namespace mete
