#include "case.h"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>

#include "base/narrow.h"
#include "base/visit_type.h"
#include "engine/model.h"
#include "import/onnx/tensors.h"
#include "mete/engine.h"

namespace mete::conformance {
namespace {

namespace fs = std::filesystem;

// The tolerances of the onnx package's own runner.
constexpr double kRelative = 1e-3, kAbsolute = 1e-7;

struct Named {
  std::string name;
  Tensor tensor;
};

Named ReadTensor(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream bytes;
  bytes << file.rdbuf();
  ::onnx::TensorProto proto;
  if (!proto.ParseFromString(bytes.str())) Fail(Code::kDataLoss, path.string(), "not a tensor");
  auto raw = std::make_shared<std::string>(proto.raw_data());
  const bool has_raw = proto.has_raw_data();
  proto.clear_raw_data();
  if (has_raw) proto.set_raw_data("0");  // the reader takes raw data by index
  onnx_import::TensorReader reader({std::as_bytes(std::span(*raw))}, raw, "", int64_t(1) << 32);
  return {proto.name(), reader.Read(proto, path.filename().string())};
}

std::vector<Named> ReadTensors(const fs::path& folder, const std::string& kind) {
  std::vector<Named> out;
  for (int i = 0;; ++i) {
    const fs::path path = folder / fmt::format("{}_{}.pb", kind, i);
    if (!fs::exists(path)) return out;
    out.push_back(ReadTensor(path));
  }
}

bool Close(double got, double expected) {
  if (std::isnan(expected) || std::isnan(got)) return std::isnan(expected) && std::isnan(got);
  if (std::isinf(expected) || std::isinf(got)) return got == expected;
  return std::abs(got - expected) <= kAbsolute + kRelative * std::abs(expected);
}

template <class T>
bool Same(T got, T expected) {
  if constexpr (std::is_integral_v<T>) return got == expected;
  else return Close(double(got), double(expected));
}

template <class T>
std::string CompareData(const Tensor& got, const Tensor& expected) {
  int64_t different = 0, first = -1;
  for (int64_t i = 0; i < expected.elements(); ++i)
    if (!Same<T>(got.as<T>()[i], expected.as<T>()[i]) && different++ == 0) first = i;
  if (different == 0) return "";
  return fmt::format("{} of {} elements differ; element {}: got {}, expected {}", different,
                     expected.elements(), first, double(got.as<T>()[first]), double(expected.as<T>()[first]));
}

Tensor NumbersOf(const Tensor& narrow) {
  Tensor numbers(DType::kF32, narrow.shape());
  for (int64_t i = 0; i < narrow.elements(); ++i)
    numbers.mutable_view().as<float>()[i] = NarrowNumbers(narrow.type())[narrow.as<uint8_t>()[i]];
  return numbers;
}

// Returns the difference of two tensors as text; empty if they agree.
std::string Compare(const Tensor& got, const Tensor& expected) {
  if (got.type() != expected.type())
    return fmt::format("got {}, expected {}", mete::Name(got.type()), mete::Name(expected.type()));
  if (got.shape() != expected.shape())
    return fmt::format("got {}, expected {}", ToString(got.shape()), ToString(expected.shape()));
  if (IsNarrow(got.type())) return CompareData<float>(NumbersOf(got), NumbersOf(expected));
  return VisitAny(got.type(), [&]<class T>() { return CompareData<T>(got, expected); });
}

// Computes a model's outputs.
using Compute = std::function<std::vector<Tensor>(const Model&, const std::vector<Tensor>&)>;

Outcome RunDataSet(const fs::path& model_path, const fs::path& data, const Compute& compute) {
  const std::vector<Named> inputs = ReadTensors(data, "input"), expected = ReadTensors(data, "output");
  LoadOptions options;
  for (const Named& input : inputs) options.input_shapes[input.name] = input.tensor.shape();
  const Model model = Model::Load(model_path.string(), options);
  std::vector<Tensor> given;
  for (const Port& port : model.inputs())
    for (const Named& input : inputs)
      if (input.name == port.name) given.push_back(input.tensor);
  const std::vector<Tensor> got = compute(model, given);
  if (got.size() != expected.size())
    return {Status::kWrong, fmt::format("got {} outputs, expected {}", got.size(), expected.size())};
  for (size_t i = 0; i < got.size(); ++i)
    if (const std::string difference = Compare(got[i], expected[i].tensor); !difference.empty())
      return {Status::kWrong, fmt::format("output {}: {}", i, difference)};
  return {Status::kPassed, ""};
}

Outcome RunCaseBy(const Compute& compute, const std::string& folder) {
  try {
    for (int i = 0;; ++i) {
      const fs::path data = fs::path(folder) / fmt::format("test_data_set_{}", i);
      if (!fs::exists(data))
        return i ? Outcome{Status::kPassed, ""}
                 : Outcome{Status::kMissing, "the onnx package does not have it"};
      const Outcome outcome = RunDataSet(fs::path(folder) / "model.onnx", data, compute);
      if (outcome.status != Status::kPassed) return outcome;
    }
  } catch (const Error& e) {
    return {e.code() == Code::kUnimplemented ? Status::kUnsupported : Status::kWrong, e.what()};
  } catch (const std::exception& e) {
    return {Status::kCrashed, fmt::format("an exception that is not mete::Error: {}", e.what())};
  }
}

// A processor does not claim a model.
struct NotClaimed {
  std::string why;
};

}  // namespace

const char* Name(Status status) {
  constexpr const char* kNames[] = {"passed", "unsupported", "wrong", "crashed", "missing", "not claimed"};
  return kNames[size_t(status)];
}

Status StatusOf(const std::string& name) {
  for (Status s : {Status::kPassed, Status::kUnsupported, Status::kWrong, Status::kCrashed})
    if (name == Name(s)) return s;
  return Status::kMissing;
}

Outcome RunCase(const std::string& folder) {
  return RunCaseBy(
      [](const Model& model, const std::vector<Tensor>& inputs) {
        return Session(model, SessionOptions::Estimated()).Run(inputs);
      },
      folder);
}

Outcome RunCaseOn(Processor& processor, const std::string& folder) {
  try {
    return RunCaseBy(
        [&](const Model& model, const std::vector<Tensor>& inputs) {
          const Graph& share = DivisibleOf(model);
          for (const Node& node : share.nodes)
            if (std::string why = processor.WhyNot(share, node); !why.empty()) throw NotClaimed{why};
          return processor.Prepare(share)->Run(inputs, {});
        },
        folder);
  } catch (const NotClaimed& model) {
    return {Status::kNotClaimed, model.why};
  }
}

}  // namespace mete::conformance
