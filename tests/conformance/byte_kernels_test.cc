// The ONNX node cases of operators on bytes: fast kernels compute them, or Explain() says why none does. In
// most cases scales, zero points and weights are inputs of the graph, which no network has; here each case
// also runs with all inputs but the first as constants.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>

#include "base/temp_path_testing.h"
#include "import/onnx/proto.h"
#include "tests/conformance/case.h"
#include "tests/conformance/table.h"
#include "mete/engine.h"

namespace mete::conformance {
namespace {

namespace fs = std::filesystem;

const fs::path kData = "build/conformance/data";
constexpr const char* kDataSet = "test_data_set_0";  // the only one of these cases

bool IsOnBytes(const std::string& op) {
  static const std::set<std::string> operators{
      "QLinearConv",    "QLinearMatMul",    "ConvInteger",           "MatMulInteger",
      "QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear", "mete.ScaledMatMulInteger"};
  return operators.contains(op);
}

// The cases of these operators that pass, and have no other floats than f32, with which no fast kernel
// computes.
std::vector<std::string> Cases() {
  std::set<std::string> passed;
  for (const auto& row : ReadTable("tests/conformance/results.tsv"))
    if (StatusOf(row.at(1)) == Status::kPassed && !row[0].ends_with("float16")) passed.insert(row[0]);
  std::vector<std::string> cases;
  for (const auto& row : ReadTable("tests/conformance/cases.tsv"))
    if (IsOnBytes(row.at(1)) && passed.contains(row[0])) cases.push_back(row[0]);
  return cases;
}

// Returns why the reference computes an operator on bytes of the model; "": fast kernels compute all of them.
std::string WhyNot(const std::string& model) {
  for (const StepInfo& step : Session(Model::Load(model), SessionOptions::Estimated()).Steps())
    if (IsOnBytes(step.op) && step.kernel.starts_with("reference"))
      return step.why.empty() ? "no reason for " + step.op : step.why;
  return "";
}

template <class Proto>
Proto Read(const fs::path& path) {
  Proto proto;
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(proto.ParseFromIstream(&file)) << path;
  return proto;
}

// A copy of a case whose inputs but the first are constants, in a folder that is removed with the object.
class FrozenCase {
 public:
  explicit FrozenCase(const fs::path& folder) {
    const fs::path from = folder / kDataSet, to = fs::path(path()) / kDataSet;
    fs::create_directories(to);
    auto model = Read<::onnx::ModelProto>(folder / "model.onnx");
    auto& inputs = *model.mutable_graph()->mutable_input();
    for (int i = 1; i < inputs.size(); ++i) {
      auto value = Read<::onnx::TensorProto>(from / ("input_" + std::to_string(i) + ".pb"));
      value.set_name(inputs[i].name());
      *model.mutable_graph()->add_initializer() = value;
    }
    inputs.DeleteSubrange(1, inputs.size() - 1);
    std::ofstream(fs::path(path()) / "model.onnx", std::ios::binary) << model.SerializeAsString();
    for (const auto& file : fs::directory_iterator(from)) {
      const std::string name = file.path().filename().string();
      if (name == "input_0.pb" || name.starts_with("output_")) fs::copy(file, to / name);
    }
  }
  std::string path() const { return path_.str(); }

 private:
  const TempPath path_{""};
};

class ByteOperators : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!fs::exists(kData)) GTEST_SKIP() << "no ONNX node cases; try tools/conformance.sh";
  }
};

TEST_F(ByteOperators, HaveReasonsWhereTheReferenceComputesThem) {
  for (const std::string& name : Cases()) {
    const std::string why = WhyNot((kData / name / "model.onnx").string());
    EXPECT_FALSE(why.starts_with("no reason")) << name << ": " << why;
  }
}

TEST_F(ByteOperators, HaveFastKernelsWhereOnlyTheDataIsAnInput) {
  const std::string scales = "not between f32 and bytes with one constant scale and zero point",
                    batches = "the right operand is not a matrix";
  std::map<std::string, std::string> slow = {{"test_dequantizelinear_axis", scales},
                                             {"test_dequantizelinear_blocked", scales},
                                             {"test_dequantizelinear_int16", scales},
                                             {"test_dequantizelinear_uint16", scales},
                                             {"test_qlinearmatmul_3D_int8_float32", batches},
                                             {"test_qlinearmatmul_3D_uint8_float32", batches},
                                             {"test_quantizelinear_axis", scales},
                                             {"test_quantizelinear_blocked_asymmetric", scales},
                                             {"test_quantizelinear_blocked_symmetric", scales},
                                             {"test_quantizelinear_int16", scales},
                                             {"test_quantizelinear_uint16", scales}};
  for (const char* type : {"e4m3fn", "e5m2", "float4e2m1", "int2", "int4", "uint2", "uint4"})
    for (const char* op : {"test_dequantizelinear_", "test_quantizelinear_"})
      slow[std::string(op) + type] = scales;
  slow["test_dequantizelinear_e4m3fn_zero_point"] = scales;
  std::map<std::string, std::string> found;
  for (const std::string& name : Cases()) {
    const FrozenCase frozen(kData / name);
    const Outcome outcome = RunCase(frozen.path());
    EXPECT_EQ(outcome.status, Status::kPassed) << name << ": " << outcome.reason;
    if (const std::string why = WhyNot(frozen.path() + "/model.onnx"); !why.empty()) found[name] = why;
  }
  EXPECT_EQ(found, slow);
}

}  // namespace
}  // namespace mete::conformance
