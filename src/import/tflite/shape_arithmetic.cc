// Computes operators of few known integers while the model is read: writers compute the sizes that a Reshape
// gets from the shapes of other tensors, and those are known here.
#include <algorithm>

#include "import/tflite/builder.h"

namespace mete::tflite_import {
namespace {

using Code = tflite::BuiltinOperator;

constexpr size_t kMost = 1024;  // numbers of all inputs together: sizes are few

bool IsInt(DType type) { return type == DType::kI32 || type == DType::kI64; }

// Sums and products wrap, as those of the format do.
std::optional<int64_t> Combined(Code code, int64_t a, int64_t b) {
  switch (code) {
    case Code::ADD: return int64_t(uint64_t(a) + uint64_t(b));
    case Code::SUB: return int64_t(uint64_t(a) - uint64_t(b));
    case Code::MUL: return int64_t(uint64_t(a) * uint64_t(b));
    case Code::MAXIMUM: return std::max(a, b);
    case Code::MINIMUM: return std::min(a, b);
    default: return std::nullopt;
  }
}

bool HasActivation(const Op& op) {
  switch (op.code()) {
    case Code::ADD: return op.ActivationOf<tflite::AddOptions>() != tflite::Activation::NONE;
    case Code::SUB: return op.ActivationOf<tflite::SubOptions>() != tflite::Activation::NONE;
    case Code::MUL: return op.ActivationOf<tflite::MulOptions>() != tflite::Activation::NONE;
    default: return false;
  }
}

bool FoldBinary(Op& op, const Ints& a, const Ints& b) {
  if (HasActivation(op)) return false;  // sizes have none
  if (a.empty() || b.empty()) return false;
  if (a.size() != b.size() && a.size() != 1 && b.size() != 1) return false;
  Ints values;
  for (size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
    const auto value = Combined(op.code(), a[a.size() == 1 ? 0 : i], b[b.size() == 1 ? 0 : i]);
    if (!value) return false;
    values.push_back(*value);
  }
  const int wide = op.shape(0).rank() >= op.shape(1).rank() ? 0 : 1;
  op.OutInts(0, values, op.shape(wide).rank() == 0 ? Shape{} : Shape{int64_t(values.size())});
  return true;
}

bool FoldGather(Op& op, const Ints& list, const Ints& positions) {
  Ints values;
  for (int64_t p : positions) {
    if (p < 0 || p >= int64_t(list.size())) op.Bad("position {} is outside of a list of {}", p, list.size());
    values.push_back(list[size_t(p)]);
  }
  op.OutInts(0, values, op.shape(1));
  return true;
}

}  // namespace

bool FoldInts(Op& op) {
  if (op.inputs() == 0 || !IsInt(op.out_info().type)) return false;
  std::vector<Ints> inputs;
  Ints joined;
  for (int i = 0; i < op.inputs(); ++i) {
    if (!op.has(i) || !IsInt(op.info(i).type)) return false;
    const auto ints = op.KnownInts(i);
    if (!ints || op.shape(i).rank() > 1) return false;
    inputs.push_back(*ints);
    joined.insert(joined.end(), ints->begin(), ints->end());
    if (joined.size() > kMost) return false;
  }
  const bool scalars = joined.size() == inputs.size();
  switch (op.code()) {
    case Code::CAST: return op.OutInts(0, inputs[0], op.shape()), true;
    case Code::CONCATENATION: return op.OutInts(0, joined, {int64_t(joined.size())}), true;
    case Code::PACK:
      return scalars && op.shape().rank() == 0 && (op.OutInts(0, joined, {int64_t(joined.size())}), true);
    case Code::GATHER: return inputs.size() == 2 && FoldGather(op, inputs[0], inputs[1]);
    default: return inputs.size() == 2 && FoldBinary(op, inputs[0], inputs[1]);
  }
}

}  // namespace mete::tflite_import
