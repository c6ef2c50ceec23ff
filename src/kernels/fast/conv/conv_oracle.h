// The oracle of conv_test.cc, depthwise_test.cc and winograd_test.cc: a convolution as a plain sum in double
// over NHWC.
#pragma once

#include <algorithm>

#include "kernels/fast/conv/conv.h"
#include "kernels/fast/test_util.h"

namespace mete {

// Returns the shape with the output's size for the given bottom and right padding.
inline ConvShape Sized(ConvShape s, int64_t pad_bottom, int64_t pad_right) {
  s.out_height =
      (s.in_height + s.pad_top + pad_bottom - s.dilation_y * (s.kernel_height - 1) - 1) / s.stride_y + 1;
  s.out_width =
      (s.in_width + s.pad_left + pad_right - s.dilation_x * (s.kernel_width - 1) - 1) / s.stride_x + 1;
  return s;
}

inline std::vector<ConvShape> OddConvShapes() {
  return {
      // batch, in h w c, out h w (Sized sets them), out c, kernel, stride, dilation, pad top left, groups
      Sized({1, 5, 7, 3, 1, 1, 8, 3, 3, 1, 1, 1, 1, 1, 1, 1}, 1, 1),
      Sized({2, 17, 16, 3, 1, 1, 33, 7, 7, 2, 2, 1, 1, 3, 3, 1}, 3, 3),
      Sized({1, 9, 9, 20, 1, 1, 37, 3, 3, 1, 1, 1, 1, 1, 1, 1}, 1, 1),
      Sized({1, 8, 11, 70, 1, 1, 16, 1, 1, 2, 2, 1, 1, 0, 0, 1}, 0, 0),
      Sized({2, 6, 6, 40, 1, 1, 65, 1, 1, 1, 1, 1, 1, 0, 0, 1}, 0, 0),
      Sized({1, 10, 10, 5, 1, 1, 6, 3, 3, 1, 1, 2, 2, 2, 2, 1}, 2, 2),
      Sized({1, 10, 9, 12, 1, 1, 18, 3, 3, 1, 2, 1, 1, 1, 1, 3}, 1, 1),
      Sized({1, 12, 12, 6, 1, 1, 12, 5, 2, 3, 1, 1, 3, 0, 1, 2}, 2, 1),
      Sized({1, 1, 30, 4, 1, 1, 9, 1, 5, 1, 2, 1, 1, 0, 2, 1}, 0, 2),
      Sized({1, 2, 2, 1, 1, 1, 1, 5, 5, 1, 1, 1, 1, 4, 4, 1}, 4, 4),
      Sized({1, 4, 4, 600, 1, 1, 10, 3, 3, 1, 1, 1, 1, 1, 1, 1}, 1, 1),
      Sized({1, 3, 3, 8, 1, 1, 8, 1, 1, 1, 1, 1, 1, 1, 1, 8}, 1, 1),
      Sized({1, 7, 6, 10, 1, 1, 14, 3, 3, 1, 1, 1, 1, 1, 1, 1, 13, 19}, 1, 1),
      Sized({1, 7, 6, 10, 1, 1, 14, 1, 1, 1, 1, 1, 1, 0, 0, 1, 13, 19}, 0, 0),
      // taps that lie in the padding for whole tiles, and for all pixels
      Sized({1, 9, 17, 20, 1, 1, 40, 3, 3, 1, 1, 6, 12, 6, 12, 1}, 6, 12),
      Sized({2, 5, 4, 6, 1, 1, 9, 3, 5, 1, 1, 5, 4, 5, 8, 1}, 5, 8),
      // outputs that are too few for a vector
      Sized({1, 9, 10, 40, 1, 1, 1, 3, 3, 1, 1, 1, 1, 1, 1, 1}, 1, 1),
      Sized({2, 7, 8, 37, 1, 1, 3, 3, 3, 2, 2, 1, 1, 1, 1, 1, 41, 7}, 1, 1),
      Sized({1, 5, 7, 130, 1, 1, 2, 1, 1, 1, 1, 1, 1, 0, 0, 1}, 0, 0),
      Sized({1, 1, 90, 1, 1, 1, 1, 1, 70, 1, 1, 1, 1, 0, 30, 1}, 0, 30),
      Sized({1, 6, 5, 48, 1, 1, 8, 3, 3, 1, 1, 1, 1, 1, 1, 1}, 1, 1),
      Sized({1, 5, 5, 132, 1, 1, 8, 3, 3, 1, 1, 2, 2, 2, 2, 2}, 2, 2),
  };
}

// The random operands of a convolution, and the check of its output.
class ConvProblem {
 public:
  // Odd seeds give an epilogue with a residual. `round` is applied to inputs and weights.
  ConvProblem(const ConvShape& shape, FusedOp op, uint32_t seed, float (*round)(float) = nullptr)
      : s_(shape) {
    RandomData random(seed);
    in_stride_ = s_.in_pixel_stride ? s_.in_pixel_stride : s_.in_channels;
    out_stride_ = s_.out_pixel_stride ? s_.out_pixel_stride : s_.out_channels;
    input_ = random.Floats(s_.batch * s_.in_height * s_.in_width * in_stride_);
    weights_ =
        random.Floats(s_.out_channels * (s_.in_channels / s_.groups) * s_.kernel_height * s_.kernel_width);
    if (round)
      for (auto* list : {&input_, &weights_})
        std::transform(list->begin(), list->end(), list->begin(), round);
    bias_ = random.Floats(s_.out_channels);
    residual_ = random.Floats(s_.out_pixels() * out_stride_);
    epilogue_.bias = bias_.data();
    epilogue_.activation = {op, 0.1f, 3};
    if (seed % 2) epilogue_.residual = residual_.data();
  }

  const ConvShape& shape() const { return s_; }
  const float* input() const { return input_.data(); }
  size_t inputs() const { return input_.size(); }
  const float* weights() const { return weights_.data(); }
  const Epilogue& epilogue() const { return epilogue_; }
  std::vector<float> Blank() const {
    return std::vector<float>(static_cast<size_t>(s_.out_pixels() * out_stride_), -77.0f);
  }

  struct Sums {
    double sum = 0, magnitude = 1;
  };

  void Check(const std::vector<float>& out) const {
    const int64_t k = s_.in_channels / s_.groups * s_.kernel_height * s_.kernel_width;
    Check(out, [&](int64_t, int64_t, const Sums& sums) { return SumTolerance(k + 2, sums.magnitude + 2); });
  }

  // Checks every output; tolerance(pixel, channel, sums) returns the allowed error.
  template <class Tolerance>
  void Check(const std::vector<float>& out, const Tolerance& tolerance) const {
    for (int64_t p = 0; p < s_.out_pixels(); ++p) {
      for (int64_t m = 0; m < out_stride_; ++m) {
        const float got = out[static_cast<size_t>(p * out_stride_ + m)];
        if (m >= s_.out_channels) {
          ASSERT_EQ(got, -77.0f) << "written outside at pixel " << p << " channel " << m;
          continue;
        }
        Sums sums = Sum(p, m);
        if (epilogue_.residual) sums.sum += residual_[p * out_stride_ + m];
        ASSERT_NEAR(got, ActivateOracle(epilogue_.activation, sums.sum + bias_[m]), tolerance(p, m, sums))
            << "pixel " << p << " channel " << m;
      }
    }
  }

  // Returns the sums of output channel m of pixel p, without bias and residual.
  Sums Sum(int64_t p, int64_t m) const {
    const int64_t n = p / (s_.out_height * s_.out_width), y = p / s_.out_width % s_.out_height,
                  x = p % s_.out_width;
    const int64_t gc = s_.in_channels / s_.groups, group = m / (s_.out_channels / s_.groups);
    Sums sums;
    for (int64_t ky = 0; ky < s_.kernel_height; ++ky) {
      for (int64_t kx = 0; kx < s_.kernel_width; ++kx) {
        const int64_t iy = y * s_.stride_y - s_.pad_top + ky * s_.dilation_y,
                      ix = x * s_.stride_x - s_.pad_left + kx * s_.dilation_x;
        if (iy < 0 || ix < 0 || iy >= s_.in_height || ix >= s_.in_width) continue;
        const float* from = &input_[((n * s_.in_height + iy) * s_.in_width + ix) * in_stride_ + group * gc];
        for (int64_t c = 0; c < gc; ++c) {
          const double product =
              double{from[c]} * weights_[((m * gc + c) * s_.kernel_height + ky) * s_.kernel_width + kx];
          sums.sum += product;
          sums.magnitude += std::abs(product);
        }
      }
    }
    return sums;
  }

 private:
  ConvShape s_;
  int64_t in_stride_, out_stride_;
  std::vector<float> input_, weights_, bias_, residual_;
  Epilogue epilogue_;
};

}  // namespace mete
