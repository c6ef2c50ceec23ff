// Models in the forms that operators had before opset 7 give what these forms mean.
#include <gtest/gtest.h>

#include "engine/engine_testing.h"

namespace mete {
namespace {

// Runs a model of one input `x` and returns its output.
std::vector<float> OutputOf(const ModelProto& m, const Tensor& x) {
  const ModelFile file(m);
  const Model model = Model::Load(file.path());
  Session session(model, SessionOptions::Estimated(1));
  const Tensor y = session.Run(std::vector{x})[0];
  return {y.as<float>(), y.as<float>() + y.elements()};
}

// x: 1x3x2x2 with the numbers 1 to 12
Tensor Numbers() {
  std::vector<float> values(12);
  for (size_t i = 0; i < values.size(); ++i) values[i] = float(i + 1);
  return Tensor::Floats({1, 3, 2, 2}, values);
}

ModelProto WithNumbers(int64_t opset) {
  ModelProto m = EmptyModel(opset);
  AddInput(m, "x", {1, 3, 2, 2});
  AddOutput(m, "y");
  return m;
}

// An operator of x and of a vector of 3, which lies along an axis.
class OldBroadcast : public testing::TestWithParam<int64_t> {};
INSTANTIATE_TEST_SUITE_P(Axes, OldBroadcast, testing::Values(1, -3));

TEST_P(OldBroadcast, LiesAlongItsAxis) {
  ModelProto m = WithNumbers(6);
  AddRaw(m, "b", TensorProto::FLOAT, {3}, RawOf<float>({10, 20, 30}));
  NodeProto& add = AddOp(m, "Add", {"x", "b"}, {"y"});
  AddInt(add, "broadcast", 1);
  AddInt(add, "axis", GetParam());
  const std::vector<float> y = OutputOf(m, Numbers());
  for (size_t i = 0; i < y.size(); ++i) EXPECT_EQ(y[i], float(i + 1) + 10 * float(i / 4 + 1));
}

TEST(OldOpsets, BroadcastWithoutAnAxisIsFromTheLastOne) {
  ModelProto m = WithNumbers(1);
  AddRaw(m, "b", TensorProto::FLOAT, {2}, RawOf<float>({10, 20}));
  NodeProto& mul = AddOp(m, "Mul", {"x", "b"}, {"y"});
  AddInt(mul, "broadcast", 1);
  AddInts(mul, "consumed_inputs", {0, 0});
  const std::vector<float> y = OutputOf(m, Numbers());
  for (size_t i = 0; i < y.size(); ++i) EXPECT_EQ(y[i], float(i + 1) * (i % 2 ? 20 : 10));
}

TEST(OldOpsets, ASlopeIsOfAChannel) {
  ModelProto m = WithNumbers(6);
  AddRaw(m, "s", TensorProto::FLOAT, {3}, RawOf<float>({2, 3, 4}));
  AddOp(m, "Neg", {"x"}, {"n"});
  AddOp(m, "PRelu", {"n", "s"}, {"y"});
  const std::vector<float> y = OutputOf(m, Numbers());
  for (size_t i = 0; i < y.size(); ++i) EXPECT_EQ(y[i], -float(i + 1) * float(i / 4 + 2));
}

TEST(OldOpsets, TilesAlongOneAxis) {
  ModelProto m = WithNumbers(1);
  AddRaw(m, "tiles", TensorProto::FLOAT, {}, RawOf<float>({2}));
  AddRaw(m, "axis", TensorProto::FLOAT, {}, RawOf<float>({3}));
  AddOp(m, "Tile", {"x", "tiles", "axis"}, {"y"});
  const std::vector<float> y = OutputOf(m, Numbers());
  ASSERT_EQ(y.size(), 24u);
  for (size_t i = 0; i < y.size(); ++i) EXPECT_EQ(y[i], float(i / 4 * 2 + i % 2 + 1));
}

TEST(OldOpsets, AttributesThatBecameInputs) {
  ModelProto m = WithNumbers(1);
  AddInts(AddOp(m, "Reshape", {"x"}, {"r"}), "shape", {1, 6, 2});
  NodeProto& pad = AddOp(m, "Pad", {"r"}, {"p"});
  AddInts(pad, "paddings", {0, 0, 1, 0, 0, 0});
  AddFloat(pad, "value", 7);
  AddString(AddOp(m, "Cast", {"p"}, {"c"}), "to", "INT32");
  AddString(AddOp(m, "Cast", {"c"}, {"f"}), "to", "FLOAT");
  AddOp(m, "Concat", {"f", "f"}, {"y"});
  const std::vector<float> y = OutputOf(m, Numbers());
  ASSERT_EQ(y.size(), 36u);
  for (size_t i = 0; i < 18; ++i) {
    EXPECT_EQ(y[i], i % 3 == 0 ? 7 : float(i / 3 * 2 + i % 3));
    EXPECT_EQ(y[i + 18], y[i]);  // along axis 1
  }
}

TEST(OldOpsets, UpsampleByItsSides) {
  ModelProto m = WithNumbers(1);
  NodeProto& up = AddOp(m, "Upsample", {"x"}, {"y"});
  AddFloat(up, "height_scale", 2);
  AddFloat(up, "width_scale", 1);
  AddString(up, "mode", "nearest");
  const std::vector<float> y = OutputOf(m, Numbers());
  ASSERT_EQ(y.size(), 24u);
  for (size_t i = 0; i < y.size(); ++i) EXPECT_EQ(y[i], float(i / 8 * 4 + i % 8 / 4 * 2 + i % 2 + 1));
}

// Attributes that only mattered in training.
TEST(OldOpsets, TestModeIsInference) {
  ModelProto m = WithNumbers(6);
  for (const char* name : {"scale", "var"}) AddRaw(m, name, TensorProto::FLOAT, {3}, RawOf<float>({1, 1, 1}));
  for (const char* name : {"bias", "mean"}) AddRaw(m, name, TensorProto::FLOAT, {3}, RawOf<float>({2, 2, 2}));
  NodeProto& norm = AddOp(m, "BatchNormalization", {"x", "scale", "bias", "mean", "var"}, {"n"});
  AddInt(norm, "is_test", 1);
  AddFloat(norm, "epsilon", 0);
  NodeProto& drop = AddOp(m, "Dropout", {"n"}, {"y"});
  AddInt(drop, "is_test", 1);
  AddFloat(drop, "ratio", 0.9f);
  const std::vector<float> y = OutputOf(m, Numbers());
  for (size_t i = 0; i < y.size(); ++i) EXPECT_EQ(y[i], float(i + 1));
}

}  // namespace
}  // namespace mete
