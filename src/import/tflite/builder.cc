#include "import/tflite/builder.h"

#include <algorithm>

#include "base/visit_type.h"
#include "graph/operators.h"

namespace mete::tflite_import {

Builder::Builder(const File& file, const ImportOptions& options, ImportProblems& problems)
    : network_(file), file_(file), options_(options), problems_(problems), states_(file.tensors.size()) {
  result_.graph.name = file_.name.empty() || file_.name == "main" ? problems.model() : file_.name;
  if (!file_.description.empty()) result_.metadata["description"] = file_.description;
  result_.file = {.format = "TensorFlow Lite", .description = file_.description};
}

Shape Builder::ShapeOfInput(const TensorInfo& info) {
  const size_t inputs = file_.inputs.size();
  if (const Shape* given = ShapeGiven(options_.input_shapes, info.name, inputs)) {
    if (given->rank() != info.shape.rank())
      problems_.BadRequest(info.name, "the shape given has another number of dimensions; got {}, expected {}",
                           ToString(*given), ToString(info.shape));
    return *given;
  }
  Shape shape = info.shape;
  const Shape* tensor = ShapeGiven(options_.tensor_shapes, info.name, inputs);
  const bool fits = tensor && tensor->rank() == shape.rank() && shape.rank() > 0 &&
                    std::equal(tensor->begin() + 1, tensor->end(), shape.begin() + 1);
  if (fits) return *tensor;
  if (options_.batch > 0 && shape.rank() > 0) shape[0] = options_.batch;
  return shape;
}

void Builder::CheckGivenShapes() {
  for (const auto& [name, shape] : options_.input_shapes) {
    const auto has_name = [&name = name, this](int tensor) { return info(tensor).name == name; };
    if (std::any_of(file_.inputs.begin(), file_.inputs.end(), has_name)) continue;
    if (name.empty() && file_.inputs.size() == 1) continue;
    std::vector<std::string> known;
    for (int tensor : file_.inputs) known.push_back(fmt::format("'{}'", info(tensor).name));
    problems_.BadRequest(problems_.model(),
                         "a shape is given for '{}', which is no input; expected one of {}", name,
                         fmt::join(known, ", "));
  }
}

void Builder::AddInputs() {
  CheckGivenShapes();
  for (int tensor : file_.inputs) {
    const TensorInfo& of = info(tensor);
    State& state = states_[size_t(tensor)];
    if (state.raw[0] != kNoValue) {
      problems_.Bad(of.name, "two inputs are this tensor");
      continue;
    }
    if (!of.unsupported.empty() || of.type == DType::kUnknown) {
      problems_.Unsupported("input", of.unsupported, of.name);
      state.failed = true;
      continue;
    }
    const Shape shape = ShapeOfInput(of);
    if (CheckedElements(shape, of.type, options_.max_value_bytes) < 0)
      problems_.BadRequest(of.name, "the input has impossible dimensions; got {}, expected at most {} bytes",
                           ToString(shape), options_.max_value_bytes);
    const ValueId id = graph().AddValue(of.name, of.type, shape);
    graph().inputs.push_back(id);
    result_.declared[of.name] = shape;
    KeepScale(of);
    state.raw[0] = id;
    taken_.insert(id);
  }
}

void Builder::KeepScale(const TensorInfo& port) {
  if (IsInt(port.type) && port.scales && port.scales->one())
    result_.scales[port.name] = {port.scales->scale[0], port.scales->zero[0]};
}

Imported Builder::Finish() {
  std::set<int> seen;
  for (int tensor : file_.outputs) {
    if (!seen.insert(tensor).second) problems_.Bad(info(tensor).name, "two outputs are this tensor");
    else if (!HasFailed(tensor)) try {
        graph().outputs.push_back(Raw(tensor, Order::kFile));
        KeepScale(info(tensor));
      } catch (const Error& e) {
        if (e.code() == Code::kUnimplemented) problems_.Unsupported("output", e.what(), info(tensor).name);
        else problems_.Bad(e);
      }
  }
  if (file_.outputs.empty())
    problems_.Bad(problems_.model(), "the model has no outputs; expected at least one");
  problems_.Throw();
  Verify(graph());
  return std::move(result_);
}

bool Builder::IsMade(int tensor) const {
  const State& state = states_[size_t(tensor)];
  return state.raw[size_t(state.made_in)] != kNoValue;
}

Shape Builder::ShapeOf(int tensor) const {
  const State& state = states_[size_t(tensor)];
  if (!IsMade(tensor)) return info(tensor).shape;
  const Shape& made = result_.graph.value(state.raw[size_t(state.made_in)]).shape;
  if (state.made_in == Order::kFile || !made.known()) return made;
  return {made[0], made[2], made[3], made[1]};
}

std::string Builder::NameIn(int tensor, Order order) const {
  return order == Order::kFile ? info(tensor).name : info(tensor).name + ".planar";
}

ValueId Builder::Raw(int tensor, Order order) {
  const TensorInfo& of = info(tensor);
  State& state = states_[size_t(tensor)];
  if (!of.unsupported.empty())
    throw Error(Code::kUnimplemented, fmt::format("tensor '{}': {}", of.name, of.unsupported));
  if (!IsMade(tensor)) {
    if (!of.constant.has_value() && of.shape.Elements() > 0)
      Invalid(of.name, "the tensor has no data, and no earlier operator makes it");
    state.raw[0] =
        graph().AddConstant(of.name, of.constant.has_value() ? of.constant : Tensor(of.type, of.shape));
    taken_.insert(state.raw[0]);
  }
  ValueId& id = state.raw[size_t(order)];
  if (id != kNoValue) return id;
  Attributes attributes;
  attributes.Set("perm", PermTo(order));
  id = Emit(NameIn(tensor, order), "Transpose", {state.raw[size_t(state.made_in)]}, std::move(attributes),
            1)[0];
  graph().value(id).name = NameIn(tensor, order);
  taken_.insert(id);
  return id;
}

ValueId Builder::Numbers(int tensor, Order order) {
  const TensorInfo& of = info(tensor);
  const ValueId raw = Raw(tensor, order);
  if (!of.scales) return raw;
  ValueId& id = states_[size_t(tensor)].numbers[size_t(order)];
  if (id != kNoValue) return id;
  std::vector<ValueId> inputs = {raw};
  for (ValueId scale : ScaleOf(tensor)) inputs.push_back(scale);
  Attributes attributes;
  if (!of.scales->one()) attributes.Set("axis", AxisIn(order, of.scales->axis));
  return id = Emit(NameIn(tensor, order) + ".numbers", "DequantizeLinear", std::move(inputs),
                   std::move(attributes), 1)[0];
}

void Builder::Set(int tensor, Order order, ValueId raw) {
  const TensorInfo& of = info(tensor);
  State& state = states_[size_t(tensor)];
  if (IsMade(tensor) || of.constant.has_value())
    Invalid(of.name, "the tensor is made twice; expected one operator, or data");
  // The type of a value whose shape depends on data is known when that is.
  if (const DType type = graph().value(raw).type; type != of.type && type != DType::kUnknown)
    Invalid(of.name, "the operator makes another type than the file says; got {}, expected {}", Name(type),
            Name(of.type));
  if (taken_.count(raw)) raw = Emit(of.name, "Identity", {raw}, {}, 1)[0];
  graph().value(raw).name = NameIn(tensor, order);
  taken_.insert(raw);
  state.raw[size_t(order)] = raw;
  state.made_in = order;
}

void Builder::SetComplex(int tensor, const Complex& parts) {
  const TensorInfo& of = info(tensor);
  State& state = states_[size_t(tensor)];
  if (!of.complex) Invalid(of.name, "the operator makes complex numbers; the file says {}", Name(of.type));
  if (IsMade(tensor)) Invalid(of.name, "the tensor is made twice; expected one operator");
  state.raw[0] = parts.real;
  state.imaginary = parts.imaginary;
}

std::optional<Complex> Builder::ComplexOf(int tensor) const {
  const State& state = states_[size_t(tensor)];
  if (state.imaginary == kNoValue) return std::nullopt;
  return Complex{state.raw[0], state.imaginary};
}

namespace {

template <class T>
Tensor ZerosOf(DType type, const Shape& shape, const std::vector<int64_t>& zeros) {
  const std::vector<T> values(zeros.begin(), zeros.end());
  Tensor tensor(type, shape);
  std::copy(values.begin(), values.end(), static_cast<T*>(tensor.mutable_view().data));
  return tensor;
}

}  // namespace

std::vector<ValueId> Builder::ScaleOf(int tensor) {
  const TensorInfo& of = info(tensor);
  std::vector<ValueId>& ids = states_[size_t(tensor)].scale;
  if (!ids.empty()) return ids;
  const Scales& scales = *of.scales;
  const Shape shape = scales.one() ? Shape{} : Shape{int64_t(scales.scale.size())};
  const Tensor zeros = of.type == DType::kU8   ? ZerosOf<uint8_t>(of.type, shape, scales.zero)
                       : of.type == DType::kI8 ? ZerosOf<int8_t>(of.type, shape, scales.zero)
                                               : ZerosOf<int16_t>(of.type, shape, scales.zero);
  ids = {graph().AddConstant(of.name + ".scale", Tensor::Floats(shape, scales.scale)),
         graph().AddConstant(of.name + ".zero", zeros)};
  return ids;
}

std::vector<ValueId> Builder::Emit(const std::string& name, const std::string& op,
                                   std::vector<ValueId> inputs, Attributes attributes, int outputs) {
  Node node{names_.Unique(name), op, std::move(inputs), std::vector<ValueId>(size_t(outputs), kNoValue),
            std::move(attributes)};
  const auto results = InferNode(graph(), node, options_.max_value_bytes);
  for (size_t i = 0; i < results.size(); ++i)
    node.outputs[i] = graph().AddValue(i == 0 ? node.name : fmt::format("{}#{}", node.name, i),
                                       results[i].type, results[i].shape);
  graph().nodes.push_back(node);
  return node.outputs;
}

}  // namespace mete::tflite_import
