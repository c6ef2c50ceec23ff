// Sliding windows: which inputs a convolution or a pooling of up to three dimensions reads, and how a 3- to
// 5-D activation is laid out in memory. Shape inference and kernels share this code, so that they cannot
// differ.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "base/attributes.h"
#include "mete/image.h"
#include "mete/tensor.h"

namespace mete {

inline constexpr int kSpatialDims = 3;

// Indices [begin, end), with end >= begin.
struct IndexRange {
  int64_t begin = 0, end = 0;
  int64_t size() const { return end - begin; }
};

// One dimension of a window: tap k of output o reads input o * stride - pad + k * dilation. Indices outside
// [0, in) are padding.
struct WindowAxis {
  int64_t kernel = 1, stride = 1, dilation = 1;
  int64_t pad = 0, pad_end = 0;
  int64_t in = 1, out = 1;

  int64_t extent() const { return (kernel - 1) * dilation + 1; }
  int64_t Input(int64_t o, int64_t k) const { return o * stride - pad + k * dilation; }
  // Returns the outputs whose tap k reads no padding.
  IndexRange OutputsOfTap(int64_t k) const { return Hits(k * dilation - pad, stride, out); }
  // Returns the taps of output o that read no padding.
  IndexRange TapsOfOutput(int64_t o) const { return Hits(o * stride - pad, dilation, kernel); }
  // Returns the taps of output o that read the padded input, which has pad + in + pad_end elements. With
  // ceil_mode, the last window can reach beyond it.
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

// Dimensions are right-aligned: a 1-D window has its one dimension at the last index, and the other axes have
// their default values.
using Window = std::array<WindowAxis, kSpatialDims>;

// An activation as batch x channels x up to three spatial dimensions, in any memory order. Strides count
// elements.
struct ImageDims {
  int64_t batch = 1, channels = 1;
  std::array<int64_t, kSpatialDims> size{1, 1, 1};  // right-aligned like Window
  int64_t batch_stride = 0, channel_stride = 0;
  std::array<int64_t, kSpatialDims> stride{0, 0, 0};
  int spatial = 0;  // number of spatial dimensions that the activation has

  int64_t plane() const { return size[0] * size[1] * size[2]; }
};

// Returns true if the attribute layout="NHWC" is set: a 4-D activation has its channels innermost.
bool IsNhwc(const Attributes& attributes);
TensorOrder OrderOf(const Attributes& attributes);
// `shape` must have rank 3 to 5, or 4 if `order` is NHWC.
ImageDims ImageDimsOf(const Shape& shape, TensorOrder order = TensorOrder::kNchw);
// Return the shapes, in memory order, of what `window` makes and reads, with `channels` channels and the
// batch of `like`.
Shape OutputShape(const ImageDims& like, int64_t channels, const Window& window, TensorOrder order);
Shape InputShape(const ImageDims& like, int64_t channels, const Window& window, TensorOrder order);

// Returns the padding that a node states for its `spatial` dimensions, all begins and then all ends:
// attribute `pads`, or none with auto_pad=VALID. Returns nothing where it depends on sizes (SAME_UPPER,
// SAME_LOWER), or where ResolveWindow() refuses it.
std::optional<Ints> StatedPads(const Attributes& attributes, size_t spatial);

enum class WindowKind { kConvolution, kPool };

// Reads strides, dilations, pads, auto_pad (and ceil_mode of a pool) and computes padding and output sizes.
// Returns a description of the problem, or an empty string. `kernel` must have x.spatial elements.
std::string ResolveWindow(const Attributes& attributes, const ImageDims& x, std::span<const int64_t> kernel,
                          WindowKind kind, Window& window);

// Resolves the window of a ConvTranspose, which is the window of the convolution that it transposes: `in` is
// the size of the ConvTranspose's output and `out` the size of its input. Also reads output_shape and
// output_padding.
std::string ResolveTransposedWindow(const Attributes& attributes, const ImageDims& x,
                                    std::span<const int64_t> kernel, Window& window);

}  // namespace mete
