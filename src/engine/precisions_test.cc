// LoadOptions::precision = "auto", and plans with precisions.
#include <gtest/gtest.h>

#include <cmath>

#include "base/difference.h"
#include "base/errors_testing.h"
#include "engine/engine_testing.h"

namespace mete {
namespace {

constexpr int64_t kSize = 600;  // weights of more than a MiB: a product of one row waits for them

// data 1x600 -> two products with 600 x 600 weights -> y. Weights of the first are multiples of 1/127 of the
// largest of each group, so that 8 bits keep them. Among weights of the second of up to 0.5, one of each
// group is 50.
ModelProto TwoProducts() {
  std::vector<float> exact(kSize * kSize), harsh(kSize * kSize);
  for (int64_t k = 0; k < kSize; ++k)
    for (int64_t n = 0; n < kSize; ++n) {
      const int64_t i = k * kSize + n, any = k * 37 + n * 11;
      exact[size_t(i)] = float(k % 64 == 0 ? 127 : any % 255 - 127) / 1024;
      harsh[size_t(i)] = k % 64 == 0 ? 50 : float(any % 101 - 50) * 0.01f;
    }
  const auto bytes = [](const std::vector<float>& values) {
    return std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
  };
  ModelProto m = EmptyModel();
  AddInput(m, "data", {1, kSize});
  AddRaw(m, "w1", TensorProto::FLOAT, {kSize, kSize}, bytes(exact));
  AddRaw(m, "w2", TensorProto::FLOAT, {kSize, kSize}, bytes(harsh));
  AddOp(m, "MatMul", {"data", "w1"}, {"p"}, "exact");
  AddOp(m, "Tanh", {"p"}, {"t"}, "tanh");
  AddOp(m, "MatMul", {"t", "w2"}, {"y"}, "harsh");
  AddOutput(m, "y");
  return m;
}

Tensor Input() {
  Tensor t(DType::kF32, {1, kSize});
  for (int64_t i = 0; i < kSize; ++i) t.mutable_view().as<float>()[i] = float(i * 29 % 83 - 41) * 0.02f;
  return t;
}

LoadOptions Auto(double bound) { return {.precision = "auto", .error_bound = bound, .samples = {{Input()}}}; }

std::vector<Tensor> Outputs(const Model& model, const SessionOptions& options = SessionOptions::Estimated()) {
  return Session(model, options).Run({Input()});
}

std::map<std::string, std::string> KernelsOf(const Model& model, const SessionOptions& options) {
  std::map<std::string, std::string> kernels;
  for (const StepInfo& step : Session(model, options).Steps()) kernels[step.node] = step.kernel;
  return kernels;
}

TEST(AutoPrecision, RoundsWhatTheBoundAllows) {
  const ModelFile file(TwoProducts());
  const Model f32 = Model::Load(file.path());
  struct Case {
    double bound;
    std::map<std::string, std::string> rounded;
    std::vector<std::string> kept;
  };
  for (const Case& c :
       {Case{0.5, {{"exact", "w8"}, {"harsh", "w8"}}, {}}, Case{0.002, {{"exact", "w8"}}, {"harsh"}}}) {
    const Model model = Model::Load(file.path(), Auto(c.bound));
    const PrecisionReport& report = model.precision();
    EXPECT_EQ(report.rounded, c.rounded) << "bound " << c.bound;
    EXPECT_EQ(report.kept, c.kept) << "bound " << c.bound;
    EXPECT_EQ(report.samples, 1);
    EXPECT_FALSE(report.made_up);
    const double apart = LargestDifference(Outputs(model), Outputs(f32));
    EXPECT_NEAR(report.error, apart, 1e-6) << "what the report says is what the outputs show";
    EXPECT_LE(apart, c.bound);
    ASSERT_FALSE(model.notes().empty());
    EXPECT_NE(model.notes().back().find("precision auto: "), std::string::npos) << model.notes().back();
  }
}

TEST(AutoPrecision, HasMadeUpInputsWhereNoneAreGiven) {
  const ModelFile file(TwoProducts());
  const PrecisionReport report =
      Model::Load(file.path(), {.precision = "auto", .error_bound = 0.5}).precision();
  EXPECT_TRUE(report.made_up);
  EXPECT_GT(report.samples, 0);
  EXPECT_EQ(report.rounded.size(), 2u);
}

TEST(AutoPrecision, RefusesBoundsAndSamplesThatAreNone) {
  const ModelFile file(TwoProducts());
  for (const double bound : {0.0, -1.0, 1.0, double(NAN)})
    EXPECT_TELLS(Model::Load(file.path(), Auto(bound)), "error_bound");
  LoadOptions options = Auto(0.5);
  options.samples = {{Tensor(DType::kF32, {1, 3})}};
  EXPECT_TELLS(Model::Load(file.path(), options), "samples");
}

TEST(AutoPrecision, NeedsAnOutputThatShowsErrors) {
  ModelProto m = TwoProducts();
  AddOp(m, "ArgMax", {"y"}, {"class"}, "argmax");
  m.mutable_graph()->mutable_output(0)->set_name("class");
  const ModelFile file(m);
  EXPECT_TELLS(Model::Load(file.path(), Auto(0.5)), "auto compares outputs of f32");
}

// A plan that is given decides the precisions, whatever those of the model are.
TEST(AutoPrecision, PlansHaveThePrecisionOfEachProduct) {
  const ModelFile file(TwoProducts());
  const Model f32 = Model::Load(file.path()), some = Model::Load(file.path(), Auto(0.002));
  const auto planned = [](const Model& model) {
    SessionOptions options = SessionOptions::Estimated();
    options.plan_json = Session(model, SessionOptions::Estimated()).PlanJson();
    return options;
  };
  const auto rounded = KernelsOf(f32, planned(some)), whole = KernelsOf(some, planned(f32));
  EXPECT_TRUE(rounded.at("exact").starts_with("matvec_w8_f32")) << rounded.at("exact");
  EXPECT_TRUE(rounded.at("harsh").starts_with("matvec_columns_f32")) << rounded.at("harsh");
  EXPECT_TRUE(whole.at("exact").starts_with("matvec_columns_f32")) << whole.at("exact");
  EXPECT_EQ(LargestDifference(Outputs(f32, planned(some)), Outputs(some)), 0);
  EXPECT_EQ(LargestDifference(Outputs(some, planned(f32)), Outputs(f32)), 0);
}

TEST(AutoPrecision, PlansAreRefusedThatRoundWhatCannotBe) {
  const ModelFile file(TwoProducts());
  const Model model = Model::Load(file.path());
  std::string plan = Session(model, SessionOptions::Estimated()).PlanJson();
  const size_t at = plan.find("\"precision\"");
  ASSERT_NE(at, std::string::npos) << plan;
  SessionOptions options = SessionOptions::Estimated();
  options.plan_json = plan.replace(plan.find("f32", at), 3, "f99");
  EXPECT_TELLS(Session(model, options), "no such precision");
}

}  // namespace
}  // namespace mete
