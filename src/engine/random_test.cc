// Tests of models with random operators: what a run repeats, and what it does not. Bounds are six standard
// deviations of the moment.
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "engine/one_node_testing.h"

namespace mete {
namespace {

constexpr int64_t kCount = 10000;

// Two RandomNormal, and one more with the seed of neither.
ModelProto NoiseModel() {
  ModelProto m = EmptyModel(13);
  for (const char* name : {"a", "b", "seeded"}) {
    NodeProto& node = AddOp(m, "RandomNormal", {}, {name}, name);
    AddInts(node, "shape", {kCount});
    AddOutput(m, name);
  }
  AddFloat(*m.mutable_graph()->mutable_node(2), "seed", 7);
  return m;
}

double Correlation(const Tensor& a, const Tensor& b) {
  double sum = 0;
  for (int64_t i = 0; i < kCount; ++i) sum += double(a.as<float>()[i]) * double(b.as<float>()[i]);
  return sum / double(kCount);
}

TEST(RandomModels, NodesWithoutASeedDifferAndRunsRepeat) {
  const ModelFile file(NoiseModel());
  const Model model = Model::Load(file.path(), {});
  Session session(model, SessionOptions::Estimated());
  const std::vector<Tensor> first = session.Run({}), second = session.Run({});
  for (size_t i = 0; i < first.size(); ++i) {
    EXPECT_EQ(Correlation(first[i], first[i]), Correlation(first[i], second[i]));
    EXPECT_NEAR(Correlation(first[i], first[i]), 1, 6 * std::sqrt(2.0 / double(kCount)));
    for (size_t j = 0; j < i; ++j)
      EXPECT_NEAR(Correlation(first[i], first[j]), 0, 6 / std::sqrt(double(kCount)));
  }
}

// Dropout with a mask; `training` is an input of the model, or a constant with the name "c_training".
std::vector<Tensor> Dropped(const std::string& training, bool value, float ratio) {
  ModelProto m = EmptyModel(13);
  AddInput(m, "x", {kCount});
  AddRaw(m, "ratio", TensorProto::FLOAT, {}, RawOf<float>({ratio}));
  const uint8_t flag = value ? 1 : 0;
  if (training.starts_with("c_")) AddRaw(m, training, TensorProto::BOOL, {}, std::string(1, char(flag)));
  else AddInput(m, training, {}, {}, TensorProto::BOOL);
  AddInt(AddOp(m, "Dropout", {"x", "ratio", training}, {"y", "mask"}, "dropout"), "seed", 0);
  AddOutput(m, "y");
  AddOutput(m, "mask");
  const ModelFile file(m);
  const Model model = Model::Load(file.path(), {});
  std::vector<Tensor> inputs{Ramp({kCount}, 1)};
  if (!training.starts_with("c_"))
    inputs.push_back(Tensor::Of<uint8_t>(DType::kBool, {}, std::span(&flag, 1)));
  return Session(model, SessionOptions::Estimated()).Run(inputs);
}

TEST(RandomModels, DropoutInTrainingDropsAShareAndScalesTheRest) {
  const Tensor x = Ramp({kCount}, 1);
  for (const char* training : {"training", "c_training"})
    for (const bool value : {true, false})
      for (const float ratio : {0.0f, 0.75f}) {
        SCOPED_TRACE(fmt::format("{} {} {}", training, value, ratio));
        const std::vector<Tensor> y = Dropped(training, value, ratio);
        const double rate = value ? double(ratio) : 0;
        int64_t kept = 0;
        for (int64_t i = 0; i < kCount; ++i) {
          const bool keeps = y[1].as<uint8_t>()[i] != 0;
          kept += keeps;
          ASSERT_EQ(y[0].as<float>()[i], keeps ? x.as<float>()[i] * float(1 / (1 - rate)) : 0) << i;
        }
        EXPECT_NEAR(double(kept) / double(kCount), 1 - rate,
                    6 * std::sqrt(rate * (1 - rate) / double(kCount)));
      }
}

}  // namespace
}  // namespace mete
