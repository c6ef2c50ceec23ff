#include <gtest/gtest.h>

#include "graph/ops/infer_testing.h"

namespace mete {
namespace {

TEST(ElementwiseInfer, BroadcastsFromTheLastDimension) {
  EXPECT_EQ(InferText("Add", {}, {Shape{2, 1, 4}, Shape{3, 1}}), "f32 2x3x4");
  EXPECT_EQ(InferText("Sum", {}, {Shape{2, 1}, Shape{}, Shape{1, 3}}), "f32 2x3");
  EXPECT_EQ(InferText("Less", {}, {Shape{2, 1}, Shape{0}}), "bool 2x0");
  EXPECT_EQ(InferText("Where", {}, {{DType::kBool, {3, 1}}, {DType::kI64, {1, 2}}, {DType::kI64, {}}}),
            "i64 3x2");
}

TEST(ElementwiseInfer, ShapesThatDoNotFitAreNamed) {
  EXPECT_EQ(InferText("Mul", {}, {Shape{2, 3}, Shape{2}}),
            "error: [node] shapes cannot be broadcast together; got 2x3 and 2");
  EXPECT_EQ(InferText("PRelu", {}, {Shape{2, 3}, Shape{2, 2, 3}}),
            "error: [node] slope cannot be broadcast to the input; got 2x2x3, expected to fit 2x3");
}

TEST(ElementwiseInfer, TypesMustAgree) {
  EXPECT_EQ(InferText("Add", {}, {Shape{2}, {DType::kI64, {2}}}),
            "error: [node] inputs 0 and 1 differ in type; got f32 and i64; try a Cast");
  EXPECT_EQ(InferText("Exp", {}, {{DType::kI32, {2}}}),
            "error: [node] input 0 has a type that this operator does not take; got i32, expected one of f32 "
            "f64 f16 bf16");
  EXPECT_EQ(InferText("Pow", {}, {Shape{2}, {DType::kI64, {2}}}), "f32 2");
}

TEST(ElementwiseInfer, CastsNameTheirType) {
  EXPECT_EQ(InferText("Cast", Attrs({{"to", std::string("u8")}}), {Shape{2}}), "u8 2");
  EXPECT_EQ(InferText("CastLike", {}, {Shape{2}, {DType::kBool, {}}}), "bool 2");
  EXPECT_EQ(InferText("Cast", {}, {Shape{2}}),
            "error: [node] attribute to is not an element type; got '', expected f32, i64, ...");
  EXPECT_NE(
      InferText("BitCast", Attrs({{"to", std::string("f64")}}), {Shape{2}}).find("keeps the element's size"),
      std::string::npos);
}

TEST(ElementwiseInfer, DropoutTrainingIsRefused) {
  EXPECT_EQ(InferText("Dropout", {}, {Shape{2, 3}}, 2), "f32 2x3, bool 2x3");
  const bool yes[] = {true};
  const Tensor training = Tensor::Of<bool>(DType::kBool, {}, yes);
  EXPECT_NE(InferText("Dropout", {}, {Shape{2}, {}, training}).find("training_mode is not supported"),
            std::string::npos);
  const float zero[] = {0};
  EXPECT_EQ(InferText("Dropout", {}, {Shape{2}, Tensor::Floats({}, zero), training}), "f32 2");
}

TEST(ElementwiseInfer, AttributesAreChecked) {
  EXPECT_NE(InferText("BitShift", {}, {{DType::kU8, {2}}, {DType::kU8, {2}}}).find("expected LEFT or RIGHT"),
            std::string::npos);
  EXPECT_NE(InferText("Gelu", Attrs({{"approximate", std::string("fast")}}), {Shape{2}})
                .find("expected none or tanh"),
            std::string::npos);
  EXPECT_NE(InferText("Clip", {}, {Shape{2}, Shape{2}}).find("bound must be a scalar"), std::string::npos);
}

}  // namespace
}  // namespace mete
