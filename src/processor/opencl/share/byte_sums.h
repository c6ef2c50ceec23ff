// How a GPU sums the products of a convolution of bytes: in whole numbers, or in f32.
//
// An input minus its zero point, and a weight minus its own, are whole numbers of at most 255: exact as f16,
// whose numbers are whole up to 2048, and so are their products as f32. A GPU that computes with f16
// (GpuTarget::storage) therefore loads bytes as what f16 would hold, without their scales, and adds in f32:
// the scales come to the sum. Only an addition beyond 2^24 rounds.
//
// Error. Let n be the weights of an output that are not zero, u = 2^-24, and B the largest magnitude that a
// part of its sum can have, whatever the bytes and the order. No addition rounds if B <= 2^24. Otherwise each
// of n additions rounds a number of at most B + E, where E is the error of the sum, by u of it, so that
//   E <= n u (B + E), and E <= n u B / (1 - n u).
// With the scale of the output's channel E becomes an error in levels. Scaling, rounding and clamping never
// change the order of two sums, so bytes of sums that are less than a level apart differ by at most one. A
// table behind the sums has any bytes for these, so sums before a table are exact.
#pragma once

#include <cstdint>

#include "dispatch/quantized.h"
#include "processor/opencl/kernels/convolution.h"

namespace mete::opencl {

// Returns the largest error, in levels of the output, of sums in f32; 0: they are exact.
double LevelsOfF32Sums(const QuantizedConvolution& conv);

// Returns the sums of the kernel: in f32 where these are exact or, with `within_a_level`, where bytes differ
// by at most one from those of exact sums; else in whole numbers.
ByteSums SumsOf(const QuantizedConvolution& conv, bool within_a_level);

}  // namespace mete::opencl
