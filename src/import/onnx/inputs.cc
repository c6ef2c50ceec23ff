#include "import/onnx/inputs.h"

#include <algorithm>

#include "import/onnx/tensors.h"

namespace mete::onnx_import {
namespace {

using ::onnx::TensorShapeProto_Dimension;
using ::onnx::ValueInfoProto;

// Returns the size of a dimension that neither the file nor the caller gives: a batch of 1, pictures of
// 224 x 224 with 3 channels, as in most of the literature, and sequences of 16.
int64_t DefaultDim(int rank, int axis) {
  if (axis == 0) return 1;
  if (rank == 4) return axis == 1 ? 3 : 224;
  if (rank == 5 && axis == 1) return 3;
  return 16;
}

using Dims = google::protobuf::RepeatedPtrField<TensorShapeProto_Dimension>;

const Dims& DimsOf(const ValueInfoProto& input) { return TensorTypeOf(input).shape().dim(); }
bool HasShape(const ValueInfoProto& input) { return TensorTypeOf(input).has_shape(); }

// Returns whether the file gives the size. Paddle's exporter writes -1 for an open dimension.
bool HasSize(const TensorShapeProto_Dimension& d) { return d.has_dim_value() && d.dim_value() != -1; }
// Returns whether the file names an open dimension. Paddle's exporter calls all of them "?".
bool HasName(const TensorShapeProto_Dimension& d) {
  return !HasSize(d) && !d.dim_param().empty() && d.dim_param() != "?";
}

// Returns the shape as the file declares it, for example "Nx3x?x?".
std::string Declared(const ValueInfoProto& input) {
  std::string text;
  for (const TensorShapeProto_Dimension& d : DimsOf(input))
    text += (text.empty() ? "" : "x") + (HasSize(d)   ? std::to_string(d.dim_value())
                                         : HasName(d) ? d.dim_param()
                                                      : "?");
  return text.empty() ? "scalar" : text;
}

bool IsFixed(const ValueInfoProto& input) {
  const Dims& dims = DimsOf(input);
  return HasShape(input) && std::all_of(dims.begin(), dims.end(),
                                        [](const TensorShapeProto_Dimension& d) { return HasSize(d); });
}

bool Fits(const Shape& given, const ValueInfoProto& input) {
  const Dims& dims = DimsOf(input);
  if (!given.known() || given.rank() != dims.size()) return false;
  for (int i = 0; i < dims.size(); ++i)
    if (HasSize(dims[i]) && dims[i].dim_value() != given[i]) return false;
  return true;
}

// Finds the shapes of all inputs. A named dimension ('N') has the same size in all inputs, so the constructor
// binds the names to sizes before any input is resolved: first sizes that the caller gives by name, then
// given shapes, then shapes of the caller's tensors, then the batch. Names that are still unbound get
// defaults.
class Resolver {
 public:
  Resolver(std::vector<const ValueInfoProto*> inputs, const ImportOptions& options,
           std::vector<std::string>& notes, ImportProblems& problems)
      : inputs_(std::move(inputs)), options_(options), notes_(notes), problems_(problems) {
    BindGivenNames();
    for (const ValueInfoProto* input : inputs_)
      if (const Shape* given = Given(*input)) Bind(*input, *given);
    for (const ValueInfoProto* input : inputs_)
      if (const Shape* tensor = OfTensor(*input)) Bind(*input, *tensor);
    for (const ValueInfoProto* input : inputs_)
      if (options_.batch > 0 && HasShape(*input) && !DimsOf(*input).empty() && HasName(DimsOf(*input)[0]))
        sizes_.emplace(DimsOf(*input)[0].dim_param(), options_.batch);
  }

  Shape Resolve(const ValueInfoProto& input, DType type) {
    const Shape* given = Given(input);
    Shape shape;
    if (!HasShape(input)) {
      const Shape* tensor = ShapeGiven(options_.tensor_shapes, input.name(), inputs_.size());
      if (given || tensor) shape = given ? *given : *tensor;
      else
        problems_.BadRequest(input.name(), "the model does not say this input's shape; try --shape {}=...",
                             input.name());
    } else if (given) {
      shape = Check(input, *given);
    } else {
      const Shape* tensor = OfTensor(input);
      shape = tensor ? *tensor : Assume(input);
    }
    if (CheckedElements(shape, type, options_.max_value_bytes) >= 0) return shape;
    constexpr fmt::format_string<std::string, const int64_t&> kImpossible =
        "input has impossible dimensions; got {}, expected none negative and at most {} bytes; try a smaller "
        "--shape";
    if (given) problems_.BadRequest(input.name(), kImpossible, ToString(shape), options_.max_value_bytes);
    else problems_.Bad(input.name(), kImpossible, ToString(shape), options_.max_value_bytes);
    return shape;
  }

 private:
  const Shape* Given(const ValueInfoProto& input) const {
    return ShapeGiven(options_.input_shapes, input.name(), inputs_.size());
  }

  // Returns the shape of the caller's tensor for this input. Returns null if there is none, or if the shape
  // contradicts the file or the size of a bound name.
  const Shape* OfTensor(const ValueInfoProto& input) const {
    const Shape* shape = ShapeGiven(options_.tensor_shapes, input.name(), inputs_.size());
    if (!shape || !HasShape(input) || !Fits(*shape, input)) return nullptr;
    for (int i = 0; i < shape->rank(); ++i) {
      const auto bound = sizes_.find(DimsOf(input)[i].dim_param());
      if (HasName(DimsOf(input)[i]) && bound != sizes_.end() && bound->second != (*shape)[i]) return nullptr;
    }
    return shape;
  }

  void Bind(const ValueInfoProto& input, const Shape& shape) {
    if (!HasShape(input) || !Fits(shape, input)) return;
    for (int i = 0; i < shape.rank(); ++i)
      if (HasName(DimsOf(input)[i])) sizes_.emplace(DimsOf(input)[i].dim_param(), shape[i]);
  }

  std::set<std::string> NamesOfDims() const {
    std::set<std::string> names;
    for (const ValueInfoProto* input : inputs_)
      for (const TensorShapeProto_Dimension& d : DimsOf(*input))
        if (HasName(d)) names.insert(d.dim_param());
    return names;
  }

  // Handles shapes that are given under a name that no input has: the name is that of a dimension, as in
  // `--shape N=4`, or it is a mistake of the caller.
  void BindGivenNames() {
    const std::set<std::string> dims = NamesOfDims();
    std::vector<std::string> inputs;
    for (const ValueInfoProto* input : inputs_) inputs.push_back(fmt::format("'{}'", input->name()));
    const std::string known =
        fmt::format("{}{}{}{}", fmt::join(inputs, ", "), dims.empty() ? "" : ", or of the open dimensions '",
                    fmt::join(dims, "', '"), dims.empty() ? "" : "'");
    for (const auto& [name, shape] : options_.input_shapes) {
      const auto has_name = [&name = name](const ValueInfoProto* input) { return input->name() == name; };
      if (std::any_of(inputs_.begin(), inputs_.end(), has_name) || (name.empty() && inputs_.size() == 1))
        continue;
      if (dims.count(name) && shape.rank() == 1 && shape[0] >= 0) sizes_.emplace(name, shape[0]);
      else if (dims.count(name))
        problems_.BadRequest(problems_.model(), "dimension '{}' has one size; got {}", name, ToString(shape));
      else if (name.empty())
        problems_.BadRequest(
            problems_.model(),
            "a shape without a name is given for {} inputs; expected one of {}; try --shape NAME={}",
            inputs_.size(), known, ToString(shape));
      else
        problems_.BadRequest(problems_.model(),
                             "a shape is given for an unknown input; got '{}', expected one of {}; try "
                             "--shape with one of these",
                             name, known);
    }
  }

  Shape Check(const ValueInfoProto& input, const Shape& given) {
    bool fits = Fits(given, input);
    for (int i = 0; fits && i < given.rank(); ++i)
      if (HasName(DimsOf(input)[i])) fits = sizes_.at(DimsOf(input)[i].dim_param()) == given[i];
    if (!fits)
      problems_.BadRequest(
          input.name(), "the given shape does not fit this input; got {}, expected {}{}{}", ToString(given),
          Declared(input), BoundText(input),
          IsFixed(input) ? "; the file fixes it; try without --shape" : "; try these sizes in --shape");
    return given;
  }

  // Returns the sizes of the input's named dimensions that are bound, for example ", with N=1".
  std::string BoundText(const ValueInfoProto& input) const {
    std::string text;
    for (const TensorShapeProto_Dimension& d : DimsOf(input))
      if (const auto bound = sizes_.find(d.dim_param()); HasName(d) && bound != sizes_.end())
        text += fmt::format("{}{}={}", text.empty() ? ", with " : ", ", d.dim_param(), bound->second);
    return text;
  }

  Shape Assume(const ValueInfoProto& input) {
    const Dims& dims = DimsOf(input);
    Shape shape;
    if (dims.size() > Shape::kMaxRank) {
      problems_.Bad(input.name(), "input has too many dimensions; got {}, expected at most {}", dims.size(),
                    int(Shape::kMaxRank));
      return shape;
    }
    std::string advice;
    for (int i = 0; i < dims.size(); ++i) {
      const bool batch = i == 0 && options_.batch > 0;
      const int64_t usual = batch ? options_.batch : DefaultDim(dims.size(), i);
      const auto bound = sizes_.find(dims[i].dim_param());
      const bool is_bound = HasName(dims[i]) && bound != sizes_.end();
      shape.push_back(HasSize(dims[i]) ? dims[i].dim_value() : is_bound ? bound->second : usual);
      if (HasSize(dims[i]) || is_bound || batch) continue;
      assumed_.insert(input.name());
      if (!HasName(dims[i])) continue;
      sizes_.emplace(dims[i].dim_param(), usual);
      advice += fmt::format("--shape {}=..., ", dims[i].dim_param());
    }
    if (assumed_.count(input.name()))
      notes_.push_back(fmt::format("input '{}' is {} in the file: {} is assumed; try {}{}--shape {}=...",
                                   input.name(), Declared(input), ToString(shape), advice,
                                   advice.empty() ? "" : "or ", input.name()));
    return shape;
  }

  const std::vector<const ValueInfoProto*> inputs_;
  const ImportOptions& options_;
  std::vector<std::string>& notes_;
  ImportProblems& problems_;
  std::map<std::string, int64_t> sizes_;  // by name of the dimension
  std::set<std::string> assumed_;         // names of inputs with a default dimension
};

// Returns the shape that the file declares, with -1 for open dimensions. The shape is unknown if the file
// declares none.
Shape DeclaredShape(const ValueInfoProto& input) {
  Shape shape;
  if (!HasShape(input) || DimsOf(input).size() > Shape::kMaxRank) return Shape::Unknown();
  for (const TensorShapeProto_Dimension& d : DimsOf(input)) shape.push_back(HasSize(d) ? d.dim_value() : -1);
  return shape;
}

std::vector<std::string> NamesOfDims(const ValueInfoProto& input) {
  std::vector<std::string> names;
  for (const TensorShapeProto_Dimension& d : DimsOf(input)) names.push_back(HasName(d) ? d.dim_param() : "");
  return names;
}

DType TypeOf(const ValueInfoProto& input, ImportProblems& problems) {
  const ::onnx::TypeProto& type_of_input = input.type();
  if (!type_of_input.has_tensor_type() && !type_of_input.optional_type().elem_type().has_tensor_type()) {
    problems.Unsupported("input", "it is neither a tensor nor an optional tensor (a sequence, map or other)",
                         input.name());
    return DType::kUnknown;
  }
  const int32_t number = TensorTypeOf(input).elem_type();
  const DType type = DTypeOfOnnx(number);
  if (type == DType::kUnknown)
    problems.Unsupported("input", fmt::format("element type {}", OnnxTypeName(number)), input.name());
  return type;
}

}  // namespace

const ::onnx::TypeProto_Tensor& TensorTypeOf(const ValueInfoProto& value) {
  const ::onnx::TypeProto& type = value.type();
  return type.has_optional_type() ? type.optional_type().elem_type().tensor_type() : type.tensor_type();
}

std::vector<Input> ResolveInputs(const ::onnx::GraphProto& graph, const std::set<std::string>& constants,
                                 const ImportOptions& options, std::vector<std::string>& notes,
                                 ImportProblems& problems) {
  std::vector<const ValueInfoProto*> inputs;
  for (const ValueInfoProto& input : graph.input())
    if (!constants.count(input.name())) inputs.push_back(&input);
  Resolver resolver(inputs, options, notes, problems);
  std::vector<Input> out;
  std::set<std::string> seen;
  for (const ValueInfoProto* input : inputs) {
    if (!seen.insert(input->name()).second) problems.Bad(input->name(), "two inputs have this name");
    const DType type = TypeOf(*input, problems);
    if (type != DType::kUnknown)
      out.push_back(
          {input->name(), type, resolver.Resolve(*input, type), DeclaredShape(*input), NamesOfDims(*input)});
  }
  return out;
}

}  // namespace mete::onnx_import
