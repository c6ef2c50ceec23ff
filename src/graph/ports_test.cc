#include "graph/ports.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace mete {
namespace {

std::string ErrorOf(const Port& port, const Shape& shape) {
  const std::vector<float> data(size_t(shape.Elements()));
  const ConstView view{data.data(), DType::kF32, shape};
  try {
    CheckOpenInputs("model", {&port, 1}, {&view, 1});
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(NumbersOf, AreTheScaleTimesTheIntegersLessTheirZero) {
  const std::vector<int8_t> integers{-128, 0, 4, 127};
  const Tensor tensor = Tensor::Of<int8_t>(DType::kI8, {2, 2}, integers);
  Port port{"scores", DType::kI8, {2, 2}};
  EXPECT_EQ(NumbersOf(port, tensor).data(), tensor.data());  // no scale: the tensor itself
  port.scale = PortScale{0.5f, 4};
  const Tensor numbers = NumbersOf(port, tensor);
  EXPECT_EQ(numbers.shape(), (Shape{2, 2}));
  EXPECT_EQ(std::vector<float>(numbers.as<float>(), numbers.as<float>() + 4),
            (std::vector<float>{-66, -2, 0, 61.5f}));
}

TEST(OpenInputs, HaveTheSizesThatTheModelWasLoadedForWhereTheFileFixesThem) {
  const Port port{"data", DType::kF32, {1, 3, 31, 24}, {-1, 3, 12, 12}};
  EXPECT_EQ(ErrorOf(port, {1, 3, 31, 24}), "");
  EXPECT_EQ(ErrorOf(port, {5, 3, 31, 24}), "");
  EXPECT_EQ(ErrorOf(port, {1, 3, 12, 12}), "[data] wrong input shape; got 1x3x12x12, expected ?x3x31x24");
}

TEST(OpenInputs, OfAnotherRankThanTheFilesHaveTheShapeThatTheModelWasLoadedFor) {
  const Port port{"data", DType::kF32, {1, 2, 3}, {-1, 6}};
  EXPECT_EQ(ErrorOf(port, {1, 2, 3}), "");
  EXPECT_EQ(ErrorOf(port, {1, 2, 4}), "[data] wrong input shape; got 1x2x4, expected 1x2x3");
  EXPECT_NE(ErrorOf(port, {1, 6}), "");
}

}  // namespace
}  // namespace mete
