// Conversions of IF and WHILE. What they run are subgraphs that read nothing but their inputs, and become
// bodies (graph/bodies.h) in attributes of If and Loop.
#include "graph/bodies.h"

#include <algorithm>

#include "import/tflite/builder.h"

namespace mete::tflite_import {
namespace {

// The values of the inputs from `first` on, as they are before the operator.
std::vector<Value> ValuesOf(const Op& op, int first) {
  std::vector<Value> values;
  for (int i = first; i < op.inputs(); ++i) values.push_back(op.builder().graph().value(op.raw(i)));
  return values;
}

void CheckCounts(const Op& op, const File& subgraph, size_t inputs, size_t outputs) {
  if (subgraph.inputs.size() != inputs || subgraph.outputs.size() != outputs)
    op.Bad("a subgraph of {} has the wrong numbers of inputs and outputs; got {} and {}, expected {} and {}",
           op.kind(), subgraph.inputs.size(), subgraph.outputs.size(), inputs, outputs);
}

Builder BodyOf(const Op& op, int number, std::span<const Value> inputs, size_t outputs) {
  Builder body(op.builder(), number, op.node_name());
  CheckCounts(op, body.file(), inputs.size(), outputs);
  body.AddInputsLike(inputs);
  ConvertAll(body);
  return body;
}

// Makes the body give its outputs whose places `gives` says.
void Give(Builder& body, const std::vector<size_t>& gives) {
  std::vector<ValueId>& outputs = body.graph().outputs;
  for (const size_t i : gives) {
    ValueId y = body.BodyOutput(i);
    if (std::find(outputs.begin(), outputs.end(), y) != outputs.end())
      y = body.Emit(body.graph().value(y).name, "Identity", {y}, {}, 1)[0];
    outputs.push_back(y);
  }
}

void SetBody(Attributes& attributes, std::string_view name, Builder& body) {
  attributes.Set(name, GraphPtr(std::make_shared<Graph>(std::move(body.graph()))));
}

void SetCaptures(Attributes& attributes, size_t count) {
  if (count > 0) attributes.Set(kCaptures, int64_t(count));
}

void If(Op& op) {
  const auto& o = op.Need<tflite::IfOptions>();
  const std::vector<Value> values = ValuesOf(op, 1);
  std::vector<ValueId> inputs = {op.raw(0)};
  for (size_t i = 0; i < values.size(); ++i)
    if (!values[i].is_constant()) inputs.push_back(op.raw(int(i) + 1));
  std::vector<size_t> all;
  for (int i = 0; i < op.outputs(); ++i) all.push_back(size_t(i));
  Attributes attributes;
  const int numbers[] = {o.then_subgraph_index(), o.else_subgraph_index()};
  for (size_t branch = 0; branch < 2; ++branch) {
    Builder body = BodyOf(op, numbers[branch], values, all.size());
    Give(body, all);
    SetBody(attributes, BodyNames("If")[branch], body);
  }
  SetCaptures(attributes, inputs.size() - 1);
  const auto made = op.EmitAll("If", std::move(inputs), std::move(attributes), op.outputs());
  for (const size_t i : all) op.OutRaw(int(i), Order::kFile, made[i]);
}

// The values of a WHILE.
struct Values {
  std::vector<Value> values;    // as a run of the body gets them
  std::vector<size_t> carried;  // those that the body changes
  std::vector<size_t> fixed;    // the others that are no constants
};

Values ValuesOfLoop(const Op& op, const File& body) {
  Values v{ValuesOf(op, 0), {}, {}};
  for (size_t i = 0; i < v.values.size(); ++i) {
    if (body.outputs[i] != body.inputs[i]) {
      v.carried.push_back(i);
      v.values[i].constant = {};
    } else if (!v.values[i].is_constant()) {
      v.fixed.push_back(i);
    }
  }
  return v;
}

// Converts the body. A value whose shape changes from run to run has none that is known.
Builder StableBody(const Op& op, int number, Values& v) {
  constexpr int kMost = 8;  // times; each but the last finds a shape that changes
  for (int time = 0; time < kMost; ++time) {
    Builder body = BodyOf(op, number, v.values, v.values.size());
    bool changed = false;
    for (const size_t i : v.carried) {
      const ValueId y = body.BodyOutput(i);
      if (!v.values[i].shape.known() || body.graph().value(y).shape == v.values[i].shape) continue;
      v.values[i].shape = Shape::Unknown();
      changed = true;
    }
    if (!changed) return body;
  }
  op.Unsupported("the shapes of too many values change from run to run");
}

// Returns those of `ids`, by the number of a subgraph's input, that are no constants.
std::vector<ValueId> Needed(const Values& v, const std::vector<ValueId>& ids) {
  std::vector<ValueId> needed;
  for (size_t i = 0; i < ids.size(); ++i)
    if (!v.values[i].is_constant()) needed.push_back(ids[i]);
  return needed;
}

// Returns whether another run follows, computed in `in` from values that stand for the subgraph's inputs.
ValueId Condition(const Op& op, int number, const Values& v, Builder& in, const std::vector<ValueId>& ids) {
  Builder condition = BodyOf(op, number, v.values, 1);
  Give(condition, {0});
  return in.Append(condition.graph(), Needed(v, ids), op.node_name() + ".condition");
}

// ONNX's Loop gets the condition of its first run, and computes that of the next one in the body.
void While(Op& op) {
  const auto& o = op.Need<tflite::WhileOptions>();
  const size_t count = size_t(op.inputs());
  const File& file = op.builder().Subgraph(o.body_subgraph_index(), op.node_name());
  CheckCounts(op, file, count, size_t(op.outputs()));
  CheckCounts(op, file, count, count);
  Values v = ValuesOfLoop(op, file);
  std::vector<ValueId> before;
  for (size_t i = 0; i < count; ++i) before.push_back(op.raw(int(i)));
  std::vector<ValueId> inputs = {kNoValue, Condition(op, o.cond_subgraph_index(), v, op.builder(), before)};

  Builder body = StableBody(op, o.body_subgraph_index(), v);
  Graph& g = body.graph();
  std::vector<ValueId> behind;
  for (size_t i = 0; i < count; ++i) behind.push_back(body.BodyInput(i));
  for (const size_t i : v.carried) behind[i] = body.BodyOutput(i);
  g.outputs = {Condition(op, o.cond_subgraph_index(), v, body, behind)};
  Give(body, v.carried);
  g.inputs = {g.AddValue("run", DType::kI64, {}), g.AddValue("again", DType::kBool, {})};
  for (const auto* list : {&v.carried, &v.fixed})
    for (const size_t i : *list) {
      g.inputs.push_back(body.BodyInput(i));
      inputs.push_back(before[i]);
    }
  Attributes attributes;
  SetBody(attributes, "body", body);
  SetCaptures(attributes, v.fixed.size());
  const auto made = op.EmitAll("Loop", std::move(inputs), std::move(attributes), int(v.carried.size()));
  std::vector<ValueId> after = before;
  for (size_t i = 0; i < v.carried.size(); ++i) after[v.carried[i]] = made[i];
  for (size_t i = 0; i < count; ++i) op.OutRaw(int(i), Order::kFile, after[i]);
}

using Code = tflite::BuiltinOperator;

constexpr Row kControlRows[] = {
    {Code::IF, 1, -1, -1, If},
    {Code::WHILE, 1, -1, -1, While},
};

}  // namespace

std::span<const Row> ControlRows() { return kControlRows; }

}  // namespace mete::tflite_import
