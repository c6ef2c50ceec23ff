// Fuses trees of element-wise f32 operators of one output shape into one mete.Elementwise, so that
// intermediate results stay in registers (graph/fused.h, 2).
#include "base/fused.h"
#include "passes/pass.h"
#include "passes/rewrite.h"

namespace mete {
namespace {

// The limits of a fused program. These values are guesses: longer programs would spill registers in the
// kernel, and the zoo has none.
constexpr size_t kMaxSteps = 24;
constexpr size_t kMaxInputs = 12;

struct Program {
  std::vector<ValueId> inputs;
  Strings ops;
  Ints args;  // registers; the result of a step is written as -2 - step until all inputs are known
  Floats params;
  std::vector<size_t> nodes;

  int Input(ValueId id) {
    const auto at = std::find(inputs.begin(), inputs.end(), id);
    if (at != inputs.end()) return int(at - inputs.begin());
    inputs.push_back(id);
    return int(inputs.size()) - 1;
  }
  int Step(std::string_view op, int a, int b = -1, float alpha = 0, float beta = 0) {
    ops.emplace_back(op);
    args.insert(args.end(), {a, b, -1});
    params.insert(params.end(), {alpha, beta});
    return -1 - int(ops.size());
  }
};

class ElementwiseFuser {
 public:
  explicit ElementwiseFuser(Graph& graph) : graph_(graph), uses_(graph), absorbed_(graph.nodes.size()) {}

  bool Run() {
    bool changed = false;
    for (size_t n = graph_.nodes.size(); n-- > 0;)
      if (!absorbed_[n] && Fusable(graph_.nodes[n])) {
        Fuse(n);
        changed = true;
      }
    std::erase_if(graph_.nodes, [](const Node& n) { return n.op.empty(); });
    return changed;
  }

 private:
  bool Fusable(const Node& node) const {
    const FusedOp op = FusedOpOf(node.op);
    const bool known = op != FusedOp::kNone || node.op == "PRelu" || node.op == "Sum";
    if (!known || node.outputs.size() != 1 || !IsF32(graph_, node.outputs[0])) return false;
    if (node.op == "Clip") {
      for (size_t i : {size_t(1), size_t(2)})
        if (node.input(i) != kNoValue && !ScalarOf(graph_, node.inputs[i])) return false;
      return IsF32(graph_, node.inputs[0]);
    }
    if ((op == FusedOp::kMin || op == FusedOp::kMax) && node.inputs.size() != 2) return false;
    if (node.inputs.size() > kMaxInputs) return false;
    for (ValueId id : node.inputs)
      if (!IsF32(graph_, id)) return false;
    return true;
  }

  void Fuse(size_t root) {
    Program program;
    shape_ = graph_.value(graph_.nodes[root].outputs[0]).shape;
    Expand(root, program);
    Ints args = program.args;
    for (int64_t& a : args)
      if (a <= -2) a = int64_t(program.inputs.size()) + (-2 - a);
    Node& node = graph_.nodes[root];
    node.op = "mete.Elementwise";
    node.inputs = program.inputs;
    node.attributes = {};
    node.attributes.Set("ops", program.ops);
    node.attributes.Set("args", args);
    node.attributes.Set("params", program.params);
    for (size_t n : program.nodes)
      if (n != root) graph_.nodes[n].op.clear();
  }

  // Returns the register of a value: that of an input, or the result of the steps of its producer.
  int Register(ValueId id, Program& program) {
    const int p = uses_.producer[size_t(id)];
    const bool room = program.ops.size() + 4 < kMaxSteps && program.inputs.size() + 2 < kMaxInputs;
    if (p >= 0 && room && uses_.OnlyReader(id) && !absorbed_[size_t(p)] && graph_.value(id).shape == shape_ &&
        Fusable(graph_.nodes[size_t(p)]))
      return Expand(size_t(p), program);
    return program.Input(id);
  }

  int Expand(size_t n, Program& program) {
    absorbed_[n] = true;
    program.nodes.push_back(n);
    const Node& node = graph_.nodes[n];
    const Attributes& a = node.attributes;
    const int x = Register(node.inputs[0], program);
    if (node.op == "PRelu") return ExpandPRelu(x, node.inputs[1], program);
    if (node.op == "Sum") {
      int sum = x;
      for (size_t i = 1; i < node.inputs.size(); ++i)
        sum = program.Step("Add", sum, Register(node.inputs[i], program));
      return sum;
    }
    if (node.op == "Pow" && ScalarOf(graph_, node.inputs[1]) == 2.0) return program.Step("Mul", x, x);
    const FusedOp op = FusedOpOf(node.op);
    if (IsBinary(op)) return program.Step(node.op, x, Register(node.inputs[1], program));
    if (op == FusedOp::kClip) {
      const auto low = ScalarOf(graph_, node.input(1)), high = ScalarOf(graph_, node.input(2));
      const Activation open = DefaultActivation(op);
      return program.Step("Clip", x, -1, low ? float(*low) : open.alpha, high ? float(*high) : open.beta);
    }
    if (op == FusedOp::kGelu)
      return program.Step("Gelu", x, -1, a.String("approximate", "none") == "tanh" ? 1.f : 0.f);
    const Activation given = DefaultActivation(op);
    return program.Step(node.op, x, -1, a.Float("alpha", given.alpha), a.Float("beta", given.beta));
  }

  // Expands PRelu to max(x, 0) + slope * min(x, 0).
  int ExpandPRelu(int x, ValueId slope, Program& program) {
    const int zero = program.Input(Zero());
    const int low = program.Step("Mul", program.Input(slope), program.Step("Min", x, zero));
    return program.Step("Add", program.Step("Max", x, zero), low);
  }

  ValueId Zero() {
    if (zero_ == kNoValue) {
      const float zero = 0;
      zero_ = graph_.AddConstant("fuse_elementwise.zero", Tensor::Floats({}, {&zero, 1}));
    }
    return zero_;
  }

  Graph& graph_;
  const Uses uses_;
  std::vector<bool> absorbed_;
  Shape shape_;
  ValueId zero_ = kNoValue;
};

}  // namespace

bool FuseElementwise(Graph& graph) { return ElementwiseFuser(graph).Run(); }

}  // namespace mete
