// Element-wise operators that the pass fuse-elementwise leaves alone, as programs of fused steps.
#include <algorithm>
#include <map>
#include <string_view>

#include "processor/opencl/share/elementwise.h"
#include "processor/opencl/share/families.h"

namespace mete::opencl {
namespace {

// A program over inputs that are all there before its first step. Registers are those of FusedStep.
class Chain {
 public:
  Chain(Lowering& to, const Node& node, const std::vector<float>& constants = {}) {
    for (ValueId id : node.inputs)
      if (id != kNoValue) inputs_.push_back(to.Of(id));
    for (float constant : constants) inputs_.push_back(to.Constant(Tensor::Floats({}, {&constant, 1})));
    program_.inputs = int(inputs_.size());
  }

  // Returns the register of the result.
  int Step(const Activation& function, int a, int b = -1) {
    program_.step[size_t(program_.steps)] = {function, {a, b, -1}};
    return program_.inputs + program_.steps++;
  }
  int Fold(FusedOp op, int count) {
    int result = 0;
    for (int i = 1; i < count; ++i) result = Step({op}, result, i);
    return result;
  }
  bool empty() const { return program_.steps == 0; }
  void Launch(Lowering& to, const Node& node) const {
    LowerProgram(to, program_, inputs_, to.Of(node.outputs[0]));
  }

 private:
  std::vector<Array> inputs_;
  FusedProgram program_;
};

Chain Extreme(Lowering& to, const Node& node) {
  Chain chain(to, node);
  chain.Fold(node.op == "Max" ? FusedOp::kMax : FusedOp::kMin, int(node.inputs.size()));
  return chain;
}

Chain Mean(Lowering& to, const Node& node) {
  const int count = int(node.inputs.size());
  Chain chain(to, node, {1 / float(count)});
  chain.Step({FusedOp::kMul}, chain.Fold(FusedOp::kAdd, count), count);
  return chain;
}

// With bounds that are computed, or only one of them.
Chain Clip(Lowering& to, const Node& node) {
  Chain chain(to, node);
  int result = 0, bound = 0;
  if (node.input(1) != kNoValue) result = chain.Step({FusedOp::kMax}, result, ++bound);
  if (node.input(2) != kNoValue) chain.Step({FusedOp::kMin}, result, ++bound);
  return chain;
}

Chain Selu(Lowering& to, const Node& node) {
  const float alpha = node.attributes.Float("alpha", 1.67326319217681884765625f);
  Chain chain(to, node, {node.attributes.Float("gamma", 1.05070102214813232421875f)});
  chain.Step({FusedOp::kMul}, chain.Step({FusedOp::kElu, alpha}, 0), 1);
  return chain;
}

// alpha * elu(x / alpha)
Chain Celu(Lowering& to, const Node& node) {
  Chain chain(to, node, {node.attributes.Float("alpha", 1)});
  const int part = chain.Step({FusedOp::kDiv}, 0, 1);
  chain.Step({FusedOp::kMul}, chain.Step({FusedOp::kElu, 1}, part), 1);
  return chain;
}

// x / (1 + |x|)
Chain Softsign(Lowering& to, const Node& node) {
  Chain chain(to, node, {1});
  chain.Step({FusedOp::kDiv}, 0, chain.Step({FusedOp::kAdd}, chain.Step({FusedOp::kAbs}, 0), 1));
  return chain;
}

// (scale * x + shift) ^ power
Chain Power(Lowering& to, const Node& node) {
  const Attributes& a = node.attributes;
  Chain chain(to, node, {a.Float("scale", 1), a.Float("shift", 0), a.Float("power", 1)});
  chain.Step({FusedOp::kPow}, chain.Step({FusedOp::kAdd}, chain.Step({FusedOp::kMul}, 0, 1), 2), 3);
  return chain;
}

const std::map<std::string_view, Chain (*)(Lowering&, const Node&)>& Functions() {
  static const std::map<std::string_view, Chain (*)(Lowering&, const Node&)> functions = {
      // immutable after the first call
      {"Max", Extreme}, {"Min", Extreme}, {"Mean", Mean},         {"Clip", Clip},
      {"Selu", Selu},   {"Celu", Celu},   {"Softsign", Softsign}, {"mete.Power", Power},
  };
  return functions;
}

}  // namespace

std::string LowerFunction(Lowering& to, const Node& node) {
  const auto most = size_t(FusedProgram::kMaxInputs) - 3;  // up to three constants
  if (node.inputs.size() > most) return "it has too many inputs";
  for (ValueId id : node.inputs)
    if (id != kNoValue && !IsF32(to.graph(), id)) return "not f32";
  const Chain chain = Functions().at(node.op)(to, node);
  if (!chain.empty()) chain.Launch(to, node);
  else to.Copy(to.Of(node.inputs[0]), to.Of(node.outputs[0]));
  return "";
}

}  // namespace mete::opencl
