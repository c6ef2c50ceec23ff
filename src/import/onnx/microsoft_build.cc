#include "import/onnx/microsoft_build.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "import/onnx/shapes.h"

namespace mete::onnx_import {

Attributes With(const char* name, Attribute value) {
  Attributes attributes;
  attributes.Set(name, std::move(value));
  return attributes;
}

ValueId Op(Upgrade& u, const char* op, Values inputs) { return Into(u, kNoValue, op, inputs); }

ValueId Op(Upgrade& u, const char* op, Values inputs, const char* name, int64_t value) {
  return Into(u, kNoValue, op, inputs, With(name, value));
}

ValueId CastTo(Upgrade& u, ValueId x, const char* type) {
  return Into(u, kNoValue, "Cast", {x}, With("to", std::string(type)));
}

ValueId Reshaped(Upgrade& u, ValueId x, Numbers shape) { return Op(u, "Reshape", {x, Constant(u, shape)}); }

ValueId Permuted(Upgrade& u, ValueId x, Numbers perm) {
  return Into(u, kNoValue, "Transpose", {x}, With("perm", mete::Ints(perm)));
}

ValueId Unsqueezed(Upgrade& u, ValueId x, Numbers axes) { return Op(u, "Unsqueeze", {x, Constant(u, axes)}); }

ValueId Sliced(Upgrade& u, ValueId x, int64_t axis, int64_t begin, int64_t end) {
  return Op(u, "Slice", {x, Constant(u, {begin}), Constant(u, {end}), Constant(u, {axis})});
}

ValueId Into(Upgrade& u, ValueId told, const char* op, Values inputs, Attributes attributes) {
  const std::string name = u.names.Unique(u.node.name + "/" + op);
  const ValueId out = told == kNoValue ? u.graph.AddValue(name) : told;
  std::vector<ValueId> given(inputs);
  while (!given.empty() && given.back() == kNoValue) given.pop_back();
  u.graph.AddNode(op, name, std::move(given), {out}, std::move(attributes));
  return out;
}

ValueId Constant(Upgrade& u, Numbers values) {
  return u.graph.AddConstant(u.names.Unique(u.node.name + "/constant"),
                             Tensor::Ints(std::span(values.begin(), values.size())));
}

ValueId ScalarConstant(Upgrade& u, int64_t value) {
  return u.graph.AddConstant(u.names.Unique(u.node.name + "/constant"),
                             Tensor::Of<int64_t>(DType::kI64, {}, std::span(&value, 1)));
}

ValueId RealConstant(Upgrade& u, double value) {
  return u.graph.AddConstant(u.names.Unique(u.node.name + "/constant"),
                             Tensor::Of<double>(DType::kF64, {}, std::span(&value, 1)));
}

ValueId DimOf(Upgrade& u, ValueId x, int64_t axis) {
  return DimsOf(u, x, axis, axis == -1 ? std::numeric_limits<int64_t>::max() : axis + 1);
}

ValueId DimsOf(Upgrade& u, ValueId x, int64_t axis, int64_t end) {
  Attributes attributes = With("start", axis);
  attributes.Set("end", end);
  return Into(u, kNoValue, "Shape", {x}, std::move(attributes));
}

ValueId CountTo(Upgrade& u, ValueId count) {
  return Op(u, "Range", {ScalarConstant(u, 0), Op(u, "Squeeze", {count}), ScalarConstant(u, 1)});
}

std::vector<ValueId> Parts(Upgrade& u, ValueId x, int64_t axis, int64_t count, ValueId sizes) {
  Attributes attributes = With("axis", axis);
  std::vector<ValueId> inputs{x}, parts;
  if (sizes == kNoValue) attributes.Set("num_outputs", count);
  else inputs.push_back(sizes);
  const std::string name = u.names.Unique(u.node.name + "/Split");
  for (int64_t i = 0; i < count; ++i) parts.push_back(u.graph.AddValue(fmt::format("{}:{}", name, i)));
  u.graph.AddNode("Split", name, std::move(inputs), parts, std::move(attributes));
  return parts;
}

void Become(Upgrade& u, std::string op, std::vector<ValueId> inputs, Attributes attributes) {
  u.node.op = std::move(op);
  u.node.inputs = std::move(inputs);
  u.node.attributes = std::move(attributes);
}

bool HasOnly(Upgrade& u, std::initializer_list<std::string_view> known) {
  bool only = true;
  for (const auto& [name, value] : u.node.attributes) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    u.Unsupported(fmt::format("its attribute '{}' is unknown", Printable(name)));
    only = false;
  }
  return only;
}

bool NeedDefaults(Upgrade& u, std::initializer_list<std::pair<const char*, int64_t>> defaults) {
  bool all = true;
  for (const auto& [name, expected] : defaults) {
    const int64_t value = u.node.attributes.Int(name, expected);
    if (value == expected) continue;
    u.Unsupported(fmt::format("{}={} is not supported, expected {}", name, value, expected));
    all = false;
  }
  return all;
}

int64_t Positive(Upgrade& u, const char* name) {
  const int64_t value = u.node.attributes.Int(name, 0);
  if (value >= 1 && value <= std::numeric_limits<int32_t>::max()) return value;
  u.Bad("{}; got {}, expected a number from 1 on", name, value);
  return 0;
}

int RankOf(Upgrade& u, ValueId id) {
  return id == kNoValue || !u.shapes ? -1 : u.shapes->Of(u.graph, id).rank();
}

// A Transpose that keeps all dimensions in their places is removed by the passes behind the check.
ValueId NeedRank(Upgrade& u, ValueId x, int rank) {
  const int known = RankOf(u, x);
  if (known == rank) return x;
  if (known >= 0) u.Bad("an input has {} dimensions, expected {}", known, rank);
  mete::Ints order(static_cast<size_t>(rank));
  std::iota(order.begin(), order.end(), 0);
  return Into(u, kNoValue, "Transpose", {x}, With("perm", std::move(order)));
}

}  // namespace mete::onnx_import
