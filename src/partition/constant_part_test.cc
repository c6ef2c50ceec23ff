#include "partition/constant_part.h"

#include <gtest/gtest.h>

#include <cstring>

#include "base/counting_testing.h"
#include "base/tensor_source.h"

namespace mete {
namespace {

// The same elements at an odd address, as in a file.
Tensor CountingUnaligned(const Shape& shape) {
  const Tensor aligned = Counting(shape);
  const auto bytes = std::make_shared<std::vector<std::byte>>(aligned.bytes() + 1);
  std::memcpy(bytes->data() + 1, aligned.data(), aligned.bytes());
  return UnalignedTensor(DType::kF32, shape, std::span<const std::byte>(*bytes).subspan(1), bytes);
}

void ExpectIsPart(const Tensor& piece, const Tensor& aligned, const Part& part) {
  const Tensor want = Cut(aligned, part);
  ASSERT_EQ(piece.shape(), want.shape());
  const int64_t all = want.elements();
  std::vector<float> got(size_t(all), -1.f);
  for (const int64_t step : {int64_t{1009}, all}) {  // pieces that begin and end within runs
    for (int64_t i = 0; i < all; i += step) ReadElements(piece, i, std::min(step, all - i), got.data() + i);
    EXPECT_EQ(std::memcmp(got.data(), want.data(), want.bytes()), 0) << ToString(part) << " by " << step;
  }
  EXPECT_EQ(std::memcmp(piece.data(), want.data(), want.bytes()), 0) << ToString(part);
}

TEST(CutConstant, GivesTheElementsOfThePart) {
  const Shape shape{131, 257, 3};
  for (const Tensor& whole : {Counting(shape), CountingUnaligned(shape),
                              ScaledRows(Counting(shape), std::vector<double>(131, 1.0))})
    for (const Part& part : {Part::All(), Part::Of(0, {7, 130}), Part::Of(1, {13, 200}), Part::Of(2, {1, 3}),
                             Part::Of(0, {5, 6}), Part::Of(1, {256, 257})})
      ExpectIsPart(CutConstant(whole, part), Counting(shape), part);
}

TEST(CutConstant, MakesNoCopyOfALargePart) {
  const Shape shape{200, 300};
  const Tensor aligned = Counting(shape), unaligned = CountingUnaligned(shape);
  const Part rows = Part::Of(0, {50, 150}), columns = Part::Of(1, {50, 150});
  EXPECT_EQ(CutConstant(aligned, rows).data(), aligned.as<float>() + 50 * 300);
  EXPECT_TRUE(CutConstant(aligned, columns).source());
  const Tensor piece = CutConstant(unaligned, rows);
  ASSERT_TRUE(piece.source());
  EXPECT_EQ(piece.source()->bytes(),
            static_cast<const std::byte*>(unaligned.source()->bytes()) + 50 * 300 * 4);
  ASSERT_EQ(PartsOf(piece).size(), 1u);
  EXPECT_EQ(PartsOf(piece)[0].size(), piece.bytes());
  EXPECT_FALSE(CutConstant(aligned, Part::Of(1, {0, 2})).source()) << "a small part is a copy";
}

// A cache of packed weights must not take one part for another.
TEST(CutConstant, OfEqualShapesAreDecidedByDifferentBytes) {
  const Tensor whole = Counting({200, 300});
  const auto bytes = [&](int64_t first) {
    const Tensor piece = CutConstant(whole, Part::Of(1, {first, first + 100}));
    std::string all;
    for (const auto part : PartsOf(piece))
      all.append(reinterpret_cast<const char*>(part.data()), part.size());
    return all;
  };
  EXPECT_EQ(bytes(0), bytes(0));
  EXPECT_NE(bytes(0), bytes(100));
}

}  // namespace
}  // namespace mete
