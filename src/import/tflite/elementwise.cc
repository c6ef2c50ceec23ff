// Conversions of element-wise operators, of Softmax and of changes of type.
#include "base/visit_type.h"
#include "import/tflite/builder.h"

namespace mete::tflite_import {
namespace {

void Unary(Op& op) {
  const Order order = op.AnyOrder();
  op.Out(0, order, op.Emit(op.onnx(), {op.in(0, order)}));
}

ValueId OfTwo(const Op& op, const char* onnx, Order order) {
  return op.Emit(onnx, {op.Operand(0, order), op.Operand(1, order)});
}

void Binary(Op& op) {
  const Order order = op.AnyOrder();
  op.Out(0, order, OfTwo(op, op.onnx(), order));
}

template <class Options>
void Arithmetic(Op& op) {
  const Order order = op.AnyOrder();
  op.Out(0, order, op.Activated(OfTwo(op, op.onnx(), order), op.ActivationOf<Options>()));
}

void AddN(Op& op) {
  const Order order = op.AnyOrder();
  std::vector<ValueId> inputs;
  for (int i = 0; i < op.inputs(); ++i) inputs.push_back(op.Operand(i, order));
  op.Out(0, order, op.Emit("Sum", std::move(inputs)));
}

void SquaredDifference(Op& op) {
  const Order order = op.AnyOrder();
  const ValueId d = OfTwo(op, "Sub", order);
  op.Out(0, order, op.Emit("Mul", {d, d}));
}

void FloorDiv(Op& op) {
  const Order order = op.AnyOrder();
  const ValueId a = op.Operand(0, order), b = op.Operand(1, order);
  if (IsFloat(op.NumberType(0))) return op.Out(0, order, op.Emit("Floor", {op.Emit("Div", {a, b})}));
  // Integers are divided towards zero. Without its remainder, which has the divisor's sign, nothing is cut
  // off.
  const ValueId divisible = op.Emit("Sub", {a, op.Emit("Mod", {a, b})});
  op.Out(0, order, op.Emit("Div", {divisible, b}));
}

void NotEqual(Op& op) {
  const Order order = op.AnyOrder();
  op.Out(0, order, op.Emit("Not", {OfTwo(op, "Equal", order)}));
}

void Square(Op& op) {
  const Order order = op.AnyOrder();
  op.Out(0, order, op.Emit("Mul", {op.in(0, order), op.in(0, order)}));
}

void Rsqrt(Op& op) {
  const Order order = op.AnyOrder();
  op.Out(0, order, op.Emit("Reciprocal", {op.Emit("Sqrt", {op.in(0, order)})}));
}

template <tflite::Activation kActivation>
void Activate(Op& op) {
  const Order order = op.AnyOrder();
  op.Out(0, order, op.Activated(op.in(0, order), kActivation));
}

void Relu0To1(Op& op) {
  const Order order = op.AnyOrder();
  op.Out(0, order, op.Emit("Clip", {op.in(0, order), op.Scalar(0), op.Scalar(1)}));
}

void LeakyRelu(Op& op) {
  const Order order = op.AnyOrder();
  Attributes a;
  a.Set("alpha", op.Need<tflite::LeakyReluOptions>().alpha());
  op.Out(0, order, op.Emit("LeakyRelu", {op.in(0, order)}, std::move(a)));
}

void Gelu(Op& op) {
  const Order order = op.AnyOrder();
  const auto* o = op.Find<tflite::GeluOptions>();
  Attributes a;
  a.Set("approximate", std::string(o && o->approximate() ? "tanh" : "none"));
  op.Out(0, order, op.Emit("Gelu", {op.in(0, order)}, std::move(a)));
}

// Softmax and LogSoftmax are over the last axis of the file.
ValueId OverLast(const Op& op, ValueId x, Order order) {
  if (op.shape().rank() < 1) op.Bad("{} needs a dimension; got a scalar", op.kind());
  Attributes a;
  a.Set("axis", AxisIn(order, op.shape().rank() - 1));
  return op.Emit(op.onnx(), {x}, std::move(a));
}

void Softmax(Op& op) {
  const Order order = op.AnyOrder();
  const auto* o = op.Find<tflite::SoftmaxOptions>();
  const float beta = o ? o->beta() : 1;
  ValueId x = op.in(0, order);
  if (beta != 1) x = op.Emit("Mul", {x, op.Scalar(beta)});
  op.Out(0, order, OverLast(op, x, order));
}

void LogSoftmax(Op& op) {
  const Order order = op.AnyOrder();
  op.Out(0, order, OverLast(op, op.in(0, order), order));
}

// x / max(|x|, 1e-6) over the last axis.
void L2Normalization(Op& op) {
  const Order order = op.AnyOrder();
  if (op.shape().rank() < 1) op.Bad("{} needs a dimension; got a scalar", op.kind());
  const ValueId x = op.in(0, order);
  const ValueId norm = op.Emit("ReduceL2", {x, op.Ints({AxisIn(order, op.shape().rank() - 1)})});
  const ValueId y = op.Emit("Div", {x, op.Emit("Max", {norm, op.Scalar(1e-6f)})});
  op.Out(0, order, op.Activated(y, op.ActivationOf<tflite::L2NormOptions>()));
}

// A condition with one dimension chooses whole rows of SELECT's other inputs.
void Select(Op& op) {
  if (op.code() == tflite::BuiltinOperator::SELECT && op.shape(0).rank() == 1 && op.shape(1).rank() > 1) {
    const Shape x = op.shape(1);
    Shape wide{op.shape(0)[0]};
    while (wide.rank() < x.rank()) wide.push_back(1);
    return op.Out(0, Order::kFile, op.Emit("Where", {op.Reshape(op.in(0), wide), op.in(1), op.in(2)}));
  }
  const Order order = op.AnyOrder();
  op.Out(0, order, op.Emit("Where", {op.Operand(0, order), op.Operand(1, order), op.Operand(2, order)}));
}

// Of complex numbers it takes the real part.
void Cast(Op& op) {
  const Order order = op.AnyOrder();
  if (!op.out_info().unsupported.empty()) op.Unsupported(op.out_info().unsupported);
  if (const auto z = op.ComplexOf()) return op.OutRaw(0, order, op.Cast(z->real, op.out_info().type));
  op.OutRaw(0, order, op.Cast(op.raw(0, order), op.out_info().type));
}

// A tensor without scales that is dequantized holds weights in f16.
void Requantize(Op& op) {
  const Order order = op.AnyOrder();
  op.Out(0, order, op.Cast(op.in(0, order), DType::kF32));
}

// A sparse tensor is made dense where it is read.
void Densify(Op& op) { op.OutRaw(0, Order::kFile, op.raw(0)); }

using Code = tflite::BuiltinOperator;
using tflite::Activation;

constexpr Row kElementwiseRows[] = {
    {Code::ABS, 1, 1, 1, Unary, "Abs"},
    {Code::ADD, 2, 2, 1, Arithmetic<tflite::AddOptions>, "Add"},
    {Code::ADD_N, 1, -1, 1, AddN},
    {Code::BITWISE_XOR, 2, 2, 1, Binary, "BitwiseXor"},
    {Code::CAST, 1, 1, 1, Cast},
    {Code::CEIL, 1, 1, 1, Unary, "Ceil"},
    {Code::COS, 1, 1, 1, Unary, "Cos"},
    {Code::DENSIFY, 1, 1, 1, Densify},
    {Code::DEQUANTIZE, 1, 1, 1, Requantize},
    {Code::DIV, 2, 2, 1, Arithmetic<tflite::DivOptions>, "Div"},
    {Code::ELU, 1, 1, 1, Unary, "Elu"},
    {Code::EQUAL, 2, 2, 1, Binary, "Equal"},
    {Code::EXP, 1, 1, 1, Unary, "Exp"},
    {Code::FLOOR, 1, 1, 1, Unary, "Floor"},
    {Code::FLOOR_DIV, 2, 2, 1, FloorDiv},
    {Code::FLOOR_MOD, 2, 2, 1, Binary, "Mod"},
    {Code::GELU, 1, 1, 1, Gelu},
    {Code::GREATER, 2, 2, 1, Binary, "Greater"},
    {Code::GREATER_EQUAL, 2, 2, 1, Binary, "GreaterOrEqual"},
    {Code::HARD_SWISH, 1, 1, 1, Unary, "HardSwish"},
    {Code::L2_NORMALIZATION, 1, 1, 1, L2Normalization},
    {Code::LEAKY_RELU, 1, 1, 1, LeakyRelu},
    {Code::LESS, 2, 2, 1, Binary, "Less"},
    {Code::LESS_EQUAL, 2, 2, 1, Binary, "LessOrEqual"},
    {Code::LOG, 1, 1, 1, Unary, "Log"},
    {Code::LOGICAL_AND, 2, 2, 1, Binary, "And"},
    {Code::LOGICAL_NOT, 1, 1, 1, Unary, "Not"},
    {Code::LOGICAL_OR, 2, 2, 1, Binary, "Or"},
    {Code::LOGISTIC, 1, 1, 1, Unary, "Sigmoid"},
    {Code::LOG_SOFTMAX, 1, 1, 1, LogSoftmax, "LogSoftmax"},
    {Code::MAXIMUM, 2, 2, 1, Binary, "Max"},
    {Code::MINIMUM, 2, 2, 1, Binary, "Min"},
    {Code::MUL, 2, 2, 1, Arithmetic<tflite::MulOptions>, "Mul"},
    {Code::NEG, 1, 1, 1, Unary, "Neg"},
    {Code::NOT_EQUAL, 2, 2, 1, NotEqual},
    {Code::POW, 2, 2, 1, Binary, "Pow"},
    {Code::PRELU, 2, 2, 1, Binary, "PRelu"},
    {Code::QUANTIZE, 1, 1, 1, Requantize},
    {Code::RELU, 1, 1, 1, Activate<Activation::RELU>},
    {Code::RELU6, 1, 1, 1, Activate<Activation::RELU6>},
    {Code::RELU_0_TO_1, 1, 1, 1, Relu0To1},
    {Code::RELU_N1_TO_1, 1, 1, 1, Activate<Activation::RELU_N1_TO_1>},
    {Code::ROUND, 1, 1, 1, Unary, "Round"},
    {Code::RSQRT, 1, 1, 1, Rsqrt},
    {Code::SELECT, 3, 3, 1, Select},
    {Code::SELECT_V2, 3, 3, 1, Select},
    {Code::SIGN, 1, 1, 1, Unary, "Sign"},
    {Code::SIN, 1, 1, 1, Unary, "Sin"},
    {Code::SOFTMAX, 1, 1, 1, Softmax, "Softmax"},
    {Code::SQRT, 1, 1, 1, Unary, "Sqrt"},
    {Code::SQUARE, 1, 1, 1, Square},
    {Code::SQUARED_DIFFERENCE, 2, 2, 1, SquaredDifference},
    {Code::SUB, 2, 2, 1, Arithmetic<tflite::SubOptions>, "Sub"},
    {Code::TANH, 1, 1, 1, Unary, "Tanh"},
};

}  // namespace

std::span<const Row> ElementwiseRows() { return kElementwiseRows; }

}  // namespace mete::tflite_import
