#include "processor/opencl/kernels/resize.h"

#include <gtest/gtest.h>

#include "kernels/fast/test_util.h"
#include "processor/opencl/kernels/run_testing.h"

namespace mete::opencl {
namespace {

// Rows or columns at random places between `in` of the input.
std::vector<ResizeSource> RandomSources(RandomData& random, int64_t in, int64_t out) {
  std::vector<ResizeSource> sources;
  for (int64_t i = 0; i < out; ++i) {
    const float part = random.Floats(1)[0] * 0.5f + 0.5f;
    sources.push_back({random.Int(0, in - 1), random.Int(0, in - 1), 1 - part, part});
  }
  return sources;
}

class Resize : public WithQueue {
 protected:
  // The CPU's kernel, which has a test of its own, is the reference.
  void Check(bool nearest, int64_t pixel, DType type, int vector) {
    RandomData random(uint32_t(pixel + vector));
    const ResizeShape s{.nearest = nearest,
                        .images = 2,
                        .in_height = 5,
                        .in_width = 7,
                        .pixel = pixel,
                        .rows = RandomSources(random, 5, 8),
                        .columns = RandomSources(random, 7, 6)};
    std::vector<float> x = random.Floats(2 * 5 * 7 * pixel), expected(size_t(s.out_rows() * 6 * pixel));
    for (float& v : x) v = F16ToF32(F32ToF16(v));
    RunResize(s, x.data(), {0, s.out_rows()}, expected.data());
    const std::vector<int32_t> rows = ResizeTable(s.rows), columns = ResizeTable(s.columns);
    const Buffer from = Make(type, x), to = Blank(int64_t(expected.size() * SizeOf(type))),
                 r = Make(std::as_bytes(std::span(rows))), c = Make(std::as_bytes(std::span(columns)));
    Run(ResizeKernel(s, type, vector), {&from, &r, &c, &to});
    const std::vector<float> got = Read(to, type);
    // The weights of a sum of four are at most 1 together.
    const double tolerance = nearest ? 0 : 2 * SumTolerance(4, 1) + (type == DType::kF16 ? 0x1p-11 : 0);
    for (size_t i = 0; i < got.size(); ++i) ASSERT_NEAR(got[i], expected[i], tolerance) << i;
  }
};

TEST_F(Resize, PixelsAreThoseOfTheCpu) {
  Check(true, 20, DType::kF32, 16);
  Check(false, 20, DType::kF32, 4);
  Check(false, 3, DType::kF32, 16);
  Check(false, 32, DType::kF16, 16);
  Check(true, 1, DType::kF16, 4);
}

}  // namespace
}  // namespace mete::opencl
