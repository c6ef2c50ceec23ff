#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "kernels/reference/epilogue.h"
#include "kernels/reference/reference_testing.h"

namespace mete {
namespace {

using std::string;

Attributes Program(Strings ops, Ints args, Floats params) {
  return Attrs({{"ops", std::move(ops)}, {"args", std::move(args)}, {"params", std::move(params)}});
}

TEST(FusedElementwise, RunsATreeOverBroadcastInputs) {
  // max(x + b, 0) * (x + b)
  const Attributes a = Program({"Add", "Relu", "Mul"}, {0, 1, -1, 2, -1, -1, 3, 2, -1}, {0, 0, 0, 0, 0, 0});
  EXPECT_EQ(RunFor<float>("mete.Elementwise", a, {F({2, 2}, {1, 2, -3, 4}), F({2}, {1, -1})}),
            (std::vector<float>{4, 1, 0, 9}));
}

TEST(FusedElementwise, ScalarsHaveRankZero) {
  const Attributes a = Program({"Clip", "Neg"}, {0, -1, -1, 1, -1, -1}, {-1, 2, 0, 0});
  EXPECT_EQ(InferText("mete.Elementwise", a, {Shape{}}), "f32 scalar");
  EXPECT_EQ(RunFor<float>("mete.Elementwise", a, {F({}, {5})}), (std::vector<float>{-2}));
}

TEST(FusedElementwise, BadProgramsAreNamed) {
  auto error = [](const Attributes& a) { return InferText("mete.Elementwise", a, {Shape{2}, Shape{2}}); };
  EXPECT_NE(error(Program({"Frob"}, {0, -1, -1}, {0, 0})).find("cannot be fused"), string::npos);
  EXPECT_NE(error(Program({"Add"}, {0, 2, -1}, {0, 0})).find("operand 1 of op 0"), string::npos);
  EXPECT_NE(error(Program({"Relu"}, {0, 1, -1}, {0, 0})).find("operand 1 of op 0"), string::npos);
  EXPECT_NE(error(Program({"Add"}, {0, 1}, {0, 0})).find("do not fit"), string::npos);
  EXPECT_NE(error(Program({}, {}, {})).find("number of ops"), string::npos);
  EXPECT_NE(InferText("mete.Elementwise", Program({"Add"}, {0, 1, -1}, {0, 0}), {Shape{2}, Shape{3}})
                .find("broadcast"),
            string::npos);
}

Attributes WithRelu() { return Attrs({{"activation", string("Relu")}, {"residual", int64_t(1)}}); }

TEST(FusedEpilogue, MatMulAddsBiasAndResidualBeforeTheActivation) {
  const Tensor a = F({2, 1, 2}, {1, 2, 3, 4}), b = F({2, 2}, {1, 0, 0, -1}), bias = F({2}, {10, 0}),
               residual = F({2, 1, 2}, {0, 1, -20, 5});
  EXPECT_EQ(RunFor<float>("MatMul", WithRelu(), {a, b, bias, residual}), (std::vector<float>{11, 0, 0, 1}));
  EXPECT_EQ(RunFor<float>("MatMul", WithRelu(), {a, b, Tensor(), residual}),
            (std::vector<float>{1, 0, 0, 1}));
  EXPECT_EQ(RunFor<float>("MatMul", {}, {a, b, bias}), (std::vector<float>{11, -2, 13, -4}));
}

TEST(FusedEpilogue, GemmScalesFirst) {
  Attributes attributes = WithRelu();
  attributes.Set("alpha", 2.f);
  const Tensor a = F({1, 2}, {1, 2}), b = F({2, 2}, {1, 0, 0, -1}), c = F({2}, {1, 1}),
               residual = F({1, 2}, {0.5f, 2});
  EXPECT_EQ(RunFor<float>("Gemm", attributes, {a, b, c, residual}), (std::vector<float>{3.5f, 0}));
}

TEST(FusedEpilogue, WhatDoesNotFitIsNamed) {
  const Shape m{2, 2};
  EXPECT_NE(InferText("MatMul", WithRelu(), {m, m}).find("residual is missing"), string::npos);
  EXPECT_NE(InferText("MatMul", WithRelu(), {m, m, TestInput(), Shape{2}}).find("does not fit"),
            string::npos);
  EXPECT_NE(InferText("MatMul", {}, {m, m, TestInput(), m}).find("not set"), string::npos);
  EXPECT_NE(InferText("MatMul", {}, {m, m, Shape{3}}).find("wrong shape"), string::npos);
  const TestInput ints(DType::kI32, m);
  EXPECT_NE(InferText("Gemm", Attrs({{"activation", string("Relu")}}), {ints, ints}).find("type"),
            string::npos);
}

TEST(FusedFunctions, EqualTheirDefinitions) {
  auto f = [](FusedOp op, double x) { return Evaluate(DefaultActivation(op), x); };
  EXPECT_DOUBLE_EQ(f(FusedOp::kSigmoid, -1), 1 / (1 + std::exp(1.0)));
  EXPECT_DOUBLE_EQ(f(FusedOp::kSigmoid, -1000), 0);
  EXPECT_DOUBLE_EQ(f(FusedOp::kSoftplus, 1000), 1000);
  EXPECT_DOUBLE_EQ(f(FusedOp::kSwish, 2), 2 / (1 + std::exp(-2.0)));
  EXPECT_DOUBLE_EQ(f(FusedOp::kHardSwish, 1), 4.0 / 6);
  EXPECT_DOUBLE_EQ(f(FusedOp::kElu, -1), std::exp(-1.0) - 1);
  EXPECT_NEAR(f(FusedOp::kGelu, 1), 0.8413447460685429, 1e-15);
  EXPECT_NEAR(Evaluate({FusedOp::kGelu, 1, 0}, 1), 0.8411919906082768, 1e-15);
  EXPECT_DOUBLE_EQ(f(FusedOp::kClip, 1e30), 1e30);
  EXPECT_TRUE(std::isnan(f(FusedOp::kRelu, NAN)));
  EXPECT_EQ(Evaluate({FusedOp::kClip, 3, 1}, 0), 1);
}

}  // namespace
}  // namespace mete
