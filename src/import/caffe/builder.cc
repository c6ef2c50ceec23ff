#include "import/caffe/builder.h"

#include <algorithm>

#include "graph/operators.h"

namespace mete::caffe_import {

namespace {

constexpr size_t kShown = 20;  // problems that are listed one by one; this value is a guess: one screen

// Returns whether a tensor's shape fits the input that the net declares. The batch may differ, because nets
// are often run with another batch than the file declares.
bool Fits(const Shape& tensor, const Shape& declared) {
  if (!declared.known() || std::any_of(declared.begin(), declared.end(), [](int64_t d) { return d <= 0; }))
    return true;
  return tensor.rank() == declared.rank() && declared.rank() > 0 &&
         std::equal(tensor.begin() + 1, tensor.end(), declared.begin() + 1);
}

}  // namespace

Builder::Builder(std::string model, const ImportOptions& options, Weights weights, size_t inputs)
    : model_(std::move(model)), options_(options), weights_(std::move(weights)), inputs_(inputs) {
  result_.file.format = "Caffe";
}

void Builder::Problem(const Error& error) {
  if (++problem_lines_ <= kShown) problems_ += (problems_.empty() ? "" : "\n") + Printable(error.what());
  if (error.code() == Code::kUnimplemented) unsupported_ = true;
  else if (error.code() != Code::kFailedPrecondition) bad_ = true;
}

void Builder::UnsupportedType(const std::string& type, const std::string& layer) {
  TypeCount& count = unsupported_types_[type];
  if (count.times++ == 0) count.first = layer;
}

void Builder::TellUnsupportedTypes() {
  for (const auto& [type, count] : unsupported_types_)
    Problem(Error(
        Code::kUnimplemented,
        fmt::format(
            "[{}] unsupported layer type '{}' ({} time{}, first at '{}'); try the network as an ONNX file",
            model_, type, count.times, count.times == 1 ? "" : "s", count.first)));
}

void Builder::WeightProblem(const std::string& layer, const std::string& what) {
  weight_problems_.push_back(fmt::format("[{}] {}", layer, what));
}

void Builder::TellWeightProblems() {
  // This value is a guess: up to this many problems come from a file that was truncated or edited, more
  // problems come from the file of another net.
  constexpr size_t kFew = 6;
  const size_t count = weight_problems_.size();
  if (count > kFew)
    return Problem(
        Error(Code::kInvalidArgument,
              fmt::format("[{}] the .caffemodel does not fit this net: {} of the {} weights that it needs "
                          "are missing or of other "
                          "shapes, first {}; try --weights with the .caffemodel that belongs to it",
                          model_, count, weights_read_, weight_problems_[0])));
  for (const std::string& line : weight_problems_) Problem(Error(Code::kInvalidArgument, line));
}

Shape Builder::ShapeOfInput(const std::string& blob, const Shape& declared) const {
  if (const Shape* given = Given(blob)) return *given;
  if (const Shape* tensor = OfTensor(blob); tensor && Fits(*tensor, declared)) return *tensor;
  Shape shape = declared;
  if (options_.batch > 0 && shape.rank() > 0) shape[0] = options_.batch;
  return shape;
}

void Builder::AddInput(const std::string& name, const Shape& declared) {
  const bool is_given = Given(name) != nullptr;
  if (is_given) used_shapes_.insert(options_.input_shapes.count(name) ? name : "");
  const Shape shape = ShapeOfInput(name, declared);
  Shape& open = result_.declared[name] = declared;
  if (open.rank() > 0) open[0] = -1;
  if (blobs_.count(name)) Invalid(name, "two inputs have this name");
  const bool positive =
      shape.known() && std::all_of(shape.begin(), shape.end(), [](int64_t d) { return d > 0; });
  if (!positive || CheckedElements(shape, DType::kF32, options_.max_value_bytes) < 0) {
    blobs_[name] = {};
    if (!shape.known())
      Fail(Code::kFailedPrecondition, name, "the net does not say this input's shape; try --shape {}=...",
           name);
    Fail(is_given ? Code::kFailedPrecondition : Code::kInvalidArgument, name,
         "the input has impossible dimensions; got {}, expected all from 1 on and at most {} bytes",
         ToString(shape), options_.max_value_bytes);
  }
  const ValueId id = graph().AddValue(name, DType::kF32, shape);
  graph().inputs.push_back(id);
  blobs_[name] = {.id = id, .order = made_++};
}

ValueId Builder::Read(const std::string& layer, const std::string& blob) {
  const auto at = blobs_.find(blob);
  if (at == blobs_.end())
    Invalid(layer, "bottom '{}' is made by no earlier layer; try the deploy.prototxt", blob);
  return at->second.id;
}

void Builder::Consume(const std::string& blob) {
  if (const auto at = blobs_.find(blob); at != blobs_.end()) at->second.read = true;
}

void Builder::Write(const std::string& layer, const std::string& blob, ValueId id, bool in_place) {
  std::string name = blob;
  if (const auto at = blobs_.find(blob); at != blobs_.end()) {
    if (!in_place && id != kNoValue)
      Invalid(layer, "top '{}' is made by '{}' already", blob, at->second.maker);
    // The last value of a blob gets the blob's name. An input keeps its name, because the caller knows it by
    // that.
    if (at->second.maker.empty()) name = blob + "@" + layer;
    else if (at->second.id != kNoValue) graph().value(at->second.id).name = blob + "@" + at->second.maker;
  }
  if (id != kNoValue) graph().value(id).name = name;
  blobs_[blob] = {.id = id, .maker = layer, .order = made_++};
}

Imported Builder::Finish() {
  for (const auto& [name, shape] : options_.input_shapes)
    if (!used_shapes_.count(name))
      Problem(
          Error(Code::kFailedPrecondition,
                name.empty()
                    ? fmt::format("[{}] a shape without a name is given for {} inputs; try --shape NAME=...",
                                  model_, inputs_)
                    : fmt::format("[{}] a shape is given for '{}', which is no input", model_, name)));
  TellUnsupportedTypes();
  TellWeightProblems();
  std::vector<const Blob*> outputs;
  for (const auto& [name, blob] : blobs_)
    if (!blob.read && !blob.maker.empty() && blob.id != kNoValue) outputs.push_back(&blob);
  std::sort(outputs.begin(), outputs.end(), [](auto* a, auto* b) { return a->order < b->order; });
  for (const Blob* blob : outputs) graph().outputs.push_back(blob->id);
  if (problems_.empty() && outputs.empty())
    Invalid(model_, "the net makes nothing; got {} layers", graph().nodes.size());
  if (problem_lines_ > kShown) problems_ += fmt::format("\n... and {} more", problem_lines_ - kShown);
  if (!problems_.empty())
    throw Error(bad_           ? Code::kInvalidArgument
                : unsupported_ ? Code::kUnimplemented
                               : Code::kFailedPrecondition,
                problems_);
  return std::move(result_);
}

Layer::Layer(Builder& builder, const caffe::LayerParameter& parameter) : p(parameter), builder_(builder) {
  for (const std::string& bottom : p.bottom()) {
    bottoms_.push_back(builder.Read(p.name(), bottom));
    builder.Consume(bottom);
  }
  if (const auto at = builder.weights().layers.find(p.name()); at != builder.weights().layers.end())
    blobs_ = at->second;
}

int Layer::Axis(int64_t axis, int i) const {
  const int rank = shape(i).rank();
  if (axis < -rank || axis >= rank)
    Bad("axis is out of range; got {}, expected {} to {}", axis, -rank, rank - 1);
  return int(axis < 0 ? axis + rank : axis);
}

std::vector<ValueId> Layer::Append(const std::string& op, std::vector<ValueId> inputs, Attributes attributes,
                                   int outputs) {
  Graph& graph = builder_.graph();
  Node node{builder_.UniqueNodeName(p.name()), op, std::move(inputs),
            std::vector<ValueId>(size_t(outputs), kNoValue), std::move(attributes)};
  const auto results = InferNode(graph, node, builder_.options().max_value_bytes);
  for (size_t i = 0; i < results.size(); ++i)
    node.outputs[i] = graph.AddValue(i == 0 ? node.name : fmt::format("{}#{}", node.name, i), results[i].type,
                                     results[i].shape);
  graph.nodes.push_back(node);
  return node.outputs;
}

std::vector<ValueId> Layer::EmitAll(const std::string& op, std::vector<ValueId> inputs, Attributes attributes,
                                    int outputs) {
  std::vector<ValueId> made = Append(op, std::move(inputs), std::move(attributes), outputs);
  for (ValueId id : made)
    if (!ShapeOf(id).known()) Bad("the shape of its output depends on its input's data");
  return made;
}

ValueId Layer::EmitLast(const std::string& op, std::vector<ValueId> inputs, Attributes attributes) {
  return Append(op, std::move(inputs), std::move(attributes), 1)[0];
}

ValueId Layer::EmitReshape(ValueId x, const Shape& shape) {
  const Shape& in = ShapeOf(x);
  mete::Ints dims(shape.begin(), shape.end());
  for (int i = 0; i < std::min(in.rank(), shape.rank()) && in[i] == shape[i]; ++i)
    dims[size_t(i)] = 0;  // ONNX's sign for a copied dimension
  return Emit("Reshape", {x, Ints("shape", dims)});
}

void Layer::SetTop(int i, ValueId id) {
  const std::string& top = p.top(i);
  const bool in_place = std::find(p.bottom().begin(), p.bottom().end(), top) != p.bottom().end();
  if (std::count(p.top().begin(), p.top().end(), top) > 1) Bad("top '{}' is named twice", top);
  builder_.Write(p.name(), top, id, in_place);
}

Shape Layer::PooledFrom(ValueId mask) const {
  for (const Node& node : builder_.graph().nodes)
    if (node.op == "MaxPool" && node.output(1) == mask) return ShapeOf(node.inputs[0]);
  Bad("its second bottom must be the second top of a MAX pooling");
}

ValueId Layer::Floats(const std::string& what, const Shape& shape, std::span<const float> values) {
  return builder_.graph().AddConstant(p.name() + "." + what, Tensor::Floats(shape, values));
}
ValueId Layer::Ints(const std::string& what, std::span<const int64_t> values) {
  return builder_.graph().AddConstant(p.name() + "." + what, Tensor::Ints(values));
}

void Layer::NeedRoom(const std::string& what, const Shape& shape) const {
  const int64_t most = builder_.options().max_value_bytes;
  if (CheckedElements(shape, DType::kF32, most) < 0)
    Bad("its {} has impossible dimensions; got {}, expected all from 1 on and at most {} bytes", what,
        ToString(shape), most);
}

void Layer::TakeRoom(const std::string& what, const Shape& shape) {
  NeedRoom(what, shape);
  if (!builder_.TakeBytes(shape.Elements() * int64_t(sizeof(float))))
    Bad("too much memory for its {}; got {} floats, expected at most {} bytes with those of the layers "
        "before it",
        what, ToString(shape), Builder::kMostMadeBytes);
}

void Layer::TakeSteps(int64_t steps) {
  if (!builder_.TakeSteps(steps))
    Bad("its second bottom is not known before a run, so that each step becomes a node; got {} steps, "
        "expected at most {} with those of the layers before it; try a ContinuationIndicator",
        steps, Builder::kMostMadeSteps);
}

}  // namespace mete::caffe_import
