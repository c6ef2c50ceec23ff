#include "import/onnx/ml.h"

#include <algorithm>
#include <optional>

#include "base/visit_type.h"
#include "import/onnx/microsoft_build.h"

namespace mete::onnx_import {
namespace {

// The elements of the last axis at the places in input 1; those of a vector become a row.
void ExpandArrayFeatureExtractor(Upgrade& u) {
  const int rank = RankOf(u, u.input(0));
  if (rank < 0) return u.Unsupported("the shape of its input is not known before the model runs");
  const ValueId x = rank == 1 ? Unsqueezed(u, u.input(0), {0}) : u.input(0);
  Become(u, "Gather", {x, Reshaped(u, u.input(1), {-1})}, With("axis", int64_t{-1}));
}

// The threshold is a float, whatever the type of the input.
void ExpandBinarizer(Upgrade& u) {
  const ValueId x = u.input(0);
  const ValueId threshold = RealConstant(u, double(u.node.attributes.Float("threshold", 0)));
  Become(u, "CastLike", {Op(u, "Greater", {CastTo(u, x, "f64"), threshold}), x});
}

// Returns the list `prefix`_floats, `prefix`_int64s or `prefix`_tensor, whichever the node has.
std::optional<Tensor> ListOf(const Attributes& a, const std::string& prefix) {
  if (const Tensor* t = a.TensorOf(prefix + "_tensor")) return *t;
  if (const Floats& f = a.FloatList(prefix + "_floats"); !f.empty())
    return Tensor::Floats({int64_t(f.size())}, f);
  if (const Ints& i = a.IntList(prefix + "_int64s"); !i.empty()) return Tensor::Ints(i);
  return std::nullopt;
}

// Returns the values behind the one that stands for an element without a key. Nothing: a default is given
// that is no number of their type.
std::optional<Tensor> WithDefault(const Attributes& a, const Tensor& values) {
  const Tensor* given = a.TensorOf("default_tensor");
  if (given && (given->type() != values.type() || given->elements() != 1)) return std::nullopt;
  Tensor all(values.type(), {values.elements() + 1});
  VisitNumeric(values.type(), [&]<class T>() {
    T* to = all.mutable_view().as<T>();
    if (given) *to = *given->as<T>();
    else if (IsFloat(values.type())) *to = T(a.Float("default_float", -0.0f));
    else *to = T(a.Int("default_int64", -1));
    std::copy_n(values.as<T>(), values.elements(), to + 1);
  });
  return all;
}

ValueId AddConstant(Upgrade& u, Tensor tensor) {
  return u.graph.AddConstant(u.names.Unique(u.node.name + "/constant"), std::move(tensor));
}

// The value of the last key that an element equals. The values lie behind the default.
void ExpandLabelEncoder(Upgrade& u) {
  const Attributes a = u.node.attributes;
  const std::optional<Tensor> keys = ListOf(a, "keys"), values = ListOf(a, "values");
  if (!keys || !values)
    return u.Unsupported("its keys or its values are strings, or are missing; expected numbers");
  if (keys->elements() != values->elements() || keys->shape().rank() != 1 || values->shape().rank() != 1)
    return u.Bad("its keys and values; got {} and {}, expected two lists of one length",
                 ToString(keys->shape()), ToString(values->shape()));
  if (!IsFloat(values->type()) && !IsInt(values->type()))
    return u.Unsupported(fmt::format("its values are no numbers; got {}", Name(values->type())));
  const auto all = WithDefault(a, *values);
  if (!all)
    return u.Bad("default_tensor; got {}, expected one number of the type {}",
                 ToString(a.TensorOf("default_tensor")->shape()), Name(values->type()));
  Become(u, "mete.LabelEncoder", {u.input(0), AddConstant(u, *keys), AddConstant(u, *all)});
}

// The sums of leaves, and the function over the targets of a row behind them.
void ExpandTreeEnsemble(Upgrade& u) {
  const int64_t function = u.node.attributes.Int("post_transform", 0);
  u.node.attributes.Erase("post_transform");
  u.node.attributes.Erase("nodes_hitrates");
  u.node.op = "mete.TreeEnsemble";
  if (function == 0) return;
  if (function != 1 && function != 2)
    return u.Unsupported(
        fmt::format("post_transform={} is not supported, expected 0 (none), 1 (softmax) or 2 "
                    "(logistic)",
                    function));
  const ValueId sums = u.Emit("mete.TreeEnsemble", "sums", {u.input(0)}, u.node.attributes);
  if (function == 2) return Become(u, "Sigmoid", {sums});
  Become(u, "Softmax", {sums}, With("axis", int64_t{-1}));
}

struct Row {
  std::string_view op;
  size_t inputs;
  void (*expand)(Upgrade&);
};

constexpr Row kRows[] = {
    {"ArrayFeatureExtractor", 2, ExpandArrayFeatureExtractor},
    {"Binarizer", 1, ExpandBinarizer},
    {"LabelEncoder", 1, ExpandLabelEncoder},
    {"TreeEnsemble", 1, ExpandTreeEnsemble},
};

const Row* Find(std::string_view op) {
  const auto at =
      std::find_if(std::begin(kRows), std::end(kRows), [&](const Row& row) { return row.op == op; });
  return at == std::end(kRows) ? nullptr : at;
}

}  // namespace

bool IsMl(std::string_view op) { return Find(op) != nullptr; }

void ExpandMl(Upgrade& u) {
  const Row& row = *Find(u.node.op);
  if (u.node.inputs.size() != row.inputs || u.node.outputs.size() != 1)
    return u.Bad("{} has {} inputs and {} outputs; expected {} and 1", row.op, u.node.inputs.size(),
                 u.node.outputs.size(), row.inputs);
  for (size_t i = 0; i < row.inputs; ++i)
    if (u.input(i) == kNoValue) return u.Bad("{} lacks input {}; expected a value", row.op, i);
  row.expand(u);
}

}  // namespace mete::onnx_import
