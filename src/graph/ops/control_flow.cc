// Shape inference of If, Loop and Scan: that of their bodies. A shape that hangs on which branch is taken, on
// how often a body runs, or on the size that a value has grown to, is unknown until then.
#include <algorithm>
#include <optional>

#include "base/dimensions.h"
#include "graph/bodies.h"
#include "graph/ops/check.h"

namespace mete {
namespace {

GraphPtr BodyOf(const InferContext& c, std::string_view name, size_t inputs) {
  const GraphPtr body = c.attributes.GraphOf(name);
  if (!body) c.Bad("{} is missing; expected a graph", name);
  if (body->inputs.size() != inputs)
    c.Bad("{} has the wrong number of inputs; got {}, expected {}", name,
          int64_t(body->inputs.size()) - int64_t(CapturesOf(c.attributes)),
          int64_t(inputs) - int64_t(CapturesOf(c.attributes)));
  return body;
}

// Input i. Its view has no data if only a run knows them.
ConstView InputOf(const InferContext& c, int i) {
  ConstView view = c.data(i);
  if (!c.has_data(i)) view.data = nullptr;
  return view;
}

std::vector<ConstView> CapturesOf(const InferContext& c, std::vector<ConstView> parameters) {
  for (int i = c.inputs() - int(CapturesOf(c.attributes)); i < c.inputs(); ++i)
    parameters.push_back(InputOf(c, i));
  return parameters;
}

ConstView ScalarLike(const Graph& body, size_t input, DType type) {
  const Shape& declared = body.value(body.inputs[input]).shape;
  return {nullptr, type, declared.known() && declared.rank() == 1 ? Shape{1} : Shape{}};
}

const Value& OutputOf(const Graph& body, size_t i) { return body.value(body.outputs[i]); }

void NeedFlag(const InferContext& c, int i, TypeSet types) {
  NeedType(c, i, types);
  if (c.shape(i).Elements() != 1) c.Bad("input {} must have one element; got {}", i, ToString(c.shape(i)));
}

// The types and shapes of the outputs of the branches that may be taken. A branch that does not take such
// inputs is one that will not be taken, as exporters write an If around a Squeeze; what it gives is unknown.
std::vector<Graph> InferBranches(const InferContext& c, std::span<const ConstView> captures) {
  std::vector<Graph> inferred;
  std::optional<Error> error;
  const auto names = BodyNames("If");
  for (size_t i = 0; i < names.size(); ++i) {
    const GraphPtr body = BodyOf(c, names[i], captures.size());
    if (int(body->outputs.size()) < c.outputs())
      c.Bad("{} has too few outputs; got {}, expected {}", names[i], body->outputs.size(), c.outputs());
    const bool not_taken = c.has_data(0) && (*c.data(0).as<uint8_t>() != 0) != (i == 0);
    if (not_taken) continue;
    try {
      inferred.push_back(WithInputs(*body, captures));
    } catch (const Error& e) {
      error = e;
    }
  }
  if (inferred.empty() && error) throw *error;
  return inferred;
}

void InferIf(InferContext& c) {
  NeedFlag(c, 0, kBoolType);
  const std::vector<Graph> branches = InferBranches(c, CapturesOf(c, {}));
  for (int i = 0; i < c.outputs(); ++i) {
    const Value& a = OutputOf(branches.front(), size_t(i));
    const Value& b = OutputOf(branches.back(), size_t(i));
    if (a.type != b.type && a.type != DType::kUnknown && b.type != DType::kUnknown)
      c.Bad("the branches give output {} different types; got {} and {}", i, Name(a.type), Name(b.type));
    const DType type = a.type == DType::kUnknown ? b.type : a.type;
    const bool only = c.has_data(0) || branches.size() > 1;
    if (only && a.shape == b.shape && type != DType::kUnknown) c.Output(i, type, a.shape);
    else c.OutputUnknown(i, type);
  }
}

// Infers a body that hands `carried` values from one run to the next, from parameter `first` and output
// `first_out` on: a value whose shape changes has none that is known. Returns the body with its shapes.
Graph InferCarried(const InferContext& c, const Graph& body, std::vector<ConstView> inputs, size_t first,
                   size_t first_out, size_t carried) {
  for (;;) {
    Graph inferred = WithInputs(body, inputs);
    bool changed = false;
    for (size_t i = 0; i < carried; ++i) {
      ConstView& in = inputs[first + i];
      const Value& out = OutputOf(inferred, first_out + i);
      if (out.type != in.type && out.type != DType::kUnknown)
        c.Bad("the body changes the type of its value '{}'; got {}, expected {}",
              body.value(body.inputs[first + i]).name, Name(out.type), Name(in.type));
      if (!in.shape.known() || out.shape == in.shape) continue;
      in.shape = Shape::Unknown();
      changed = true;
    }
    if (!changed) return inferred;
  }
}

void OutputCarried(InferContext& c, const Graph& inferred, size_t first_out, size_t carried, int first_in) {
  for (size_t i = 0; i < carried; ++i) {
    const Value& out = OutputOf(inferred, first_out + i);
    const bool same = out.shape == c.shape(first_in + int(i));
    c.Output(int(i), c.type(first_in + int(i)), same ? out.shape : Shape::Unknown());
  }
}

// Inputs: the most runs, the condition, the values that are carried. The body gets the number of the run, the
// condition and these values; it gives the condition of the next run, the values, and one element of each of
// the scan outputs.
void InferLoop(InferContext& c) {
  const int captures = int(CapturesOf(c.attributes)), carried = c.inputs() - 2 - captures;
  if (carried < 0) c.Bad("has too few inputs; got {}, expected at least {}", c.inputs(), 2 + captures);
  if (c.has(0)) NeedFlag(c, 0, TypeBit(DType::kI64));
  if (c.has(1)) NeedFlag(c, 1, kBoolType);
  const GraphPtr body = BodyOf(c, "body", size_t(c.inputs()));
  const int scans = int(body->outputs.size()) - 1 - carried;
  if (scans < 0 || c.outputs() > carried + scans)
    c.Bad("body has too few outputs; got {}, expected at least {}", body->outputs.size(),
          1 + std::max(carried, c.outputs()));
  std::vector<ConstView> inputs{ScalarLike(*body, 0, DType::kI64), ScalarLike(*body, 1, DType::kBool)};
  for (int i = 0; i < carried; ++i) {
    inputs.push_back(InputOf(c, 2 + i));
    inputs.back().data = nullptr;
  }
  const Graph inferred = InferCarried(c, *body, CapturesOf(c, std::move(inputs)), 2, 1, size_t(carried));
  OutputCarried(c, inferred, 1, size_t(carried), 2);
  for (int i = 0; i < scans; ++i)
    c.OutputUnknown(carried + i, OutputOf(inferred, size_t(1 + carried + i)).type);
}

int64_t AxisAttribute(const InferContext& c, std::string_view name, size_t i) {
  const Ints& axes = c.attributes.IntList(name);
  return i < axes.size() ? axes[i] : 0;
}

// Inputs: the states, then the values that are taken apart along an axis.
void InferScan(InferContext& c) {
  const int captures = int(CapturesOf(c.attributes)), own = c.inputs() - captures;
  const int64_t scanned = c.attributes.Int("num_scan_inputs", 0);
  if (scanned < 1 || scanned > own)
    c.Bad("num_scan_inputs is out of range; got {}, expected 1 to {}", scanned, own);
  const int states = own - int(scanned);
  const GraphPtr body = BodyOf(c, "body", size_t(c.inputs()));
  const int scans = int(body->outputs.size()) - states;
  if (scans < 0 || c.outputs() > states + scans)
    c.Bad("body has too few outputs; got {}, expected at least {}", body->outputs.size(),
          std::max(states, c.outputs()));
  int64_t length = -1;
  std::vector<ConstView> inputs;
  for (int i = 0; i < own; ++i) {
    ConstView view = InputOf(c, i);
    view.data = nullptr;
    if (i >= states) {
      c.NeedRank(i, 1);
      const int axis = c.Axis(AxisAttribute(c, "scan_input_axes", size_t(i - states)), view.shape.rank());
      if (length >= 0 && view.shape[axis] != length)
        c.Bad("the scanned inputs differ in length; got {} and {}", length, view.shape[axis]);
      length = view.shape[axis];
      view.shape = WithoutDimension(view.shape, axis);
    }
    inputs.push_back(view);
  }
  const Graph inferred = InferCarried(c, *body, CapturesOf(c, std::move(inputs)), 0, 0, size_t(states));
  OutputCarried(c, inferred, 0, size_t(states), 0);
  for (int i = 0; i < scans; ++i) {
    const Value& out = OutputOf(inferred, size_t(states + i));
    if (!out.shape.known()) {
      c.OutputUnknown(states + i, out.type);
      continue;
    }
    const int axis = c.Axis(AxisAttribute(c, "scan_output_axes", size_t(i)), out.shape.rank() + 1);
    c.Output(states + i, out.type, WithDimension(out.shape, axis, length));
  }
}

// No value of a graph is a sequence or optional: the pass `fold` replaces what it can of these operators
// (passes/inline_sequences.h), and no kernel computes the others.
void InferSequence(InferContext&) {}

}  // namespace

std::span<const OpSchema> ControlFlowOperators() {
  static constexpr OpSchema kControlFlowOperators[] = {
      {"ConcatFromSequence", 1, 1, 1, InferSequence, Narrow({})},
      {"If", 1, -1, -1, InferIf, Narrow({})},
      {"Loop", 0, -1, -1, InferLoop, Narrow({})},
      {"Optional", 0, 1, 1, InferSequence, Narrow({})},
      {"OptionalGetElement", 1, 1, 1, InferSequence, Narrow({})},
      {"OptionalHasElement", 0, 1, 1, InferSequence, Narrow({})},
      {"Scan", 1, -1, -1, InferScan, Narrow({})},
      {"SequenceAt", 2, 2, 1, InferSequence, Narrow({})},
      {"SequenceConstruct", 1, -1, 1, InferSequence, Narrow({})},
      {"SequenceEmpty", 0, 0, 1, InferSequence, Narrow({})},
      {"SequenceErase", 1, 2, 1, InferSequence, Narrow({})},
      {"SequenceInsert", 2, 3, 1, InferSequence, Narrow({})},
      {"SequenceLength", 1, 1, 1, InferSequence, Narrow({})},
      {"SplitToSequence", 1, 2, 1, InferSequence, Narrow({})},
  };
  return kControlFlowOperators;
}

}  // namespace mete
