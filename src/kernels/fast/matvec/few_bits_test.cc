#include "kernels/fast/matvec/few_bits.h"

#include <gtest/gtest.h>

#include "kernels/fast/test_util.h"

namespace mete {
namespace {

struct Size {
  int64_t n, k;
};
constexpr Size kSizes[] = {{1, 1},   {5, 3},     {6, 63},   {33, 64},  {100, 77},
                           {64, 65}, {129, 511}, {7, 1025}, {300, 129}};

struct Packed {
  FewBitsPlan plan;
  std::vector<float> bytes;  // aligned as floats
};

Packed Pack(const Size& size, int bits, const GemmWeights& weights) {
  Packed p{PlanFewBits(size.n, size.k, bits), {}};
  p.bytes.assign(PackedFewBitsBytes(p.plan) / sizeof(float), NAN);
  PackFewBits(p.plan, weights, {0, p.plan.panels}, p.bytes.data());
  return p;
}

TEST(FewBits, MatchTheSumInDoubleOfThePackedWeightsInAnyBlocks) {
  OnEveryTarget([](const std::string&) {
    uint32_t seed = 1;
    for (const Size& size : kSizes)
      for (const int bits : {8, 4}) {
        SCOPED_TRACE(::testing::Message() << size.n << " x " << size.k << ", " << bits << " bits");
        RandomData random(seed++);
        const std::vector<float> w = random.Floats(size.n * size.k), x = random.Floats(size.k),
                                 bias = random.Floats(size.n), residual = random.Floats(size.n);
        const Epilogue epilogue = {bias.data(), residual.data(), 0, {FusedOp::kSigmoid}};
        const Packed p = Pack(size, bits, {w.data(), size.k, true});
        std::vector<float> whole(size_t(size.n), NAN), blocks = whole;
        RunFewBits(p.plan, x.data(), p.bytes.data(), epilogue, {0, p.plan.panels}, whole.data());
        for (int64_t i = 0; i < p.plan.panels; ++i)
          RunFewBits(p.plan, x.data(), p.bytes.data(), epilogue, {i, i + 1}, blocks.data());
        ASSERT_EQ(whole, blocks);
        for (int64_t n = 0; n < size.n; ++n) {
          double sum = bias[size_t(n)] + double{residual[size_t(n)]}, magnitude = 2;
          for (int64_t k = 0; k < size.k; ++k) {
            const double product = double{x[size_t(k)]} * FewBitsWeight(p.plan, p.bytes.data(), n, k);
            sum += product;
            magnitude += std::abs(product);
          }
          ASSERT_NEAR(whole[size_t(n)], ActivateOracle(epilogue.activation, sum),
                      SumTolerance(size.k + 4, magnitude))
              << n;
        }
      }
  });
}

// Each weight is at most half a step from the one that the user gave, in both layouts.
TEST(FewBits, WeightsAreWithinHalfAStep) {
  uint32_t seed = 50;
  for (const Size& size : kSizes)
    for (const int bits : {8, 4})
      for (const bool transposed : {true, false}) {
        RandomData random(seed++);
        const std::vector<float> w = random.Floats(size.n * size.k, 3);
        const Packed p = Pack(size, bits, {w.data(), transposed ? size.k : size.n, transposed, 0.5f});
        const auto weight = [&](int64_t n, int64_t k) {
          return 0.5f * w[size_t(transposed ? n * size.k + k : k * size.n + n)];
        };
        for (int64_t n = 0; n < size.n; ++n)
          for (int64_t k = 0; k < size.k; ++k) {
            float largest = 0;
            const int64_t first = k / kGroup * kGroup;
            for (int64_t i = first; i < std::min(size.k, first + kGroup); ++i)
              largest = std::max(largest, std::abs(weight(n, i)));
            const double step = largest / double(p.plan.most());
            ASSERT_NEAR(FewBitsWeight(p.plan, p.bytes.data(), n, k), weight(n, k), step * 0.5001)
                << n << ", " << k;
          }
      }
}

TEST(FewBits, AWeightThatIsNoNumberGivesNoNumber) {
  for (const int bits : {8, 4}) {
    std::vector<float> w(3 * 70, 1.0f), x(70, 2.0f), y(3, 0.0f);
    w[70 + 5] = NAN;
    const Packed p = Pack({3, 70}, bits, {w.data(), 70, true});
    RunFewBits(p.plan, x.data(), p.bytes.data(), {}, {0, p.plan.panels}, y.data());
    EXPECT_TRUE(std::isnan(y[1]));
    EXPECT_FALSE(std::isnan(y[0]) || std::isnan(y[2]));
  }
}

TEST(FewBits, AGroupOfZerosStaysZero) {
  const std::vector<float> w(3 * 70, 0.0f), x(70, 2.0f);
  for (const int bits : {8, 4}) {
    const Packed p = Pack({3, 70}, bits, {w.data(), 70, true});
    std::vector<float> y(3, NAN);
    RunFewBits(p.plan, x.data(), p.bytes.data(), {}, {0, p.plan.panels}, y.data());
    EXPECT_EQ(y, std::vector<float>(3, 0.0f));
  }
}

// Weights of a file: integers of `bits` in blocks, with zero points of the same bits or without.
FewBitMatrix OfAFile(const Size& size, int bits, int64_t block, bool zeros, RandomData& random) {
  FewBitMatrix m{.rows = size.n, .columns = size.k, .block = block, .bits = bits};
  const auto bytes = [&](int64_t row) {
    Tensor t(DType::kU8, Shape{size.n, row});
    const std::vector<float> values = random.Floats(size.n * row);
    for (int64_t i = 0; i < t.elements(); ++i)
      t.mutable_view().as<uint8_t>()[i] = uint8_t(int(std::abs(values[size_t(i)]) * 1e6f));
    return t;
  };
  m.integers = bytes(m.Blocks() * m.BlockBytes());
  m.scales = Tensor::Floats({size.n, m.Blocks()}, random.Floats(size.n * m.Blocks()));
  if (zeros) m.zeros = bytes(m.ZeroBytes());
  return m;
}

TEST(FewBits, IntegersOfAFileAreNotRounded) {
  OnEveryTarget([](const std::string&) {
    uint32_t seed = 100;
    for (const Size& size : kSizes)
      for (const int bits : {2, 4, 8})
        for (const int64_t block : {16, 32, 128})
          for (const bool zeros : {false, true}) {
            SCOPED_TRACE(::testing::Message()
                         << size.n << " x " << size.k << ", " << bits << " bits, " << block);
            RandomData random(seed++);
            const FewBitMatrix m = OfAFile(size, bits, block, zeros, random);
            const FewBitsPlan plan = PlanFewBits(m);
            std::vector<float> packed(PackedFewBitsBytes(plan) / sizeof(float), NAN), y(size_t(size.n), NAN);
            for (int64_t i = 0; i < plan.panels; ++i) PackFewBits(plan, m, {i, i + 1}, packed.data());
            const std::vector<float> x = random.Floats(size.k);
            RunFewBits(plan, x.data(), packed.data(), {}, {0, plan.panels}, y.data());
            for (int64_t n = 0; n < size.n; ++n) {
              double sum = 0, magnitude = 1;
              for (int64_t k = 0; k < size.k; ++k) {
                const int64_t b = k / block;
                const double scale = double{m.Scale(n, b)}, integer = m.Integer(n, k),
                             zero = double{m.Zero(n, b)};
                const double weight = (integer - zero) * scale;
                ASSERT_NEAR(FewBitsWeight(plan, packed.data(), n, k), weight,
                            4 * std::numeric_limits<float>::epsilon() * std::abs(scale) * (1 << bits));
                sum += double{x[size_t(k)]} * weight;
                // The offset and the integer around half of the range are summed apart.
                magnitude += std::abs(double{x[size_t(k)]} * scale) * (1 << bits);
              }
              ASSERT_NEAR(y[size_t(n)], sum, SumTolerance(size.k + 4, magnitude)) << n;
            }
          }
  });
}

}  // namespace
}  // namespace mete
