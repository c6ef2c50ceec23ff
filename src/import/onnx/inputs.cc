#include "import/onnx/inputs.h"

#include "import/onnx/tensors.h"

namespace mete::onnx_import {
namespace {

using ::onnx::TensorShapeProto_Dimension;
using ::onnx::ValueInfoProto;

// Where nobody says: one item; pictures of 224 x 224 with 3 channels, as in most of the literature; and
// sequences of 16.
int64_t DefaultDim(int rank, int axis) {
  if (axis == 0) return 1;
  if (rank == 4) return axis == 1 ? 3 : 224;
  if (rank == 5 && axis == 1) return 3;
  return 16;
}

class Resolver {
 public:
  Resolver(const ImportOptions& options, std::vector<std::string>& notes, Problems& problems)
      : options_(options), notes_(notes), problems_(problems) {}

  // Given shapes bind the names of dimensions ('N') for all inputs, so they go first.
  void BindGiven(const ValueInfoProto& input) {
    const Shape* given = Given(input.name());
    if (!given || !input.type().tensor_type().has_shape()) return;
    const auto& shape = input.type().tensor_type().shape();
    if (given->rank() != shape.dim_size()) return;
    for (int i = 0; i < given->rank(); ++i)
      if (!shape.dim(i).dim_param().empty()) dims_.emplace(shape.dim(i).dim_param(), (*given)[i]);
  }

  Shape Resolve(const ValueInfoProto& input, DType type) {
    const Shape* given = Given(input.name());
    Shape shape;
    if (!input.type().tensor_type().has_shape()) {
      if (given) shape = *given;
      else problems_.BadRequest(input.name(), "the model does not say this input's shape; try --shape {}=...", input.name());
    } else {
      shape = given ? Check(input, *given) : Assume(input);
    }
    if (CheckedElements(shape, type, options_.max_value_bytes) >= 0) return shape;
    constexpr fmt::format_string<std::string, const int64_t&> kImpossible =
        "input has impossible dimensions; got {}, expected none negative and at most {} bytes";
    if (given) problems_.BadRequest(input.name(), kImpossible, ToString(shape), options_.max_value_bytes);
    else problems_.Bad(input.name(), kImpossible, ToString(shape), options_.max_value_bytes);
    return shape;
  }

 private:
  const Shape* Given(const std::string& name) const {
    const auto at = options_.input_shapes.find(name);
    return at == options_.input_shapes.end() ? nullptr : &at->second;
  }

  Shape Check(const ValueInfoProto& input, const Shape& given) {
    const auto& shape = input.type().tensor_type().shape();
    bool fits = given.rank() == shape.dim_size();
    std::string expected;
    for (int i = 0; i < shape.dim_size(); ++i) {
      const TensorShapeProto_Dimension& d = shape.dim(i);
      expected += (i ? "x" : "") + (d.has_dim_value() ? std::to_string(d.dim_value()) : d.dim_param().empty() ? "?" : d.dim_param());
      if (fits && d.has_dim_value() && d.dim_value() != given[i]) fits = false;
    }
    if (!fits)
      problems_.BadRequest(input.name(), "the given shape does not fit this input; got {}, expected {}", ToString(given), expected);
    return given;
  }

  Shape Assume(const ValueInfoProto& input) {
    const auto& dims = input.type().tensor_type().shape().dim();
    Shape shape;
    if (dims.size() > Shape::kMaxRank) {
      problems_.Bad(input.name(), "input has too many dimensions; got {}, expected at most {}", dims.size(), int(Shape::kMaxRank));
      return shape;
    }
    for (int i = 0; i < dims.size(); ++i) {
      if (dims[i].has_dim_value()) {
        shape.push_back(dims[i].dim_value());
        continue;
      }
      const std::string& name = dims[i].dim_param();
      int64_t size = DefaultDim(dims.size(), i);
      if (!name.empty()) size = dims_.emplace(name, size).first->second;
      shape.push_back(size);
      notes_.push_back(fmt::format("input '{}': dimension {}{} set to {}", input.name(), i, name.empty() ? "" : " ('" + name + "')", size));
    }
    return shape;
  }

  const ImportOptions& options_;
  std::vector<std::string>& notes_;
  Problems& problems_;
  std::map<std::string, int64_t> dims_;
};

DType TypeOf(const ValueInfoProto& input, Problems& problems) {
  if (!input.type().has_tensor_type()) {
    problems.Unsupported("input", "it is not a tensor (a sequence, map or optional)", input.name());
    return DType::kUnknown;
  }
  const int32_t number = input.type().tensor_type().elem_type();
  const DType type = DTypeOfOnnx(number);
  if (type == DType::kUnknown) problems.Unsupported("input", fmt::format("element type {}", OnnxTypeName(number)), input.name());
  return type;
}

}  // namespace

std::vector<Input> ResolveInputs(const ::onnx::GraphProto& graph, const std::set<std::string>& constants, const ImportOptions& options,
                                 std::vector<std::string>& notes, Problems& problems) {
  Resolver resolver(options, notes, problems);
  std::vector<Input> out;
  std::string names;
  std::set<std::string> seen;
  for (const ValueInfoProto& input : graph.input())
    if (!constants.count(input.name())) resolver.BindGiven(input);
  for (const ValueInfoProto& input : graph.input()) {
    if (constants.count(input.name())) continue;
    names += (names.empty() ? "'" : ", '") + input.name() + "'";
    if (!seen.insert(input.name()).second) problems.Bad(input.name(), "two inputs have this name");
    const DType type = TypeOf(input, problems);
    if (type != DType::kUnknown) out.push_back({input.name(), type, resolver.Resolve(input, type)});
  }
  for (const auto& [name, shape] : options.input_shapes)
    if (!seen.count(name))
      problems.BadRequest(problems.model(), "a shape is given for an unknown input; got '{}', expected one of {}", name, names);
  return out;
}

}  // namespace mete::onnx_import
