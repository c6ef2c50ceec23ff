// A transposed convolution of f32 over NHWC as convolutions at stride 1, which write side by side.
//
// At stride s, input i reaches the output i * s - pad + k * dilation through tap k of the kernel. The outputs
// whose positions leave the same rest modulo s are a phase: they read the same taps, and the next of them
// reads the next input. A phase of both axes is therefore a convolution with some of the taps, in reverse
// order, and its outputs lie s pixels apart. No zero is multiplied and nothing is moved afterwards.
//
// Where the kernel is as wide as the stride, the phases of a row of the output read the same pixels, by a tap
// each. They are joined: one convolution whose output channels are those of s neighbouring pixels.
#pragma once

#include <vector>

#include "kernels/fast/conv/conv.h"

namespace mete {

// The taps of one axis that a phase reads: those from `last` downwards, `step` apart.
struct PhaseTaps {
  int64_t count = 0, last = 0, step = 1;
};

struct ConvPhase {
  // Computes one image, without its batch. A phase that no tap reaches has one that reads nothing but
  // padding. Joined phases have the output channels of all of them, pixel by pixel.
  ConvShape conv;
  int64_t first = 0;  // element of an image of the output where the phase begins
  PhaseTaps rows, columns;
};

// Returns the phases of a transposed convolution, at most stride_y * stride_x. `shape` has its input and its
// output; strides, dilations and pads are those of the convolution that it transposes.
std::vector<ConvPhase> PhasesOf(const ConvShape& shape);

// Returns the weights of a phase as those of its convolution, [out_channels][in_channels / groups][taps].
// `weights` is [in_channels][out_channels / groups][kernel_height][kernel_width] as in ONNX.
std::vector<float> PhaseWeights(const ConvShape& shape, const ConvPhase& phase, const float* weights);

// Returns the bias of each output channel of a phase. `bias` has one for each of the transposed convolution.
std::vector<float> PhaseBias(const ConvShape& shape, const ConvPhase& phase, const float* bias);

}  // namespace mete
