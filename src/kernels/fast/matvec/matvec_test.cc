#include "kernels/fast/matvec/matvec.h"

#include <gtest/gtest.h>

#include "kernels/fast/test_util.h"

namespace mete {
namespace {

struct Size {
  int64_t n, k;
};

TEST(MatVecF32, BothLayoutsMatchTheSumInDoubleInAnyBlocks) {
  OnEveryTarget([](const std::string&) {
    uint32_t seed = 1;
    for (const Size size :
         {Size{1, 1}, Size{5, 3}, Size{6, 63}, Size{33, 64}, Size{100, 77}, Size{6, 511}, Size{6, 512},
          Size{7, 1025}, Size{5, 4096}, Size{6, 4097}, Size{4500, 10}, Size{9, 0}}) {
      for (const char* way : {"rows", "columns", "columns from memory"}) {
        SCOPED_TRACE(way);
        const bool by_rows = way == std::string("rows");
        const auto place = way == std::string("columns") ? WeightsPlace::kCache : WeightsPlace::kMemory;
        RandomData random(seed++);
        const int64_t stride = (by_rows ? size.k : size.n) + 2;
        const std::vector<float> w = random.Floats((by_rows ? size.n : size.k) * stride + 1),
                                 x = random.Floats(size.k + 1);
        const std::vector<float> bias = random.Floats(size.n), residual = random.Floats(size.n);
        const Epilogue epilogue = {bias.data(), residual.data(), 0, {FusedOp::kSigmoid}};
        const auto run = [&](Range outputs, float* y) {
          if (by_rows) MatVecByRows(w.data(), stride, size.k, x.data(), epilogue, outputs, y);
          else MatVecByColumns(w.data(), stride, size.k, x.data(), epilogue, outputs, y, place);
        };
        std::vector<float> whole(static_cast<size_t>(size.n), NAN), blocks = whole;
        run({0, size.n}, whole.data());
        for (int64_t i = 0, end; i < size.n; i = end) {
          end = std::min(size.n, i + random.Int(1, 1 + size.n / 3));
          run({i, end}, blocks.data());
        }
        ASSERT_EQ(whole, blocks);
        for (int64_t i = 0; i < size.n; ++i) {
          double sum = bias[i] + double{residual[i]}, magnitude = 2;
          for (int64_t k = 0; k < size.k; ++k) {
            const double product = double{x[k]} * w[by_rows ? i * stride + k : k * stride + i];
            sum += product;
            magnitude += std::abs(product);
          }
          ASSERT_NEAR(whole[i], ActivateOracle(epilogue.activation, sum), SumTolerance(size.k + 2, magnitude))
              << i;
        }
      }
    }
  });
}

}  // namespace
}  // namespace mete
