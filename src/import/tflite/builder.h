// Builder holds the Graph while it is built, and every tensor of the file in the forms that operators have
// asked for; Op is the view of one operator's conversion on it.
#pragma once

#include <initializer_list>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "import/import.h"
#include "graph/node_names.h"
#include "import/problems.h"
#include "import/tflite/file.h"

namespace mete::tflite_import {

// The order of a value's dimensions. Operators on images compute in the order of ONNX, and what works in any
// order follows its inputs, so that a network of them has a Transpose only where it reads or returns images.
enum class Order : uint8_t {
  kFile,    // as the file has them: images are N, H, W, C
  kPlanar,  // N, C, H, W; only for values with 4 dimensions
};

// Returns the order of dimensions of a Transpose that brings a value with 4 dimensions into `order` from the
// other one.
inline Ints PermTo(Order order) { return order == Order::kPlanar ? Ints{0, 3, 1, 2} : Ints{0, 2, 3, 1}; }

// Returns where an axis of the file is in `order`.
inline int64_t AxisIn(Order order, int64_t axis) {
  return order == Order::kPlanar ? PermTo(Order::kFile)[size_t(axis)] : axis;
}

// A tensor of complex numbers as two values of one shape.
struct Complex {
  ValueId real = kNoValue, imaginary = kNoValue;
};

class Builder {
 public:
  // `file` is the network.
  Builder(const File& file, const ImportOptions& options, ImportProblems& problems);
  // Builds a body (graph/bodies.h) from subgraph `number`, for an operator of `outer`. The limit on the
  // cost of all bodies keeps subgraphs that run each other many times from taking memory without end.
  Builder(Builder& outer, int number, const std::string& where);

  void AddInputs();
  // Makes the inputs of a body like these values. Those that are constants are constants of the body.
  void AddInputsLike(std::span<const Value> values);
  // Returns the values of input and output i of a body.
  ValueId BodyInput(size_t i) const { return states_[size_t(file_.inputs[i])].raw[0]; }
  ValueId BodyOutput(size_t i);
  // Appends the nodes of `body`, which has one output, for these inputs. Returns what they compute.
  ValueId Append(const Graph& body, std::span<const ValueId> inputs, const std::string& name);
  void KeepScale(const TensorInfo& port);
  Imported Finish();  // throws one Error that lists all problems

  const File& file() const { return file_; }
  const TensorInfo& info(int tensor) const { return file_.tensors[size_t(tensor)]; }
  Graph& graph() { return result_.graph; }
  const ImportOptions& options() const { return options_; }
  ImportProblems& problems() { return problems_; }
  void Note(const std::string& text);
  // Returns subgraph `number`; throws if there is none.
  const File& Subgraph(int number, const std::string& where) const;

  // Returns whether an input, a constant or an operator so far gives the tensor a value. False where the
  // operator that makes it has a problem.
  bool IsMade(int tensor) const;
  // Returns whether something that makes the tensor failed; its readers are not to be reported then.
  bool HasFailed(int tensor) const { return states_[size_t(tensor)].failed; }
  void Fail(int tensor) { states_[size_t(tensor)].failed = true; }
  // Returns the order in which the tensor was made, and its shape in the file's order.
  Order OrderOf(int tensor) const { return states_[size_t(tensor)].made_in; }
  Shape ShapeOf(int tensor) const;
  // Returns the tensor as the file has it, for example in bytes, or as numbers.
  ValueId Raw(int tensor, Order order);
  ValueId Numbers(int tensor, Order order);
  // Gives the tensor its value. Throws if it has one.
  void Set(int tensor, Order order, ValueId raw);
  // The same of a tensor of complex numbers, which has no value of its own.
  void SetComplex(int tensor, const Complex& parts);
  // Returns the parts that such a tensor got; nothing for others.
  std::optional<Complex> ComplexOf(int tensor) const;

  // Returns the scale and the zero point of a tensor with scales as inputs of a QuantizeLinear.
  std::vector<ValueId> ScaleOf(int tensor);

  // Appends a node, infers the types and shapes of its outputs and returns the outputs. A shape is unknown if
  // it depends on the data of a run.
  std::vector<ValueId> Emit(const std::string& name, const std::string& op, std::vector<ValueId> inputs,
                            Attributes attributes, int outputs);

 private:
  struct State {
    ValueId raw[2] = {kNoValue, kNoValue};      // by order
    ValueId numbers[2] = {kNoValue, kNoValue};  // by order; the same as raw for tensors without scales
    std::vector<ValueId> scale;
    ValueId imaginary = kNoValue;  // of complex numbers, whose real parts are raw
    Order made_in = Order::kFile;
    bool failed = false;
  };
  std::string NameIn(int tensor, Order order) const;
  Shape ShapeOfInput(const TensorInfo& info);
  void CheckGivenShapes();

  const File& network_;
  const File& file_;  // the network, or the subgraph of a body
  Builder* const outer_ = nullptr;
  const int number_ = 0;  // of the subgraph
  int64_t left_ = 0;      // cost that bodies may still have, of the network's builder
  const ImportOptions& options_;
  ImportProblems& problems_;
  Imported result_;
  NodeNames names_;
  std::vector<State> states_;
  std::set<ValueId> taken_;  // the values of tensors: each value has the name of one
};

class Op {
 public:
  Op(Builder& builder, const OperatorInfo& source, const char* onnx);

  const std::string& name() const { return name_; }
  const std::string& kind() const { return source_.kind; }
  const std::string& node_name() const { return node_name_; }
  Builder& builder() const { return builder_; }
  const char* onnx() const { return onnx_; }  // the operator of ONNX that the kind's row names
  std::span<const uint8_t> custom_options() const { return source_.custom_options; }
  int inputs() const { return int(source_.inputs.size()); }
  int outputs() const { return int(source_.outputs.size()); }
  bool has(int i) const { return i < inputs() && source_.inputs[size_t(i)] >= 0; }
  const TensorInfo& info(int i) const { return builder_.info(input(i)); }
  const TensorInfo& out_info(int i = 0) const { return builder_.info(source_.outputs[size_t(i)]); }
  // Shapes of inputs, in the file's order, and of values. Unsupported if they depend on the data of a run.
  Shape shape(int i = 0) const;
  const Shape& ShapeOf(ValueId id) const { return Known(builder_.graph().value(id).shape); }
  // Returns whether the shape of input i depends on the data of a run.
  bool is_open(int i = 0) const { return !builder_.ShapeOf(input(i)).known(); }
  tflite::BuiltinOperator code() const { return source_.code; }
  DType TypeOf(ValueId id) const { return builder_.graph().value(id).type; }
  int Axis(int64_t axis, int rank) const;  // throws unless `axis` is in [-rank, rank)

  // Returns input i as numbers, or as the file has it.
  ValueId in(int i = 0, Order order = Order::kFile) const { return builder_.Numbers(input(i), order); }
  ValueId raw(int i = 0, Order order = Order::kFile) const { return builder_.Raw(input(i), order); }
  // Returns input i, which is broadcast to a value in `order`.
  ValueId Operand(int i, Order order) const;
  // Returns the order for an operator that works in any: that of its inputs.
  Order AnyOrder() const;
  Order OrderOf(int i) const { return builder_.OrderOf(input(i)); }
  std::optional<Complex> ComplexOf(int i = 0) const { return builder_.ComplexOf(input(i)); }
  bool is_computed(int i) const { return !builder_.graph().value(raw(i)).is_constant(); }
  // Returns the integers of a constant input; throws for others. `what` names it in the message.
  mete::Ints IntsOf(int i, const char* what) const;
  std::optional<mete::Ints> KnownInts(int i) const;  // nothing for inputs that are computed
  int64_t IntOf(int i, const char* what) const;
  // Returns an input of integers as i64, computed or constant.
  ValueId Indices(int i) const;
  // Returns an input that lists sizes. A short list is a constant, so that a shape follows from it.
  ValueId Sizes(int i) const;
  // Returns the shape of input i as such a list.
  ValueId SizesOf(int i) const;
  // Returns the number of a constant input of one float; throws for others.
  float FloatOf(int i, const char* what) const;
  // Returns the type of input i as numbers, and a zero of it.
  DType NumberType(int i) const { return info(i).scales ? DType::kF32 : info(i).type; }
  ValueId ZeroLike(int i) const { return Constant(Tensor(NumberType(i), Shape{})); }
  // Returns constant weights with permuted dimensions, as numbers.
  ValueId Weights(int i, const mete::Ints& perm) const;
  // Returns the bias of a product of inputs x and w, as numbers; kNoValue if there is none.
  ValueId Bias(int i, int x, int w) const;

  // Appends a node. The shape of what it gives may depend on the data of a run; who asks for it then throws.
  std::vector<ValueId> EmitAll(const std::string& op, std::vector<ValueId> inputs, Attributes attributes,
                               int outputs) const {
    return builder_.Emit(node_name_, op, std::move(inputs), std::move(attributes), outputs);
  }
  ValueId Emit(const std::string& op, std::vector<ValueId> inputs, Attributes attributes = {}) const {
    return EmitAll(op, std::move(inputs), std::move(attributes), 1)[0];
  }
  ValueId Reshape(ValueId x, const Shape& shape) const;
  ValueId Transpose(ValueId x, const mete::Ints& perm) const;
  ValueId Cast(ValueId x, DType type) const;
  // Returns `shape` of one element. Takes no memory while the model is read, however large the shape is.
  ValueId Filled(ValueId element, const Shape& shape) const;
  ValueId Scalar(float value) const;
  ValueId Ints(const mete::Ints& values) const;
  ValueId Integer(int64_t value) const;  // a scalar
  // Returns the scale and the zero point of an input with scales, and the latter alone: the byte of 0.
  std::vector<ValueId> ScaleOf(int i) const { return builder_.ScaleOf(input(i)); }
  ValueId ZeroOf(int i) const { return ScaleOf(i)[1]; }
  void Note(const std::string& text) const { builder_.Note(fmt::format("'{}': {}", node_name_, text)); }
  ValueId Constant(Tensor tensor) const {
    return builder_.graph().AddConstant(node_name_ + ".constant", std::move(tensor));
  }

  ValueId Activated(ValueId x, tflite::Activation activation) const;
  // Makes output i of `numbers`: rounds them to bytes if the file has it in bytes, then gives it `shape`.
  void Out(int i, Order order, ValueId numbers, const Shape& shape = Shape::Unknown()) const;
  // Makes output i of a value as the file has it.
  void OutRaw(int i, Order order, ValueId raw) const;
  // Makes output 0 of complex numbers.
  void OutComplex(const Complex& parts) const { builder_.SetComplex(source_.outputs[0], parts); }
  // Makes output i of integers that are known now.
  void OutInts(int i, const mete::Ints& values, const Shape& shape) const;

  // The operator's options, of the type that it has in the format.
  template <class Options>
  const Options& Need() const {
    if (const auto* options = Find<Options>()) return *options;
    Bad("{} has no options of its kind", kind());
  }
  template <class Options>
  const Options* Find() const {
    return source_.source->builtin_options_as<Options>();
  }
  // The activation of options that an operator may lack.
  template <class Options>
  tflite::Activation ActivationOf() const {
    const auto* options = Find<Options>();
    return options ? options->activation() : tflite::Activation::NONE;
  }

  template <class... A>
  [[noreturn]] void Bad(fmt::format_string<A...> format, A&&... args) const {
    Invalid(node_name_, format, std::forward<A>(args)...);
  }
  // Throws an Error that the message counts among what Mete lacks.
  [[noreturn]] void Unsupported(const std::string& reason) const {
    throw Error(Code::kUnimplemented, reason);
  }

 private:
  const Shape& Known(const Shape& shape) const {
    if (!shape.known()) Unsupported("a shape that it needs depends on the data of a run");
    return shape;
  }
  int input(int i) const {
    if (!has(i)) Bad("{} lacks input {}; got {} inputs", kind(), i, inputs());
    return source_.inputs[size_t(i)];
  }

  Builder& builder_;
  const OperatorInfo& source_;
  const std::string& name_;      // of its first output
  const std::string node_name_;  // for its nodes and constants
  const char* onnx_;
};

// The conversion of one kind of operator.
struct Row {
  tflite::BuiltinOperator code;
  int least_inputs, most_inputs;  // a most_inputs of -1 allows any number
  int most_outputs;               // -1 allows any number
  void (*convert)(Op&);
  const char* onnx = "";
};

std::span<const Row> ProductRows();      // products.cc
std::span<const Row> ImageRows();        // images.cc
std::span<const Row> ElementwiseRows();  // elementwise.cc
std::span<const Row> ReduceRows();       // reduce.cc
std::span<const Row> MoveRows();         // moves.cc
std::span<const Row> MakeRows();         // makes.cc
std::span<const Row> IndexRows();        // indices.cc
std::span<const Row> SliceRows();        // slices.cc
std::span<const Row> SequenceRows();     // sequence.cc
std::span<const Row> SpectrumRows();     // spectra.cc
std::span<const Row> ControlRows();      // control.cc
std::span<const Row> DetectionRows();    // detections.cc
void ConvertDetections(Op& op);          // detections.cc: TFLite_Detection_PostProcess
void ConvertTransposeConvBias(Op& op);   // products.cc: Convolution2DTransposeBias

// Converts all operators of a network or body. Adds what is wrong to its problems (tflite.cc).
void ConvertAll(Builder& builder);

// Computes an operator of few known integers, such as the sizes that a Reshape gets. Returns false for others
// (shape_arithmetic.cc).
bool FoldInts(Op& op);

// Returns attributes with this `axis` alone.
inline Attributes AxisOf(int64_t axis) {
  Attributes a;
  a.Set("axis", axis);
  return a;
}

}  // namespace mete::tflite_import
