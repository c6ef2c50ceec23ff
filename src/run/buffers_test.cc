#include "run/buffers.h"

#include <gtest/gtest.h>

#include <optional>
#include <thread>
#include <vector>

namespace mete {
namespace {

constexpr DType kF32 = DType::kF32;
const Shape kShape{3, 5};

TEST(Buffers, ATensorIsLentAgainWhenItsLastCopyHasGone) {
  Buffers buffers;
  std::optional<Tensor> first = buffers.Take(kF32, kShape);
  const void* const data = first->data();
  std::optional<Tensor> copy = first;
  first.reset();
  EXPECT_NE(buffers.Take(kF32, kShape).data(), data);
  // a part of it, as a piece that is on its way
  std::optional<Tensor> part(std::in_place, kF32, Shape{5}, copy->data(), copy->owner());
  copy.reset();
  const Tensor second = buffers.Take(kF32, kShape);
  EXPECT_NE(second.data(), data);
  part.reset();
  EXPECT_EQ(buffers.Take(kF32, kShape).data(), data);
}

TEST(Buffers, OtherTypesAndShapesHaveMemoryOfTheirOwnWhileBothAreLent) {
  Buffers buffers;
  const Tensor first = buffers.Take(kF32, kShape);
  const Tensor of_shape = buffers.Take(kF32, {5, 3}), of_type = buffers.Take(DType::kI32, kShape);
  EXPECT_NE(of_shape.data(), first.data());
  EXPECT_NE(of_type.data(), first.data());
  EXPECT_NE(of_type.data(), of_shape.data());
  EXPECT_EQ(of_shape.shape(), (Shape{5, 3}));
  EXPECT_EQ(of_type.type(), DType::kI32);
}

TEST(Buffers, MemoryThatIsFreeServesOtherTypesAndShapesThatItHasRoomFor) {
  int made = 0;
  Buffers buffers([&made](DType type, const Shape& shape) {
    ++made;
    return Tensor(type, shape);
  });
  const void* const data = buffers.Take(kF32, kShape).data();
  EXPECT_EQ(buffers.Take(DType::kI32, {5, 3}).data(), data);
  EXPECT_EQ(buffers.Take(DType::kU8, {60}).data(), data);
  EXPECT_EQ(buffers.Take(DType::kU8, {15}).data(), data);
  EXPECT_EQ(made, 1);
  const Tensor larger = buffers.Take(DType::kU8, {61});
  EXPECT_EQ(made, 2);
  EXPECT_EQ(larger.bytes(), 61u);
}

TEST(Buffers, OfSeveralTheSmallestThatHasRoomIsLent) {
  Buffers buffers;
  const auto data = [&](int64_t bytes) { return buffers.Take(DType::kU8, {bytes}).data(); };
  std::optional<Tensor> large = buffers.Take(DType::kU8, {200}), small = buffers.Take(DType::kU8, {100});
  const void *const of_large = large->data(), *const of_small = small->data();
  large.reset();
  small.reset();
  EXPECT_EQ(data(100), of_small);
  EXPECT_EQ(data(101), of_large);
  const Tensor taken = buffers.Take(DType::kU8, {50});
  EXPECT_EQ(taken.data(), of_small);
  EXPECT_EQ(data(50), of_large);
}

TEST(Buffers, ASmallTensorDoesNotOccupyALargeBuffer) {
  Buffers buffers;
  const void* const large = buffers.Take(DType::kU8, {1000}).data();
  const Tensor small = buffers.Take(DType::kU8, {10});
  EXPECT_NE(small.data(), large);
  EXPECT_EQ(buffers.Take(DType::kU8, {1000}).data(), large);
}

TEST(Buffers, TensorsMayOutliveThePool) {
  std::optional<Tensor> tensor;
  {
    Buffers buffers;
    tensor = buffers.Take(kF32, kShape);
  }
  tensor->mutable_view().as<float>()[14] = 1;
  EXPECT_EQ(tensor->as<float>()[14], 1);
}

// Each thread finds in a tensor what it has written, while others borrow, hand over and give back.
TEST(Buffers, NobodyWritesWhatAnotherThreadStillReads) {
  Buffers buffers;
  std::vector<std::thread> threads;
  std::vector<int64_t> wrong(4);
  for (size_t t = 0; t < wrong.size(); ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 2000; ++i) {
        Tensor tensor = buffers.Take(kF32, kShape);
        const float value = float(t * 10'000) + float(i);
        for (int64_t k = 0; k < tensor.elements(); ++k) tensor.mutable_view().as<float>()[k] = value;
        const Tensor read = std::move(tensor);
        for (int64_t k = 0; k < read.elements(); ++k) wrong[t] += read.as<float>()[k] != value;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, std::vector<int64_t>(4));
}

}  // namespace
}  // namespace mete
