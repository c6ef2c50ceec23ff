// LoadOptions::precision = "auto", and plans with precisions.
#include <gtest/gtest.h>

#include <cmath>

#include "base/difference.h"
#include "base/errors_testing.h"
#include "engine/engine_testing.h"
#include "kernels/fast/target/features.h"

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

TEST(LoadPrecision, AnErrorNamesThoseThatANetworkMayHave) {
  const ModelFile file(TwoProducts());
  for (const char* name : {"i32", "f99", ""})
    EXPECT_TELLS(Model::Load(file.path(), {.precision = name}), "expected f32, bf16, f16, w8, w4 or auto");
}

// Adds x rounded to bytes: QuantizeLinear and DequantizeLinear.
std::string AddRounded(ModelProto& m, const std::string& x) {
  AddOp(m, "QuantizeLinear", {x, "scale", "zero"}, {x + "_q"});
  AddOp(m, "DequantizeLinear", {x + "_q", "scale", "zero"}, {x + "_r"});
  return x + "_r";
}

// data 1x32x20x20 -> two 3x3 convolutions of bytes with 32 channels -> y
ModelProto TwoByteConvolutions() {
  constexpr int64_t kChannels = 32;
  ModelProto m = EmptyModel();
  AddInput(m, "data", {1, kChannels, 20, 20});
  AddRaw(m, "scale", TensorProto::FLOAT, {}, RawOf(std::vector<float>{0.05f}));
  AddRaw(m, "zero", TensorProto::UINT8, {}, RawOf(std::vector<uint8_t>{128}));
  AddRaw(m, "w_scale", TensorProto::FLOAT, {}, RawOf(std::vector<float>{0.0012f}));
  AddRaw(m, "w_zero", TensorProto::INT8, {}, RawOf(std::vector<int8_t>{0}));
  std::string x = "data";
  for (const std::string name : {"first", "second"}) {
    std::vector<int8_t> weights;
    for (int64_t i = 0; i < kChannels * kChannels * 9; ++i)
      weights.push_back(int8_t(i * (name == "first" ? 37 : 53) % 251 - 125));
    AddRaw(m, name + "_w", TensorProto::INT8, {kChannels, kChannels, 3, 3}, RawOf(weights));
    AddOp(m, "DequantizeLinear", {name + "_w", "w_scale", "w_zero"}, {name + "_wr"});
    AddInts(AddOp(m, "Conv", {AddRounded(m, x), name + "_wr"}, {name + "_y"}, name), "pads", {1, 1, 1, 1});
    x = name + "_y";
  }
  AddOp(m, "Identity", {AddRounded(m, x)}, {"y"});
  AddOutput(m, "y");
  return m;
}

class BytesInF32 : public ::testing::Test {
 protected:
  BytesInF32() : file_(TwoByteConvolutions()), input_(DType::kF32, {1, 32, 20, 20}) {
    for (int64_t i = 0; i < input_.elements(); ++i)
      input_.mutable_view().as<float>()[i] = float(i * 29 % 253 - 126) * 0.05f;
  }
  ~BytesInF32() override { ForceWithout(""); }

  static void ForceWithoutProductsOfBytes() {
    std::string all;
    for (const std::string& feature : AvailableFeatures()) all += (all.empty() ? "" : ",") + feature;
    ForceWithout(all);
  }
  Model Load(const std::string& precision, double bound = 0.1) const {
    return Model::Load(file_.path(), {.precision = precision, .error_bound = bound, .samples = {{input_}}});
  }
  // Runs the model, and gives the kernels of its convolutions.
  std::vector<Tensor> Run(const Model& model, std::vector<std::string>* kernels,
                          const SessionOptions& options = SessionOptions::Estimated()) const {
    Session session(model, options);
    kernels->clear();
    for (const StepInfo& step : session.Steps())
      if (step.node == "first" || step.node == "second")
        kernels->push_back(step.precision + " " + step.kernel.substr(0, step.kernel.find(' ')));
    return session.Run({input_});
  }
  static SessionOptions Planned(const Model& model) {
    SessionOptions options = SessionOptions::Estimated();
    options.plan_json = Session(model, SessionOptions::Estimated()).PlanJson();
    return options;
  }

  const std::vector<std::string> exact_ = {"i32 conv_bytes", "i32 conv_bytes"},
                                 floats_ = {"f32 winograd_f4_bytes", "f32 winograd_f4_bytes"};
  const std::map<std::string, std::string> both_ = {{"first", "f32"}, {"second", "f32"}};
  const ModelFile file_;
  Tensor input_;
  std::vector<std::string> kernels_;
};

TEST_F(BytesInF32, AutoTakesConvolutionsOfBytesToF32WhereThatIsSooner) {
  ForceWithoutProductsOfBytes();
  const std::vector<Tensor> want = Run(Load("f32"), &kernels_);
  EXPECT_EQ(kernels_, exact_) << "never without auto";
  (void)Run(Load("bf16"), &kernels_);
  EXPECT_EQ(kernels_, exact_) << "never without auto";
  const Model model = Load("auto");
  EXPECT_EQ(model.precision().rounded, both_);
  const std::vector<Tensor> got = Run(model, &kernels_);
  EXPECT_EQ(kernels_, floats_);
  const double apart = LargestDifference(got, want);
  EXPECT_NEAR(model.precision().error, apart, 1e-6);
  EXPECT_LE(apart, 0.1);
  EXPECT_NE(model.notes().back().find("2 products of bytes in f32"), std::string::npos)
      << model.notes().back();
}

TEST_F(BytesInF32, TheBitsWithoutAutoAreThoseeOfEveryInstructionSet) {
  const std::vector<Tensor> usual = Run(Load("f32"), &kernels_);
  ForceWithoutProductsOfBytes();
  EXPECT_EQ(LargestDifference(usual, Run(Load("f32"), &kernels_)), 0);
}

TEST_F(BytesInF32, AProcessorThatMultipliesBytesKeepsThem) {
  bool products = false;
  for (const std::string& feature : AvailableFeatures())
    products |= feature == "avx512vnni" || feature == "avxvnni" || feature == "dotprod" || feature == "i8mm";
  if (!products) GTEST_SKIP() << "this processor has no products of bytes";
  const Model model = Load("auto");
  EXPECT_TRUE(model.precision().rounded.empty());
  (void)Run(model, &kernels_);
  EXPECT_EQ(kernels_, exact_);
}

TEST_F(BytesInF32, APlanThatIsGivenDecides) {
  ForceWithoutProductsOfBytes();
  const Model usual = Load("f32"), floats = Load("auto");
  std::vector<std::string> planned;
  const std::vector<Tensor> want = Run(usual, &kernels_), approximate = Run(floats, &kernels_);
  EXPECT_EQ(LargestDifference(Run(usual, &planned, Planned(floats)), approximate), 0);
  EXPECT_EQ(planned, floats_);
  EXPECT_EQ(LargestDifference(Run(floats, &planned, Planned(usual)), want), 0);
  EXPECT_EQ(planned, exact_);
}

}  // namespace
}  // namespace mete
