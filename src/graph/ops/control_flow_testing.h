// Small nodes with bodies, for tests.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/bodies.h"
#include "graph/operators.h"

namespace mete {

// Builds a body value by value.
class BodyBuilder {
 public:
  ValueId Input(const std::string& name) {
    graph_.inputs.push_back(graph_.AddValue(name));
    return graph_.inputs.back();
  }
  ValueId Constant(const std::string& name, Tensor tensor) {
    return graph_.AddConstant(name, std::move(tensor));
  }
  ValueId Op(const std::string& op, std::vector<ValueId> in, Attributes attributes = {}) {
    const std::string name = op + std::to_string(graph_.nodes.size());
    const ValueId out = graph_.AddValue(name);
    graph_.AddNode(op, name, std::move(in), {out}, std::move(attributes));
    return out;
  }
  void Output(ValueId id) { graph_.outputs.push_back(id); }
  GraphPtr Take() { return std::make_shared<const Graph>(std::move(graph_)); }

 private:
  Graph graph_;
};

// (x) -> op(x), for branches.
inline GraphPtr UnaryBody(const std::string& op) {
  BodyBuilder b;
  b.Output(b.Op(op, {b.Input("x")}));
  return b.Take();
}

// If(condition, x): Relu(x), else Neg(x).
inline Attributes ReluOrNeg() {
  Attributes a;
  a.Set("then_branch", UnaryBody("Relu"));
  a.Set("else_branch", UnaryBody("Neg"));
  a.Set(kCaptures, int64_t(1));
  return a;
}

// If(condition, x): Squeeze(x, 0), which takes a first dimension of 1 alone, else Neg(x).
inline Attributes SqueezeOrNeg() {
  BodyBuilder b;
  const ValueId x = b.Input("x");
  b.Output(b.Op("Squeeze", {x, b.Constant("axes", Tensor::Ints(std::array<int64_t, 1>{0}))}));
  Attributes a = ReluOrNeg();
  a.Set("then_branch", b.Take());
  return a;
}

// The body of a Loop with one carried value and one scan output: (run, condition, x, y) -> (condition, x + y,
// x), where y is a capture.
inline Attributes AddingLoop() {
  BodyBuilder b;
  b.Input("run");
  const ValueId condition = b.Input("condition"), x = b.Input("x"), y = b.Input("y");
  b.Output(b.Op("Identity", {condition}));
  b.Output(b.Op("Add", {x, y}));
  b.Output(b.Op("Identity", {x}));
  Attributes a;
  a.Set("body", b.Take());
  a.Set(kCaptures, int64_t(1));
  return a;
}

// A Scan with one state and one scanned input: (s, x) -> (s + x, s + x), the running sums.
inline Attributes RunningSums() {
  BodyBuilder b;
  const ValueId s = b.Input("s"), x = b.Input("x");
  const ValueId sum = b.Op("Add", {s, x});
  b.Output(sum);
  b.Output(b.Op("Identity", {sum}));
  Attributes a;
  a.Set("body", b.Take());
  a.Set("num_scan_inputs", int64_t(1));
  return a;
}

}  // namespace mete
