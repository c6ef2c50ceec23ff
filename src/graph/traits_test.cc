#include "graph/traits.h"

#include <gtest/gtest.h>

#include "graph/ops/infer_testing.h"

namespace mete {
namespace {

TEST(Traits, ElementwiseOperatorsAreComputedInAnyOrderAndDividedByTheRowsOfTheirInputs) {
  int count = 0;
  for (const OpSchema* op : AllOperators()) {
    SCOPED_TRACE(op->name);
    const OpTraits& traits = op->traits;
    const bool first = traits.kind == OpKind::kElementwiseFirst;
    EXPECT_EQ(traits.orders == Orders::kAny, IsElementwiseOperator(op->name));
    EXPECT_EQ(traits.divide_by == DivideBy::kFirstInput, first);
    EXPECT_EQ(traits.divide_by == DivideBy::kBroadcast, IsElementwiseOperator(op->name) && !first);
    count += IsElementwiseOperator(op->name);
  }
  EXPECT_GT(count, 70);
}

TEST(Traits, ViewsAreDividedWhereTheirBytesAreAndComputedInThePlainOrder) {
  for (const OpSchema* op : AllOperators()) {
    if (op->traits.kind != OpKind::kView) continue;
    SCOPED_TRACE(op->name);
    const DivideBy by = op->traits.divide_by;
    EXPECT_TRUE(by == DivideBy::kSameBytes || by == DivideBy::kReshape || by == DivideBy::kSqueeze);
    EXPECT_EQ(op->traits.orders, Orders::kPlain);
  }
}

// An axis that is renamed in another order is the one that a division leaves whole, or the one of scales.
TEST(Traits, TheAxesThatAnOrderRenamesAreThoseOfTheDivision) {
  for (const OpSchema* op : AllOperators()) {
    SCOPED_TRACE(op->name);
    const OpTraits& traits = op->traits;
    if (traits.orders == Orders::kAxis) {
      EXPECT_TRUE(traits.divide_by == DivideBy::kAlongAxis || traits.divide_by == DivideBy::kQuantize);
    }
    EXPECT_EQ(traits.orders == Orders::kReducedAxes, traits.divide_by == DivideBy::kReduce);
    EXPECT_EQ(traits.orders == Orders::kSlicedAxes, traits.divide_by == DivideBy::kSlice);
    EXPECT_EQ(traits.orders == Orders::kPads, traits.divide_by == DivideBy::kPad);
    EXPECT_EQ(traits.orders == Orders::kScales, traits.divide_by == DivideBy::kResize);
  }
}

TEST(Traits, WeightsAreAnInputThatTheOperatorMustHave) {
  for (const OpSchema* op : AllOperators()) {
    SCOPED_TRACE(op->name);
    switch (op->traits.divide_by) {
      case DivideBy::kConvolution:
      case DivideBy::kQuantizedConvolution:
      case DivideBy::kTransposedConvolution:
      case DivideBy::kGemm:
      case DivideBy::kMatMul:
      case DivideBy::kMatMulInteger:
      case DivideBy::kQLinearMatMul: EXPECT_LT(op->traits.weights, op->min_inputs); break;
      default: break;
    }
  }
}

// The operators whose times planners predict by their multiply-adds.
TEST(Traits, EachProductHasAnArithmetic) {
  for (const OpSchema* op : AllOperators()) {
    SCOPED_TRACE(op->name);
    switch (op->traits.divide_by) {
      case DivideBy::kConvolution:
      case DivideBy::kQuantizedConvolution: EXPECT_EQ(op->traits.arithmetic, Arithmetic::kConvolution); break;
      case DivideBy::kTransposedConvolution:
        EXPECT_EQ(op->traits.arithmetic, Arithmetic::kTransposedConvolution);
        break;
      case DivideBy::kGemm:
      case DivideBy::kMatMul:
      case DivideBy::kMatMulInteger:
      case DivideBy::kQLinearMatMul: EXPECT_EQ(op->traits.arithmetic, Arithmetic::kMatrix); break;
      case DivideBy::kPool: EXPECT_EQ(op->traits.arithmetic, Arithmetic::kWindow); break;
      default: break;
    }
  }
}

// Inference accepts the attributes of an epilogue where the trait says so, and refuses unknown ones.
TEST(Traits, AnEpilogueIsAnAttributeThatInferenceChecks) {
  int count = 0;
  for (const OpSchema* op : AllOperators()) {
    if (!op->traits.epilogue) continue;
    SCOPED_TRACE(op->name);
    const bool conv = op->traits.orders == Orders::kChannelsLast;
    const std::vector<TestInput> inputs = {conv ? Shape{1, 4, 4, 4} : Shape{4, 4},
                                           conv ? Shape{4, 4, 1, 1} : Shape{4, 4}};
    Attributes attributes;
    attributes.Set("activation", std::string("Relu"));
    EXPECT_EQ(InferOp(op->name, attributes, inputs).size(), 1u);
    attributes.Set("activation", std::string("Sinh"));
    EXPECT_THROW(InferOp(op->name, attributes, inputs), Error);
    ++count;
  }
  EXPECT_EQ(count, 4);
}

Attributes ImageAttributes(const char* op) {
  Attributes a;
  a.Set("kernel_shape", Ints{2, 2});
  a.Set("blocksize", int64_t{2});
  a.Set("size", int64_t{3});
  if (std::string_view(op) == "Conv" || std::string_view(op) == "ConvTranspose" ||
      std::string_view(op) == "QLinearConv" || std::string_view(op).ends_with("ConvInteger"))
    a.Erase("kernel_shape");
  return a;
}

TEST(Traits, OperatorsForChannelsLastInferTheSameShapeInBothOrders) {
  int count = 0;
  for (const OpSchema* op : AllOperators()) {
    if (op->traits.orders != Orders::kChannelsLast) continue;
    SCOPED_TRACE(op->name);
    const bool weights = op->traits.divide_by == DivideBy::kConvolution ||
                         op->traits.divide_by == DivideBy::kTransposedConvolution;
    const Shape other = weights ? Shape{4, 4, 3, 2} : Shape{4};
    std::vector<TestInput> plain{Shape{3, 4, 6, 10}}, last{Shape{3, 6, 10, 4}}, others;
    for (int i = 1; i < op->min_inputs; ++i) others.push_back(other);
    const bool quantized = op->traits.divide_by == DivideBy::kQuantizedConvolution,
               scaled = std::string_view(op->name).find("QLinear") != std::string_view::npos,
               floats = op->name == std::string_view("mete.ScaledConvInteger");
    if (quantized || scaled) {
      plain[0].type = last[0].type = DType::kU8;
      const TestInput scale = Shape{}, zero{DType::kU8, Shape{}}, kernel{DType::kU8, Shape{4, 4, 3, 2}};
      others = {};
      if (scaled) others = {scale, zero, scale, zero};
      if (quantized) others.insert(others.begin() + (scaled ? 2 : 0), kernel);
      if (floats) others.insert(others.end(), {zero, zero, scale});
      if (quantized && scaled) others.insert(others.begin() + 3, {scale, zero});
    }
    plain.insert(plain.end(), others.begin(), others.end());
    last.insert(last.end(), others.begin(), others.end());
    Attributes attributes = ImageAttributes(op->name);
    const Shape a = InferOp(op->name, attributes, plain)[0].shape;
    attributes.Set("layout", std::string("NHWC"));
    const Shape b = InferOp(op->name, attributes, last)[0].shape;
    EXPECT_EQ((Shape{a[0], a[2], a[3], a[1]}), b);
    ++count;
  }
  EXPECT_GE(count, 10);
}

TEST(Traits, AnUnknownOperatorHasThoseOfAnyOther) {
  EXPECT_EQ(TraitsOf("NoSuch").divide_by, DivideBy::kWhole);
  EXPECT_FALSE(IsElementwiseOperator("NoSuch"));
  EXPECT_FALSE(FollowsOrder("NoSuch"));
}

}  // namespace
}  // namespace mete
