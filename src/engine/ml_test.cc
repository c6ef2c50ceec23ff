// Tests of operators of the domain ai.onnx.ml.
#include <gtest/gtest.h>

#include "engine/one_node_testing.h"

namespace mete {
namespace {

OneNodeModel Ml(const std::string& op) { return OneNodeModel(op, "ai.onnx.ml"); }

template <class T>
std::vector<T> ValuesOf(const Tensor& t) {
  return {t.as<T>(), t.as<T>() + t.elements()};
}

template <class T>
void AddTensor(NodeProto& node, const std::string& name, int32_t type, const std::vector<T>& values) {
  auto& a = *node.add_attribute();
  a.set_name(name);
  a.set_type(AttributeProto::TENSOR);
  a.mutable_t()->set_data_type(type);
  a.mutable_t()->add_dims(int64_t(values.size()));
  a.mutable_t()->set_raw_data(RawOf(values));
}

std::string ErrorOf(OneNodeModel n) {
  try {
    (void)n.Run();
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

TEST(Ml, FeaturesAreThoseOfTheLastAxis) {
  OneNodeModel rows = Ml("ArrayFeatureExtractor"), row = Ml("ArrayFeatureExtractor");
  rows.Numbers<float>("x", DType::kF32, {2, 3}, {1, 2, 3, 4, 5, 6});
  rows.Numbers<int64_t>("places", DType::kI64, {1, 2}, {2, 0});
  row.Numbers<float>("x", DType::kF32, {3}, {1, 2, 3}).Numbers<int64_t>("places", DType::kI64, {1}, {1});
  const Tensor y = rows.Run().at(0), z = row.Run().at(0);
  EXPECT_EQ(y.shape(), (Shape{2, 2}));
  EXPECT_EQ(ValuesOf<float>(y), (std::vector<float>{3, 1, 6, 4}));
  EXPECT_EQ(z.shape(), (Shape{1, 1}));
  EXPECT_EQ(ValuesOf<float>(z), std::vector<float>{2});
}

TEST(Ml, ABinarizerComparesWithItsThreshold) {
  OneNodeModel reals = Ml("Binarizer"), whole = Ml("Binarizer");
  reals.Numbers<float>("x", DType::kF32, {4}, {-1, 0.25f, 0.5f, 2}).Float("threshold", 0.25f);
  whole.I32("x", {3}, {-1, 0, 1}).Float("threshold", -0.5f);
  EXPECT_EQ(ValuesOf<float>(reals.Run().at(0)), (std::vector<float>{0, 0, 1, 1}));
  EXPECT_EQ(ValuesOf<int32_t>(whole.Run().at(0)), (std::vector<int32_t>{0, 1, 1}));
}

TEST(Ml, LabelsAreThoseOfTheLastEqualKey) {
  OneNodeModel n = Ml("LabelEncoder");
  n.Numbers<float>("x", DType::kF32, {2, 3}, {1.5f, 2, NAN, 7, -0.0f, 1.5f});
  AddFloats(n.Node(), "keys_floats", {1.5f, 0, NAN, 1.5f});
  n.IntList("values_int64s", {10, 20, 30, 40}).Int("default_int64", -7);
  EXPECT_EQ(ValuesOf<int64_t>(n.Run().at(0)), (std::vector<int64_t>{40, -7, 30, -7, 20, 40}));
}

TEST(Ml, LabelsOfTensorsHaveTheTypeOfTheValues) {
  OneNodeModel n = Ml("LabelEncoder");
  n.Numbers<int64_t>("x", DType::kI64, {3}, {3, 5, 4});
  n.IntList("keys_int64s", {3, 4});
  AddTensor<float>(n.Node(), "values_tensor", TensorProto::FLOAT, {0.5f, 1.5f});
  const std::vector<float> y = ValuesOf<float>(n.Run().at(0));
  EXPECT_EQ(y, (std::vector<float>{0.5f, 0, 1.5f}));
  EXPECT_TRUE(std::signbit(y[1]));  // the default of ONNX
}

TEST(Ml, LabelsOfStringsAreUnsupported) {
  OneNodeModel n = Ml("LabelEncoder");
  n.Numbers<int64_t>("x", DType::kI64, {1}, {3}).IntList("keys_int64s", {3});
  EXPECT_NE(ErrorOf(n).find("its keys or its values are strings"), std::string::npos);
  n.IntList("values_int64s", {3, 4});
  EXPECT_NE(ErrorOf(n).find("expected two lists of one length"), std::string::npos);
}

// x0 <= 1 ? (x1 of {2, 3} ? leaf 0 : leaf 1) : leaf 2, and a tree that is leaf 3.
OneNodeModel Ensemble(int64_t aggregate, int64_t transform) {
  OneNodeModel n = Ml("TreeEnsemble");
  n.Numbers<float>("x", DType::kF32, {4, 2}, {1, 3, 1, 4, 2, 3, NAN, 2});
  NodeProto& node = n.Node();
  AddTensor<uint8_t>(node, "nodes_modes", TensorProto::UINT8, {0, 6, 1});
  AddTensor<float>(node, "nodes_splits", TensorProto::FLOAT, {1, 0, 0});
  AddTensor<float>(node, "membership_values", TensorProto::FLOAT, {2, 3, NAN});
  AddTensor<float>(node, "leaf_weights", TensorProto::FLOAT, {1, 2, 4, 8});
  n.IntList("leaf_targetids", {0, 0, 1, 0}).Int("n_targets", 2).IntList("tree_roots", {0, 2});
  n.IntList("nodes_featureids", {0, 1, 0});
  n.IntList("nodes_trueleafs", {0, 1, 1}).IntList("nodes_truenodeids", {1, 0, 3});
  n.IntList("nodes_falseleafs", {1, 1, 1}).IntList("nodes_falsenodeids", {2, 1, 3});
  return n.Int("aggregate_function", aggregate).Int("post_transform", transform);
}

TEST(Ml, RowsGoThroughTheTreesToTheirLeaves) {
  const auto values = [](int64_t aggregate) { return ValuesOf<float>(Ensemble(aggregate, 0).Run().at(0)); };
  constexpr float kMax = std::numeric_limits<float>::max();
  EXPECT_EQ(values(0), (std::vector<float>{4.5f, 0, 5, 0, 4, 2, 4, 2}));
  EXPECT_EQ(values(1), (std::vector<float>{9, 0, 10, 0, 8, 4, 8, 4}));
  EXPECT_EQ(values(2), (std::vector<float>{1, kMax, 2, kMax, 8, 4, 8, 4}));
  EXPECT_EQ(values(3), (std::vector<float>{8, -kMax, 8, -kMax, 8, 4, 8, 4}));
  OneNodeModel missing = Ensemble(1, 0);
  missing.IntList("nodes_missing_value_tracks_true", {1, 0, 0});
  EXPECT_EQ(ValuesOf<float>(missing.Run().at(0)), (std::vector<float>{9, 0, 10, 0, 8, 4, 9, 0}));
}

TEST(Ml, AFunctionFollowsTheSumsOfTrees) {
  ExpectNear(Ensemble(1, 2).Run().at(0), {4, 2}, [](int64_t i) {
    const double sums[] = {9, 0, 10, 0, 8, 4, 8, 4};
    return 1 / (1 + std::exp(-sums[i]));
  });
  EXPECT_NE(ErrorOf(Ensemble(1, 4)).find("post_transform=4 is not supported"), std::string::npos);
}

TEST(Ml, TreesThatDoNotFitAreRefused) {
  const auto with = [](const char* name, const std::vector<int64_t>& values) {
    OneNodeModel n = Ensemble(1, 0);
    for (auto& a : *n.Node().mutable_attribute())
      if (a.name() == name) a.mutable_ints()->Assign(values.begin(), values.end());
    return ErrorOf(n);
  };
  EXPECT_EQ(with("tree_roots", {0, 2}), "");
  EXPECT_NE(with("tree_roots", {3}).find("tree_roots; got 3, expected 0 to 2"), std::string::npos);
  EXPECT_NE(with("nodes_featureids", {0, 2, 0}).find("nodes_featureids; got 2"), std::string::npos);
  EXPECT_NE(with("nodes_truenodeids", {1, 4, 3}).find("nodes_truenodeids; got 4"), std::string::npos);
  EXPECT_NE(with("nodes_truenodeids", {3, 0, 3}).find("nodes_truenodeids; got 3"), std::string::npos);
  EXPECT_NE(with("nodes_trueleafs", {0, 1}).find("nodes_trueleafs; got 2 numbers, expected 3"),
            std::string::npos);
  EXPECT_NE(with("leaf_targetids", {0, 0, 2, 0}).find("leaf_targetids; got 2"), std::string::npos);
  EXPECT_NE(with("nodes_truenodeids", {0, 0, 3}).find("a tree leads back to one of its nodes"),
            std::string::npos);
}

}  // namespace
}  // namespace mete
