// The view that the conversion of one operator has on the Builder.
#include <algorithm>
#include <memory>

#include "base/visit_type.h"
#include "import/tflite/builder.h"

namespace mete::tflite_import {

Op::Op(Builder& builder, const OperatorInfo& source, const char* onnx)
    : builder_(builder),
      source_(source),
      name_(builder.info(source.outputs[0]).name),
      node_name_(name_.substr(name_.rfind(';') + 1)),
      onnx_(onnx) {}

int Op::Axis(int64_t axis, int rank) const {
  if (axis < -rank || axis >= rank)
    Bad("axis is out of range; got {}, expected {} to {}", axis, -rank, rank - 1);
  return int(axis < 0 ? axis + rank : axis);
}

Shape Op::shape(int i) const { return Known(builder_.ShapeOf(input(i))); }

Order Op::AnyOrder() const {
  bool planar = false;
  for (int i = 0; i < inputs(); ++i) {
    if (!has(i)) continue;
    const int rank = builder_.ShapeOf(input(i)).rank();  // -1 if it depends on the data of a run
    if (rank < 0 || rank > 4) return Order::kFile;
    planar |= rank == 4 && OrderOf(i) == Order::kPlanar;
  }
  return planar ? Order::kPlanar : Order::kFile;
}

ValueId Op::Operand(int i, Order order) const {
  if (order == Order::kFile) return in(i);
  const Shape of = shape(i);
  if (of.Elements() == 1) return in(i);
  if (of.rank() == 4) return in(i, order);
  Shape wide;
  for (int n = of.rank(); n < 4; ++n) wide.push_back(1);
  for (int64_t d : of) wide.push_back(d);
  return Transpose(Reshape(in(i), wide), PermTo(order));
}

std::optional<mete::Ints> Op::KnownInts(int i) const {
  constexpr int64_t kMost = 1024;  // numbers in a list of axes, sizes or positions
  if (!has(i) || (info(i).type != DType::kI32 && info(i).type != DType::kI64)) return std::nullopt;
  const Tensor& t = builder_.graph().value(raw(i)).constant;
  if (!t.has_value() || t.elements() > kMost) return std::nullopt;
  if (t.type() == DType::kI64) return mete::Ints(t.as<int64_t>(), t.as<int64_t>() + t.elements());
  return mete::Ints(t.as<int32_t>(), t.as<int32_t>() + t.elements());
}

mete::Ints Op::IntsOf(int i, const char* what) const {
  const auto ints = KnownInts(i);
  if (!ints) {
    if (has(i) && is_computed(i)) Unsupported(fmt::format("its {} depends on the data of a run", what));
    Bad("{} must be a short list of integers", what);
  }
  return *ints;
}

int64_t Op::IntOf(int i, const char* what) const {
  const mete::Ints ints = IntsOf(i, what);
  if (ints.size() != 1) Bad("{} must be one number; got {}", what, ints.size());
  return ints[0];
}

ValueId Op::Indices(int i) const {
  if (!IsInt(info(i).type)) Bad("input {} must be integers; got {}", i, Name(info(i).type));
  return Cast(raw(i), DType::kI64);
}

ValueId Op::Sizes(int i) const { return is_computed(i) ? Indices(i) : Ints(IntsOf(i, "the list of sizes")); }

ValueId Op::SizesOf(int i) const {
  if (is_open(i)) return Emit("Shape", {raw(i)});
  const Shape of = shape(i);
  return Ints({of.begin(), of.end()});
}

float Op::FloatOf(int i, const char* what) const {
  const Tensor& t = builder_.graph().value(in(i)).constant;
  if (!t.has_value()) Unsupported(fmt::format("its {} is computed", what));
  if (t.type() != DType::kF32 || t.elements() != 1)
    Bad("{} must be one number; got {} {}", what, Name(t.type()), ToString(t.shape()));
  return *t.as<float>();
}

ValueId Op::Weights(int i, const mete::Ints& perm) const {
  const TensorInfo& of = info(i);
  if (shape(i).rank() != int(perm.size()))
    Bad("the weights need {} dimensions; got {}", perm.size(), ToString(shape(i)));
  const ValueId moved = Transpose(raw(i), perm);
  if (!of.scales) return moved;
  std::vector<ValueId> inputs = {moved};
  for (ValueId scale : builder_.ScaleOf(input(i))) inputs.push_back(scale);
  Attributes attributes;
  if (!of.scales->one())
    attributes.Set("axis", int64_t(std::find(perm.begin(), perm.end(), of.scales->axis) - perm.begin()));
  return Emit("DequantizeLinear", std::move(inputs), std::move(attributes));
}

ValueId Op::Bias(int i, int x, int w) const {
  if (!has(i)) return kNoValue;
  if (info(i).type == DType::kI64) Unsupported("its bias has the type INT64");
  if (info(i).type != DType::kI32) return in(i);
  // The scales of the bias in the file are this product, in roundings of its writer.
  const auto &of_x = info(x).scales, &of_w = info(w).scales;
  if (!of_x || !of_w || !of_x->one())
    Bad("a bias of integers needs an input and weights in bytes with scales; got {} and {}",
        Name(info(x).type), Name(info(w).type));
  const ValueId scale = Emit("Mul", {builder_.ScaleOf(input(x))[0], builder_.ScaleOf(input(w))[0]});
  Attributes attributes;
  attributes.Set("axis", int64_t{0});
  return Emit("DequantizeLinear", {raw(i), scale}, std::move(attributes));
}

ValueId Op::Reshape(ValueId x, const Shape& shape) const {
  if (builder_.graph().value(x).shape == shape) return x;
  Attributes attributes;
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) attributes.Set("allowzero", int64_t{1});
  return Emit("Reshape", {x, Ints(mete::Ints(shape.begin(), shape.end()))}, std::move(attributes));
}

ValueId Op::Transpose(ValueId x, const mete::Ints& perm) const {
  if (std::is_sorted(perm.begin(), perm.end())) return x;
  Attributes attributes;
  attributes.Set("perm", perm);
  return Emit("Transpose", {x}, std::move(attributes));
}

ValueId Op::Cast(ValueId x, DType type) const {
  if (TypeOf(x) == type) return x;
  Attributes attributes;
  attributes.Set("to", std::string(Name(type)));
  return Emit("Cast", {x}, std::move(attributes));
}

ValueId Op::Filled(ValueId element, const Shape& shape) const {
  return Emit("Expand", {element, Ints(mete::Ints(shape.begin(), shape.end()))});
}

ValueId Op::Scalar(float value) const { return Constant(Tensor::Floats({}, std::span(&value, 1))); }
ValueId Op::Ints(const mete::Ints& values) const { return Constant(Tensor::Ints(values)); }
ValueId Op::Integer(int64_t value) const {
  return Constant(Tensor::Of<int64_t>(DType::kI64, {}, std::span(&value, 1)));
}

ValueId Op::Activated(ValueId x, tflite::Activation activation) const {
  switch (activation) {
    case tflite::Activation::NONE: return x;
    case tflite::Activation::RELU: return Emit("Relu", {x});
    case tflite::Activation::RELU_N1_TO_1: return Emit("Clip", {x, Scalar(-1), Scalar(1)});
    case tflite::Activation::RELU6: return Emit("Clip", {x, Scalar(0), Scalar(6)});
    case tflite::Activation::TANH: return Emit("Tanh", {x});
    default: Unsupported(fmt::format("its activation is number {}", int(activation)));
  }
}

void Op::Out(int i, Order order, ValueId numbers, const Shape& shape) const {
  if (i >= outputs()) Bad("{} has too few outputs; got {}", kind(), outputs());
  const int tensor = source_.outputs[size_t(i)];
  ValueId y = numbers;
  if (const auto& scales = builder_.info(tensor).scales) {
    if (!scales->one()) Bad("its output has a scale for each channel; expected one scale");
    std::vector<ValueId> inputs = {y};
    for (ValueId scale : builder_.ScaleOf(tensor)) inputs.push_back(scale);
    y = Emit("QuantizeLinear", std::move(inputs));
  }
  if (shape.known()) y = Reshape(y, shape);
  builder_.Set(tensor, order, y);
}

void Op::OutRaw(int i, Order order, ValueId raw) const {
  if (i >= outputs()) Bad("{} has too few outputs; got {}", kind(), outputs());
  builder_.Set(source_.outputs[size_t(i)], order, raw);
}

void Op::OutInts(int i, const mete::Ints& values, const Shape& shape) const {
  const DType type = i < outputs() ? out_info(i).type : DType::kUnknown;
  if (type != DType::kI32 && type != DType::kI64)
    Bad("its output has the type {}; expected i32 or i64", type == DType::kUnknown ? "?" : Name(type));
  const std::vector<int32_t> narrow(values.begin(), values.end());
  OutRaw(i, Order::kFile,
         Constant(type == DType::kI64 ? Tensor::Of<int64_t>(type, shape, values)
                                      : Tensor::Of<int32_t>(type, shape, narrow)));
}

}  // namespace mete::tflite_import
