// Checks that the inference functions of convolutions (plain, transposed, deformable, quantized) and of
// pooling share.
#pragma once

#include <algorithm>
#include <span>
#include <string>

#include "base/window.h"
#include "graph/operators.h"

namespace mete {

inline void CheckWindow(const InferContext& c, const std::string& problem) {
  if (!problem.empty()) c.Bad("{}", problem);
}

inline TensorOrder CheckedOrder(const InferContext& c) {
  const std::string_view layout = c.attributes.String("layout", "");
  if (!layout.empty() && layout != "NHWC" && layout != "NCHW")
    c.Bad("layout is unknown; got {}, expected NHWC or NCHW", layout);
  if (layout == "NHWC") c.NeedRank(0, 4, 4);
  return OrderOf(c.attributes);
}

inline ImageDims InputDims(const InferContext& c, TensorOrder order) {
  c.NeedRank(0, 3, 2 + kSpatialDims);
  return ImageDimsOf(c.shape(0), order);
}

// Returns the spatial dimensions of the weights. Throws an Error if kernel_shape is given and differs from
// them.
inline std::span<const int64_t> KernelOf(const InferContext& c, int weights = 1) {
  c.NeedRank(weights, c.shape(0).rank(), c.shape(0).rank());
  const auto kernel = c.shape(weights).dims().subspan(2);
  if (CheckedElements(c.shape(weights), c.type(weights), int64_t(1) << 40) < 1)
    c.Bad("weights have impossible dimensions; got {}", ToString(c.shape(weights)));
  const Ints& said = c.attributes.IntList("kernel_shape");
  if (!said.empty() && !std::equal(said.begin(), said.end(), kernel.begin(), kernel.end()))
    c.Bad("kernel_shape does not fit the weights; got {}, expected the last dimensions of {}",
          ToString(Attribute(said)), ToString(c.shape(weights)));
  return kernel;
}

inline int64_t GroupOf(const InferContext& c, int64_t channels) {
  const int64_t group = c.attributes.Int("group", 1);
  if (group < 1 || channels % group != 0)
    c.Bad("group does not divide the channels; got {} of {}", group, channels);
  return group;
}

inline void CheckBias(const InferContext& c, int i, int64_t channels) {
  if (c.has(i) && c.shape(i) != Shape{channels})
    c.Bad("bias has the wrong shape; got {}, expected {}", ToString(c.shape(i)), channels);
}

inline void CheckWeights(const InferContext& c, int64_t got, int64_t expected, const char* what,
                         int weights = 1) {
  if (got != expected)
    c.Bad("weights do not fit: {}; got {}, expected {} (weights {}, input {})", what, got, expected,
          ToString(c.shape(weights)), ToString(c.shape(0)));
}

// Returns the shape of the output of a Conv whose weights are input `weights`.
inline Shape ConvShape(const InferContext& c, int weights) {
  const TensorOrder order = CheckedOrder(c);
  const ImageDims x = InputDims(c, order);
  const auto kernel = KernelOf(c, weights);
  const int64_t outputs = c.shape(weights)[0], group = GroupOf(c, x.channels);
  CheckWeights(c, c.shape(weights)[1], x.channels / group, "input channels of a group", weights);
  if (outputs % group != 0) c.Bad("group does not divide the output channels; got {} of {}", group, outputs);
  Window window;
  CheckWindow(c, ResolveWindow(c.attributes, x, kernel, WindowKind::kConvolution, window));
  return OutputShape(x, outputs, window, order);
}

// Returns the shape of the output of a pool with attribute kernel_shape.
inline Shape PooledShape(const InferContext& c) {
  const TensorOrder order = CheckedOrder(c);
  const ImageDims x = InputDims(c, order);
  Window window;
  CheckWindow(
      c, ResolveWindow(c.attributes, x, c.attributes.IntList("kernel_shape"), WindowKind::kPool, window));
  return OutputShape(x, x.channels, window, order);
}

// Returns the shape of the output of a pool over whole images.
inline Shape GloballyPooledShape(const InferContext& c) {
  c.NeedRank(0, 2);
  const bool nhwc = CheckedOrder(c) == TensorOrder::kNhwc;
  Shape y = c.shape(0);
  for (int i = nhwc ? 1 : 2; i < y.rank() - (nhwc ? 1 : 0); ++i) y[i] = 1;
  return y;
}

}  // namespace mete
