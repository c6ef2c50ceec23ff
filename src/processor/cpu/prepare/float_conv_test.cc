#include "processor/cpu/prepare/float_conv.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

namespace mete {
namespace {

struct Case {
  const char* name;
  ConvWay way;
  int64_t size, channels, outputs, kernel, stride, groups, out_pixel_stride;
};

ConvShape ShapeOf(const Case& c) {
  ConvShape s;
  s.batch = 2;
  s.in_height = s.in_width = c.size;
  s.in_channels = c.channels;
  s.out_channels = c.outputs;
  s.kernel_height = s.kernel_width = c.kernel;
  s.stride_y = s.stride_x = c.stride;
  s.pad_top = s.pad_left = c.kernel / 2;
  s.groups = c.groups;
  s.out_height = s.out_width = (c.size + 2 * (c.kernel / 2) - c.kernel) / c.stride + 1;
  s.out_pixel_stride = c.out_pixel_stride;
  return s;
}

std::vector<float> Random(int64_t count) {
  std::mt19937 random(1);
  std::uniform_real_distribution<float> value(-1, 1);
  std::vector<float> values(static_cast<size_t>(count));
  for (float& v : values) v = value(random);
  return values;
}

// `workers`: threads of several clusters, each with its tile in `way`; empty: all threads are alike.
std::vector<float> Outputs(const ConvShape& shape, const ConvWay& way, int threads, const std::string& policy,
                           const std::vector<WorkerSpeed>& workers = {}) {
  ThreadPool pool(threads, {}, policy, {}, workers);
  Packer packer(pool);
  const Shape sizes{shape.out_channels, shape.in_channels / shape.groups, shape.kernel_height,
                    shape.kernel_width};
  const Tensor weights = Tensor::Floats(sizes, Random(sizes.Elements()));
  const std::vector<float> input = Random(shape.batch * shape.in_height * shape.in_width * shape.in_channels);
  std::vector<float> output(
      static_cast<size_t>(shape.out_pixels() * std::max(shape.out_channels, shape.out_pixel_stride)), 7.0f);
  FloatConv conv(shape, weights, way, packer);
  // what the policy learns in the first runs makes it divide the last one differently
  for (int run = 0; run < 3; ++run) {
    std::fill(output.begin(), output.end(), 7.0f);
    pool.BeginStep(1);
    conv.Run(input.data(), {}, output.data());
  }
  return output;
}

// No bit depends on the divided side, the number of threads or the portions.
TEST(FloatConv, IsTheSameWhateverSideIsDivided) {
  const Case cases[] = {
      {"1x1", {}, 9, 37, 200, 1, 1, 1, 0},
      {"1x1 into a slice", {}, 9, 37, 150, 1, 1, 1, 170},
      {"3x3", {}, 7, 20, 130, 3, 1, 1, 0},
      {"3x3 of stride 2 in groups", {}, 9, 24, 160, 3, 2, 2, 0},
      {"first layer", {}, 17, 3, 70, 7, 2, 1, 0},
      {"depthwise", {}, 11, 90, 90, 3, 1, 90, 0},
      {"F(2x2)", {ConvAlgorithm::kWinogradF2}, 11, 20, 130, 3, 1, 1, 0},
      {"F(4x4)", {ConvAlgorithm::kWinogradF4}, 11, 20, 130, 3, 1, 1, 140},
  };
  for (const Case& c : cases) {
    const ConvShape shape = ShapeOf(c);
    const std::vector<float> want = Outputs(shape, c.way, 1, "equal");
    for (const int threads : {2, 3})
      for (const bool other_side : {false, true})
        for (const std::string& policy : PolicyNames()) {
          ConvWay way = c.way;
          way.other_side = other_side;
          const std::vector<float> got = Outputs(shape, way, threads, policy);
          EXPECT_EQ(std::memcmp(want.data(), got.data(), want.size() * sizeof(float)), 0)
              << c.name << ", " << threads << " threads, " << policy;
        }
  }
}

// Cores of two and of three kinds compute blocks of the same convolution, each kind with its own tile: no bit
// differs.
TEST(FloatConv, IsTheSameWhateverTileEachClusterHas) {
  const Case cases[] = {
      {"1x1", {}, 9, 37, 200, 1, 1, 1, 0},
      {"1x1 into a slice", {}, 9, 37, 150, 1, 1, 1, 170},
      {"3x3 of stride 2 in groups", {}, 9, 24, 160, 3, 2, 2, 0},
      {"first layer", {}, 17, 3, 70, 7, 2, 1, 0},
      {"narrow panels", {ConvAlgorithm::kDirect, 3}, 9, 37, 200, 1, 1, 1, 0},
  };
  const std::vector<WorkerSpeed> workers{{0, 1}, {1, 0.5}, {2, 0.25}};
  for (const Case& c : cases) {
    const ConvShape shape = ShapeOf(c);
    const std::vector<float> want = Outputs(shape, c.way, 1, "equal");
    ConvWay way = c.way;
    way.tiles = {{}, {0, true}, {4, false}};
    for (const bool other_side : {false, true})
      for (const std::string& policy : PolicyNames()) {
        way.other_side = other_side;
        const std::vector<float> got = Outputs(shape, way, 3, policy, workers);
        EXPECT_EQ(std::memcmp(want.data(), got.data(), want.size() * sizeof(float)), 0)
            << c.name << ", " << policy;
      }
  }
}

}  // namespace
}  // namespace mete
