#include "kernels/fast/conv/window.h"

#include <algorithm>
#include <string_view>

#include "base/fused.h"
#include "base/window.h"

namespace mete {

ConvShape WindowOf(const Shape& x, const Shape& y, const Attributes& attributes, int64_t kernel_height,
                   int64_t kernel_width) {
  ConvShape s;
  s.batch = x[0];
  s.in_height = x[1];
  s.in_width = x[2];
  s.in_channels = x[3];
  s.out_height = y[1];
  s.out_width = y[2];
  s.out_channels = y[3];
  s.kernel_height = kernel_height;
  s.kernel_width = kernel_width;
  const Ints &strides = attributes.IntList("strides"), &dilations = attributes.IntList("dilations");
  if (strides.size() == 2) {
    s.stride_y = strides[0];
    s.stride_x = strides[1];
  }
  if (dilations.size() == 2) {
    s.dilation_y = dilations[0];
    s.dilation_x = dilations[1];
  }
  const std::string_view mode = attributes.String("auto_pad", "NOTSET");
  if (mode == "SAME_UPPER" || mode == "SAME_LOWER") {
    auto before = [&](int64_t in, int64_t out, int64_t kernel, int64_t stride, int64_t dilation) {
      const int64_t all = std::max<int64_t>(0, (out - 1) * stride + (kernel - 1) * dilation + 1 - in);
      return mode == "SAME_UPPER" ? all / 2 : all - all / 2;
    };
    s.pad_top = before(s.in_height, s.out_height, s.kernel_height, s.stride_y, s.dilation_y);
    s.pad_left = before(s.in_width, s.out_width, s.kernel_width, s.stride_x, s.dilation_x);
  } else if (const auto pads = StatedPads(attributes, 2)) {
    s.pad_top = (*pads)[0];
    s.pad_left = (*pads)[1];
  }
  return s;
}

ConvShape ConvShapeOf(const Shape& x, const Shape& weights, const Shape& y, const Attributes& attributes) {
  ConvShape s = WindowOf(x, y, attributes, weights[2], weights[3]);
  s.groups = attributes.Int("group", 1);
  if (attributes.Has(kIntoChannels)) s.out_pixel_stride = s.out_channels;
  s.out_channels = weights[0];
  return s;
}

}  // namespace mete
