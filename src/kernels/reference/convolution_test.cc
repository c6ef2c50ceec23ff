#include <gtest/gtest.h>

#include <array>
#include <random>

#include "base/half.h"
#include "kernels/reference/reference_testing.h"

namespace mete {
namespace {

using std::string;

// An independent oracle: for every output it visits every input position and checks whether a tap is there.
// It only supports explicit padding.
struct Case {
  int spatial;
  int64_t batch, channels, outputs, group;
  Ints size, kernel, stride, dilation, pads;
};

std::vector<Ints> AllPlaces(const Ints& sizes) {
  std::vector<Ints> places{{}};
  for (int64_t n : sizes) {
    std::vector<Ints> longer;
    for (const Ints& p : places)
      for (int64_t i = 0; i < n; ++i) {
        longer.push_back(p);
        longer.back().push_back(i);
      }
    places = longer;
  }
  return places;
}

Shape Join(Ints head, const Ints& tail) {
  head.insert(head.end(), tail.begin(), tail.end());
  return Shape(std::span<const int64_t>(head));
}

enum class Direction { kForward, kTransposed };

std::vector<double> Naive(const Case& c, const Tensor& x, const Tensor& w, const Tensor& bias,
                          const Ints& out_size, Direction direction) {
  const bool transposed = direction == Direction::kTransposed;
  const auto in_places = AllPlaces(c.size), taps = AllPlaces(c.kernel), out_places = AllPlaces(out_size);
  const int64_t x_group = c.channels / c.group, y_group = c.outputs / c.group;
  std::vector<double> y;
  for (int64_t n = 0; n < c.batch; ++n)
    for (int64_t m = 0; m < c.outputs; ++m)
      for (const Ints& o : out_places) {
        double sum = bias.as<float>()[m];
        for (size_t t = 0; t < taps.size(); ++t)
          for (size_t i = 0; i < in_places.size(); ++i) {
            bool hit = true;
            for (int d = 0; d < c.spatial; ++d) {
              const size_t s = size_t(d);
              const int64_t small = transposed ? in_places[i][s] : o[s],
                            big = transposed ? o[s] : in_places[i][s];
              hit &= small * c.stride[s] - c.pads[s] + taps[t][s] * c.dilation[s] == big;
            }
            if (!hit) continue;
            for (int64_t k = 0; k < x_group; ++k) {
              const int64_t channel = m / y_group * x_group + k;
              const int64_t at = transposed ? channel * y_group + m % y_group : m * x_group + k;
              const float* plane = x.as<float>() + (n * c.channels + channel) * int64_t(in_places.size());
              sum += double(plane[i]) * double(w.as<float>()[size_t(at) * taps.size() + t]);
            }
          }
        y.push_back(sum);
      }
  return y;
}

class Random {
 public:
  explicit Random(uint32_t seed) : engine_(seed) {}
  int64_t operator()(int64_t least, int64_t most) {
    return std::uniform_int_distribution<int64_t>(least, most)(engine_);
  }
  Tensor Floats(const Shape& shape) {
    std::vector<float> values(size_t(shape.Elements()));
    for (float& v : values) v = std::uniform_real_distribution<float>(-1, 1)(engine_);
    return F(shape, values);
  }

 private:
  std::mt19937 engine_;
};

Case RandomCase(Random& r) {
  Case c{.spatial = int(r(1, 3))};
  c.batch = r(1, 2);
  c.group = r(1, 3);
  c.channels = c.group * r(1, 3);
  c.outputs = c.group * r(1, 3);
  for (int i = 0; i < c.spatial; ++i) {
    c.kernel.push_back(r(1, 3));
    c.stride.push_back(r(1, 3));
    c.dilation.push_back(r(1, 3));
    c.size.push_back((c.kernel.back() - 1) * c.dilation.back() + r(1, 4));
  }
  for (int i = 0; i < 2 * c.spatial; ++i) c.pads.push_back(r(0, 2));
  return c;
}

Attributes AttributesOf(const Case& c) {
  return Attrs({{"strides", c.stride},
                {"dilations", c.dilation},
                {"pads", c.pads},
                {"group", c.group},
                {"kernel_shape", c.kernel}});
}

Ints SpatialOf(const Tensor& t) { return Ints(t.shape().begin() + 2, t.shape().end()); }

void ExpectClose(const std::vector<double>& expected, const Tensor& got, const string& what) {
  ASSERT_EQ(int64_t(expected.size()), got.elements()) << what;
  for (size_t i = 0; i < expected.size(); ++i)
    ASSERT_NEAR(expected[i], got.as<float>()[i], 2e-6 * (1 + std::abs(expected[i])))
        << what << " element " << i;
}

Tensor Transposed(const Tensor& x, const std::array<int, 4>& order) {
  const Shape& s = x.shape();
  const Shape to{s[order[0]], s[order[1]], s[order[2]], s[order[3]]};
  const int64_t step[4] = {s[1] * s[2] * s[3], s[2] * s[3], s[3], 1};
  std::vector<float> out;
  for (const Ints& p : AllPlaces(Ints(to.begin(), to.end()))) {
    int64_t at = 0;
    for (size_t i = 0; i < 4; ++i) at += p[i] * step[order[i]];
    out.push_back(x.as<float>()[at]);
  }
  return F(to, out);
}

Tensor ToNhwc(const Tensor& x) { return Transposed(x, {0, 2, 3, 1}); }
Tensor ToNchw(const Tensor& x) { return Transposed(x, {0, 3, 1, 2}); }

TEST(ConvReference, EqualsTheNaiveSumOverOddShapes) {
  for (uint32_t seed = 1; seed <= 150; ++seed) {
    Random r(seed);
    const Case c = RandomCase(r);
    const Tensor x = r.Floats(Join({c.batch, c.channels}, c.size)),
                 w = r.Floats(Join({c.outputs, c.channels / c.group}, c.kernel));
    const Tensor bias = r.Floats({c.outputs});
    const Tensor y = RunOp("Conv", AttributesOf(c), {x, w, bias})[0];
    ExpectClose(Naive(c, x, w, bias, SpatialOf(y), Direction::kForward), y, "seed " + std::to_string(seed));
  }
}

TEST(ConvTransposeReference, EqualsTheNaiveSumOverOddShapes) {
  for (uint32_t seed = 1; seed <= 20; ++seed) {
    Random r(seed);
    Case c = RandomCase(r);
    for (int i = 0; i < c.spatial; ++i) {  // padding that leaves no output is an error
      const int64_t full = (c.size[size_t(i)] - 1) * c.stride[size_t(i)] +
                           (c.kernel[size_t(i)] - 1) * c.dilation[size_t(i)] + 1;
      if (full <= 4) c.pads[size_t(i)] = c.pads[size_t(i + c.spatial)] = 0;
    }
    const Tensor x = r.Floats(Join({c.batch, c.channels}, c.size)),
                 w = r.Floats(Join({c.channels, c.outputs / c.group}, c.kernel));
    const Tensor bias = r.Floats({c.outputs});
    Attributes attributes = AttributesOf(c);
    attributes.Set("output_padding", Ints(size_t(c.spatial), r(0, 1)));
    const Tensor y = RunOp("ConvTranspose", attributes, {x, w, bias})[0];
    ExpectClose(Naive(c, x, w, bias, SpatialOf(y), Direction::kTransposed), y,
                "seed " + std::to_string(seed));
  }
}

TEST(ConvReference, BothLayoutsAgree) {
  for (const char* op : {"Conv", "ConvTranspose"}) {
    Random r(7);
    const Tensor x = r.Floats({2, 4, 5, 6}), w = r.Floats({4, 2, 3, 2}), bias = r.Floats({4});
    Attributes plain = Attrs({{"strides", Ints{2, 1}}, {"pads", Ints{1, 0, 1, 1}}, {"group", int64_t(2)}}),
               nhwc = plain;
    nhwc.Set("layout", string("NHWC"));
    const Tensor used = string(op) == "Conv" ? bias : Tensor();
    const Tensor a = RunOp(op, plain, {x, w, used})[0], b = ToNchw(RunOp(op, nhwc, {ToNhwc(x), w, used})[0]);
    ASSERT_EQ(a.shape(), b.shape());
    for (int64_t i = 0; i < a.elements(); ++i) EXPECT_EQ(a.as<float>()[i], b.as<float>()[i]) << op;
  }
}

TEST(ConvReference, AddsTheResidualBeforeTheActivation) {
  const Tensor x = F({1, 1, 1, 3}, {1, -2, 3}), w = F({1, 1, 1, 1}, {2}), bias = F({1}, {1}),
               residual = F({1, 1, 1, 3}, {-4, 1, 5});
  const Attributes relu = Attrs({{"activation", string("Relu")}, {"residual", int64_t(1)}});
  EXPECT_EQ(RunFor<float>("Conv", relu, {x, w, bias, residual}), (std::vector<float>{0, 0, 12}));
  const Attributes clip = Attrs({{"activation", string("Clip")},
                                 {"activation_alpha", 0.f},
                                 {"activation_beta", 6.f},
                                 {"residual", int64_t(1)}});
  EXPECT_EQ(RunFor<float>("Conv", clip, {x, w, Tensor(), residual}), (std::vector<float>{0, 0, 6}));
}

TEST(ConvReference, HalfPrecisionRoundsOnce) {
  const Tensor x = MakeTensor<F16>(DType::kF16, {1, 1, 4}, {F16(1), F16(2), F16(3), F16(4)});
  const Tensor w = MakeTensor<F16>(DType::kF16, {1, 1, 2}, {F16(0.5f), F16(-1)});
  const auto y = RunFor<F16>("Conv", {}, {x, w});
  EXPECT_EQ(std::vector<float>(y.begin(), y.end()), (std::vector<float>{-1.5, -2, -2.5}));
}

TEST(ConvTransposeReference, OutputShapeDecidesThePadding) {
  const Tensor x = F({1, 1, 2}, {1, 2}), w = F({1, 1, 3}, {1, 10, 100});
  EXPECT_EQ(RunFor<float>("ConvTranspose", {}, {x, w}), (std::vector<float>{1, 12, 120, 200}));
  EXPECT_EQ(RunFor<float>("ConvTranspose", Attrs({{"output_shape", Ints{3}}}), {x, w}),
            (std::vector<float>{12, 120, 200}));
  EXPECT_EQ(RunFor<float>("ConvTranspose",
                          Attrs({{"output_shape", Ints{3}}, {"auto_pad", string("SAME_UPPER")}}), {x, w}),
            (std::vector<float>{1, 12, 120}));
  EXPECT_EQ(RunFor<float>("ConvTranspose", Attrs({{"output_shape", Ints{5}}}), {x, w}),
            (std::vector<float>{1, 12, 120, 200, 0}));
}

TEST(MaxPoolReference, IndicesCountInOnnxOrderOrColumnMajor) {
  const Tensor x = F({1, 1, 2, 3}, {1, 6, 3, 4, 5, 2});
  const auto row = RunOp("MaxPool", Attrs({{"kernel_shape", Ints{2, 2}}}), {x}, 2);
  EXPECT_EQ(row[0].as<float>()[1], 6);
  EXPECT_EQ(row[1].as<int64_t>()[1], 1);
  const auto column =
      RunOp("MaxPool", Attrs({{"kernel_shape", Ints{2, 2}}, {"storage_order", int64_t(1)}}), {x}, 2);
  EXPECT_EQ(column[1].as<int64_t>()[1], 2);
}

TEST(AveragePoolReference, DividesByWhatTheWindowCovers) {
  const Tensor x = F({1, 1, 4}, {4, 8, 2, 6});
  const Attributes plain = Attrs(
      {{"kernel_shape", Ints{3}}, {"strides", Ints{2}}, {"pads", Ints{1, 1}}, {"ceil_mode", int64_t(1)}});
  EXPECT_EQ(RunFor<float>("AveragePool", plain, {x}), (std::vector<float>{6, 16.f / 3, 6}));
  Attributes counted = plain;
  counted.Set("count_include_pad", int64_t(1));
  // The last window covers the element 6 and one element of padding.
  EXPECT_EQ(RunFor<float>("AveragePool", counted, {x}), (std::vector<float>{4, 16.f / 3, 3}));
  Attributes caffe = plain;
  caffe.Set("mete_caffe", int64_t(1));
  EXPECT_EQ(RunFor<float>("AveragePool", caffe, {x}), RunFor<float>("AveragePool", counted, {x}));
}

TEST(PoolReference, BothLayoutsAgree) {
  Random r(3);
  const Tensor x = r.Floats({2, 3, 5, 4});
  for (const char* op : {"MaxPool", "AveragePool", "GlobalAveragePool", "GlobalMaxPool"}) {
    Attributes plain =
                   Attrs({{"kernel_shape", Ints{2, 3}}, {"strides", Ints{2, 2}}, {"pads", Ints{0, 1, 1, 1}}}),
               nhwc = plain;
    nhwc.Set("layout", string("NHWC"));
    const Tensor a = RunOp(op, plain, {x})[0], b = ToNchw(RunOp(op, nhwc, {ToNhwc(x)})[0]);
    ASSERT_EQ(a.shape(), b.shape());
    for (int64_t i = 0; i < a.elements(); ++i) EXPECT_EQ(a.as<float>()[i], b.as<float>()[i]) << op;
  }
}

TEST(PoolReference, WindowsWhollyInThePaddingAreDefined) {
  const Attributes a = Attrs({{"kernel_shape", Ints{1}}, {"pads", Ints{1, 0}}});
  EXPECT_EQ(RunFor<float>("AveragePool", a, {F({1, 1, 2}, {3, 4})}), (std::vector<float>{0, 3, 4}));
  const auto max = RunOp("MaxPool", a, {F({1, 1, 2}, {3, 4})}, 2);
  EXPECT_EQ(max[0].as<float>()[0], -std::numeric_limits<float>::infinity());
  EXPECT_EQ(max[1].as<int64_t>()[0], -1);
}

TEST(DeformConvReference, WithoutOffsetsItIsAConv) {
  Random r(11);
  const Tensor x = r.Floats({1, 4, 5, 5}), w = r.Floats({2, 2, 3, 3});
  const Attributes a = Attrs({{"group", int64_t(2)}, {"pads", Ints{1, 1, 1, 1}}, {"strides", Ints{2, 2}}});
  const Tensor y = RunOp("Conv", a, {x, w})[0],
               deformed = RunOp("DeformConv", a, {x, w, Tensor(DType::kF32, {1, 18, 3, 3})})[0];
  for (int64_t i = 0; i < y.elements(); ++i) EXPECT_NEAR(y.as<float>()[i], deformed.as<float>()[i], 1e-6);
}

}  // namespace
}  // namespace mete
