#include "base/tensor_source.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <string>

#include "base/half.h"

namespace mete {
namespace {

constexpr int64_t kRows = 5, kColumns = 7, kAll = kRows * kColumns;

// The floats 0, 0.5, 1, ... at an odd address.
class OddFloats {
 public:
  OddFloats() : bytes_(std::make_shared<std::vector<std::byte>>(kAll * 4 + 1)) {
    for (int64_t i = 0; i < kAll; ++i) {
      const float value = Value(i);
      std::memcpy(bytes_->data() + 1 + 4 * i, &value, 4);
    }
  }
  static float Value(int64_t i) { return float(i) * 0.5f; }
  std::span<const std::byte> bytes() const { return std::span<const std::byte>(*bytes_).subspan(1); }
  Tensor tensor() const { return UnalignedTensor(DType::kF32, Shape{kRows, kColumns}, bytes(), bytes_); }

 private:
  const std::shared_ptr<std::vector<std::byte>> bytes_;
};

TEST(UnalignedTensor, GivesItsElementsInPartsAndAllTogether) {
  const Tensor t = OddFloats().tensor();  // keeps the bytes
  EXPECT_EQ(t.bytes(), size_t(kAll * 4));
  float part[3];
  ReadElements(t, 11, 3, part);
  for (int64_t i = 0; i < 3; ++i) EXPECT_EQ(part[i], OddFloats::Value(11 + i));
  const Tensor copy = t;
  for (int64_t i = 0; i < kAll; ++i) EXPECT_EQ(t.as<float>()[i], OddFloats::Value(i));
  EXPECT_EQ(reinterpret_cast<uintptr_t>(t.data()) % alignof(float), 0u);
  EXPECT_EQ(copy.data(), t.data()) << "copies share what was made";
  EXPECT_EQ(copy.view().data, t.data());
}

TEST(UnalignedTensor, TellsWhereItsBytesLie) {
  const OddFloats floats;
  const Tensor t = floats.tensor();
  EXPECT_EQ(t.source()->bytes(), floats.bytes().data());
  ASSERT_EQ(PartsOf(t).size(), 1u);
  EXPECT_EQ(PartsOf(t)[0].data(), floats.bytes().data());
  EXPECT_EQ(PartsOf(t)[0].size(), size_t(kAll * 4));
}

// Scaled twice, each time rounded to f32: as if the tensors between were there.
TEST(ScaledRows, RoundsAfterEachScale) {
  const std::vector<double> first{1, 2, 1.0 / 3, -0.1, 0}, second{0.7, 1e-3, 3, 1, 5};
  const Tensor once = ScaledRows(OddFloats().tensor(), first), twice = ScaledRows(once, second);
  const auto want = [&](int64_t i) {
    const size_t row = size_t(i / kColumns);
    return float(double(float(double(OddFloats::Value(i)) * first[row])) * second[row]);
  };
  for (int64_t begin = 0; begin < kAll; ++begin)
    for (const int64_t count : {int64_t{1}, std::min<int64_t>(kAll - begin, 9), kAll - begin}) {
      std::vector<float> part(size_t(count), -1);
      ReadElements(twice, begin, count, part.data());
      for (int64_t i = 0; i < count; ++i) ASSERT_EQ(part[size_t(i)], want(begin + i)) << begin << " " << i;
    }
  for (int64_t i = 0; i < kAll; ++i) EXPECT_EQ(twice.as<float>()[i], want(i));
  EXPECT_EQ(twice.source()->bytes(), nullptr) << "they lie nowhere";
  EXPECT_EQ(PartsOf(twice).size(), 3u) << "the bytes and both scales";
}

TEST(TransposedMatrix, ReadsColumnsOfTheMatrixThatLiesInMemory) {
  const Tensor t = Tensor::Floats({2, 3}, std::vector<float>{0, 1, 2, 3, 4, 5});
  const Tensor transposed = TransposedMatrix(t, {3, 2, 1, 1});
  const std::vector<float> want{0, 3, 1, 4, 2, 5};
  for (int64_t begin = 0; begin < 6; ++begin)
    for (int64_t count = 1; begin + count <= 6; ++count) {
      std::vector<float> part(size_t(count), -1);
      ReadElements(transposed, begin, count, part.data());
      for (int64_t i = 0; i < count; ++i) ASSERT_EQ(part[size_t(i)], want[size_t(begin + i)]);
    }
  ASSERT_NE(transposed.source()->transposed(), nullptr);
  EXPECT_EQ(transposed.source()->transposed()->data(), t.data()) << "no copy";
  EXPECT_EQ(PartsOf(transposed)[0].data(), t.as<std::byte>());
  EXPECT_GT(PartsOf(transposed).size(), PartsOf(t).size()) << "not the digest of the matrix itself";
  for (size_t i = 0; i < 6; ++i) EXPECT_EQ(transposed.as<float>()[i], want[i]);
}

TEST(ScaledRows, OfATensorInMemoryLeavesIt) {
  const Tensor t = Tensor::Floats({2, 2}, std::vector<float>{1, 2, 3, 4});
  const Tensor scaled = ScaledRows(t, {2, 0.5});
  EXPECT_EQ(scaled.as<float>()[1], 4);
  EXPECT_EQ(scaled.as<float>()[3], 2);
  EXPECT_EQ(t.as<float>()[3], 4);
}

// Of more and of fewer bytes than a tensor is copied with at once.
TEST(WidenedHalves, AreTheHalvesAsF32) {
  for (const DType type : {DType::kF16, DType::kBF16})
    for (const int64_t rows : {int64_t{3}, int64_t{1} << 14}) {
      Tensor halves(type, Shape{rows, 5});
      auto* bits = halves.mutable_view().as<uint16_t>();
      for (int64_t i = 0; i < halves.elements(); ++i) bits[i] = uint16_t(i * 7);
      const Tensor wide = WidenedHalves(halves);
      ASSERT_EQ(wide.type(), DType::kF32);
      ASSERT_EQ(wide.shape(), halves.shape());
      EXPECT_EQ(wide.source() != nullptr, rows > 3);
      const auto want = [&](int64_t i) {
        return type == DType::kF16 ? F16ToF32(bits[i]) : BF16ToF32(bits[i]);
      };
      std::vector<float> part(size_t(wide.elements()) - 2);
      ReadElements(wide, 1, int64_t(part.size()), part.data());
      for (size_t i = 0; i < part.size(); ++i) {
        const float wanted = want(int64_t(i) + 1);
        ASSERT_TRUE(part[i] == wanted || (std::isnan(part[i]) && std::isnan(wanted))) << i;
      }
      EXPECT_EQ(wide.as<float>()[4], want(4));
    }
}

TEST(WidenedHalves, OfTheSameBitsDifferByTheirType) {
  const Shape shape{1 << 14, 5};
  const Tensor f16 = WidenedHalves(Tensor(DType::kF16, shape)),
               bf16 = WidenedHalves(Tensor(DType::kBF16, shape));
  const auto last = [](const Tensor& t) {
    const std::span<const std::byte> part = PartsOf(t).back();
    return std::string(reinterpret_cast<const char*>(part.data()), part.size());
  };
  EXPECT_NE(last(f16), last(bf16));
}

}  // namespace
}  // namespace mete
