#include "processor/opencl/kernels/gather.h"

#include <gtest/gtest.h>

#include "mete/error.h"
#include "processor/opencl/kernels/run_testing.h"

namespace mete::opencl {
namespace {

class Gather : public WithQueue {
 protected:
  template <class Element, class Index>
  void Check(const GatherSpec& s, const std::vector<Index>& indices, int vector) {
    std::vector<Element> x(size_t(s.outer * s.axis * s.inner));
    for (size_t i = 0; i < x.size(); ++i) x[i] = Element(i * 7 + 1);
    const Buffer from = Make(std::as_bytes(std::span(x))), by = Make(std::as_bytes(std::span(indices))),
                 to = Blank(s.outer * s.indices * s.inner * int64_t(sizeof(Element)));
    Run(GatherKernel(s, vector), {&from, &by, &to});
    const std::vector<Element> got = ReadAll<Element>(to);
    for (int64_t i = 0; i < int64_t(got.size()); ++i) {
      const int64_t index = indices[size_t(i / s.inner % s.indices)], at = index < 0 ? index + s.axis : index;
      ASSERT_EQ(got[size_t(i)], x[size_t((i / s.inner / s.indices * s.axis + at) * s.inner + i % s.inner)])
          << "element " << i;
    }
  }
};

TEST_F(Gather, SlicesAreThoseOfTheIndices) {
  Check<float, int64_t>({.axis = 9, .inner = 24, .indices = 4}, {8, 0, -1, 3}, 16);
  Check<uint16_t, int32_t>(
      {.outer = 3, .axis = 5, .inner = 7, .indices = 3, .type = DType::kF16, .index = DType::kI32},
      {-5, 2, 2}, 4);
  Check<uint8_t, int32_t>({.axis = 4, .inner = 32, .indices = 1, .type = DType::kU8, .index = DType::kI32},
                          {2}, 16);
  Check<int64_t, int64_t>({.outer = 2, .axis = 6, .indices = 2, .type = DType::kI64}, {5, 1}, 4);
}

TEST_F(Gather, AnIndexOutsideTheAxisReadsTheNearestSlice) {
  const std::vector<float> x = {1, 2, 3};
  const std::vector<int64_t> indices = {7, -9, INT64_MAX, INT64_MIN};
  const Buffer from = Make(DType::kF32, x), by = Make(std::as_bytes(std::span(indices))), to = Blank(16);
  Run(GatherKernel({.axis = 3, .indices = 4}, 4), {&from, &by, &to});
  EXPECT_EQ(Read(to, DType::kF32), (std::vector<float>{3, 1, 3, 1}));
}

TEST(GatherText, IndicesOfOtherTypesAreRefused) {
  EXPECT_THROW(GatherKernel({.index = DType::kF32}, 4), Error);
}

}  // namespace
}  // namespace mete::opencl
