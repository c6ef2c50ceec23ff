// Sliding windows: where a convolution or a pooling of up to three dimensions looks, and how a 3- to 5-D
// activation lies in memory. Shared by the shape inference and by the kernels, so that they cannot differ.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "base/attributes.h"
#include "mete/tensor.h"

namespace mete {

inline constexpr int kSpatialDims = 3;

// Indices [begin, end); empty where end <= begin never happens: end >= begin.
struct IndexRange {
  int64_t begin = 0, end = 0;
  int64_t size() const { return end - begin; }
};

// One dimension: output o, tap k reads input o * stride - pad + k * dilation. Indices outside [0, in) are
// padding.
struct WindowAxis {
  int64_t kernel = 1, stride = 1, dilation = 1;
  int64_t pad = 0, pad_end = 0;
  int64_t in = 1, out = 1;

  int64_t extent() const { return (kernel - 1) * dilation + 1; }
  int64_t Input(int64_t o, int64_t k) const { return o * stride - pad + k * dilation; }
  // outputs whose tap k is no padding
  IndexRange OutputsOfTap(int64_t k) const { return Hits(k * dilation - pad, stride, out); }
  // taps of o that are no padding
  IndexRange TapsOfOutput(int64_t o) const { return Hits(o * stride - pad, dilation, kernel); }
  // The same where the padded input, pad + in + pad_end long, is what must be hit.
  IndexRange PaddedTapsOfOutput(int64_t o) const;

 private:
  IndexRange Hits(int64_t start, int64_t step, int64_t count) const {
    IndexRange r;
    r.begin = start >= 0 ? 0 : std::min(count, (-start + step - 1) / step);
    r.end = in - 1 - start < 0 ? 0 : std::min(count, (in - 1 - start) / step + 1);
    r.end = std::max(r.begin, r.end);
    return r;
  }
};

// Dimensions are right-aligned: a 1-D window has its one dimension at the last index, the others are trivial.
using Window = std::array<WindowAxis, kSpatialDims>;

// An activation as batch x channels x up to three spatial dimensions, whatever its order in memory. Strides
// in elements.
struct ImageDims {
  int64_t batch = 1, channels = 1;
  std::array<int64_t, kSpatialDims> size{1, 1, 1};  // right-aligned like Window
  int64_t batch_stride = 0, channel_stride = 0;
  std::array<int64_t, kSpatialDims> stride{0, 0, 0};
  int spatial = 0;  // how many dimensions are real

  int64_t plane() const { return size[0] * size[1] * size[2]; }
};

// True where the attribute layout="NHWC" says that a 4-D activation has its channels innermost.
bool IsNhwc(const Attributes& attributes);
// `shape` has rank 3 to 5 (4 where nhwc).
ImageDims ImageDimsOf(const Shape& shape, bool nhwc);
// The shape in memory order of an activation with these sizes.
Shape ImageShape(const ImageDims& like, int64_t channels, const Window& window, bool nhwc,
                 bool transposed = false);

// Reads strides, dilations, pads, auto_pad (and ceil_mode where `pooling`) and computes padding and output
// sizes. Returns what is wrong in words, or an empty string. `kernel` has x.spatial elements.
std::string ResolveWindow(const Attributes& attributes, const ImageDims& x, std::span<const int64_t> kernel,
                          bool pooling, Window& window);

// For ConvTranspose, which is the same window seen from its output: `in` is what it makes and `out` what it
// reads. Reads output_shape and output_padding as well.
std::string ResolveTransposedWindow(const Attributes& attributes, const ImageDims& x,
                                    std::span<const int64_t> kernel, Window& window);

}  // namespace mete
