// The sums of a convolution, computed plane by plane in double. Conv, ConvTranspose and the quantized
// convolutions share them.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/window.h"

namespace mete {

enum class ConvDirection { kForward, kTransposed };

struct ConvCall {
  ImageDims x, y;
  Window window;
  int64_t x_group, y_group;  // channels of one group of x, and of y
  int64_t taps;              // elements of one plane of weights
  ConvDirection direction;

  // The weights are [y channels][x_group][taps], or [x channels][y_group][taps] of a transposed convolution.
  ConvCall(const Attributes& attributes, const Shape& x_shape, const Shape& weights, const Shape& y_shape,
           ConvDirection direction = ConvDirection::kForward)
      : direction(direction) {
    const TensorOrder order = OrderOf(attributes);
    x = ImageDimsOf(x_shape, order);
    y = ImageDimsOf(y_shape, order);
    const int64_t group = attributes.Int("group", 1);
    x_group = x.channels / group;
    y_group = y.channels / group;
    const auto kernel = weights.dims().subspan(2);
    if (direction == ConvDirection::kTransposed) ResolveTransposedWindow(attributes, x, kernel, window);
    else ResolveWindow(attributes, x, kernel, WindowKind::kConvolution, window);
    taps = window[0].kernel * window[1].kernel * window[2].kernel;
  }

  // Restricts the convolution to the first `channels` channels of y, for a y with more channels than it
  // computes.
  void NarrowOutput(int64_t channels) {
    y_group = channels / (x.channels / x_group);
    y.channels = channels;
  }
};

// Calls body(tap, output depth, output row, input depth, input row, kernel column, output columns) for every
// tap of one plane of weights and every row of outputs that the tap contributes to.
template <class F>
void ForEachTapRow(const Window& w, F&& body) {
  int64_t tap = 0;
  for (int64_t kd = 0; kd < w[0].kernel; ++kd)
    for (int64_t kh = 0; kh < w[1].kernel; ++kh)
      for (int64_t kw = 0; kw < w[2].kernel; ++kw, ++tap) {
        const IndexRange od = w[0].OutputsOfTap(kd), oh = w[1].OutputsOfTap(kh), ow = w[2].OutputsOfTap(kw);
        if (ow.size() == 0) continue;
        for (int64_t d = od.begin; d < od.end; ++d)
          for (int64_t h = oh.begin; h < oh.end; ++h)
            body(tap, d, h, w[0].Input(d, kd), w[1].Input(h, kh), kw, ow);
      }
}

template <class T>
void AddPlane(const ConvCall& c, const T* x, const T* weights, double* sums) {
  const int64_t step = c.window[2].stride * c.x.stride[2];
  ForEachTapRow(
      c.window, [&](int64_t tap, int64_t d, int64_t h, int64_t xd, int64_t xh, int64_t kw, IndexRange ow) {
        const double weight = weights[tap];
        double* row = sums + (d * c.y.size[1] + h) * c.y.size[2];
        const T* from =
            x + xd * c.x.stride[0] + xh * c.x.stride[1] + c.window[2].Input(ow.begin, kw) * c.x.stride[2];
        for (int64_t o = ow.begin; o < ow.end; ++o) row[o] += weight * double(from[(o - ow.begin) * step]);
      });
}

// Adds a plane with the roles of the window exchanged: the outputs of the window index x, and its inputs
// index the sums.
template <class T>
void AddPlaneTransposed(const ConvCall& c, const T* x, const T* weights, double* sums) {
  ForEachTapRow(c.window,
                [&](int64_t tap, int64_t d, int64_t h, int64_t yd, int64_t yh, int64_t kw, IndexRange ow) {
                  const double weight = weights[tap];
                  double* row = sums + (yd * c.y.size[1] + yh) * c.y.size[2];
                  const T* from = x + d * c.x.stride[0] + h * c.x.stride[1];
                  for (int64_t o = ow.begin; o < ow.end; ++o)
                    row[c.window[2].Input(o, kw)] += weight * double(from[o * c.x.stride[2]]);
                });
}

// Calls store(sum, output channel, index of y's element) for every output. `sums` has room for one plane of
// y.
template <class T, class Store>
void Convolve(const ConvCall& c, const T* x, const T* weights, double* sums, Store&& store) {
  for (int64_t n = 0; n < c.y.batch; ++n)
    for (int64_t m = 0; m < c.y.channels; ++m) {
      std::fill_n(sums, c.y.plane(), 0.0);
      for (int64_t i = 0; i < c.x_group; ++i) {
        const int64_t channel = m / c.y_group * c.x_group + i;
        const T* plane = x + n * c.x.batch_stride + channel * c.x.channel_stride;
        if (c.direction == ConvDirection::kTransposed)
          AddPlaneTransposed(c, plane, weights + (channel * c.y_group + m % c.y_group) * c.taps, sums);
        else AddPlane(c, plane, weights + (m * c.x_group + i) * c.taps, sums);
      }
      const double* sum = sums;
      const int64_t start = n * c.y.batch_stride + m * c.y.channel_stride;
      for (int64_t d = 0; d < c.y.size[0]; ++d)
        for (int64_t h = 0; h < c.y.size[1]; ++h)
          for (int64_t w = 0; w < c.y.size[2]; ++w)
            store(*sum++, m, start + d * c.y.stride[0] + h * c.y.stride[1] + w * c.y.stride[2]);
    }
}

}  // namespace mete
