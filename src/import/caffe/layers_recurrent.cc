// Conversions of recurrent layers, and of those that CRNNs have beside them: LSTM, ContinuationIndicator and
// Reverse.
#include <algorithm>
#include <limits>

#include "import/caffe/builder.h"

namespace mete::caffe_import {
namespace {

using mete::Ints;

// An LSTM of ONNX, and the sizes of its inputs: steps x sequences x features.
struct Sequences {
  ValueId x = kNoValue, weights = kNoValue, recurrence = kNoValue, biases = kNoValue;
  int64_t steps = 0, hidden = 0;
};

Attributes AxisOf(int64_t axis) {
  Attributes a;
  a.Set("axis", axis);
  return a;
}

// Caffe has the rows of the input, forget, output and cell gates, ONNX those of input, output, forget and
// cell. The result has the shape `shape`, which begins with the one direction and the rows.
ValueId InOrder(Layer& l, ValueId weights, const Shape& shape) {
  const int64_t row = shape.rank() == 3 ? shape[2] : 1;
  const ValueId gates = l.EmitReshape(weights, Shape{4, shape[1] / 4, row});
  const ValueId ordered = l.Emit("Gather", {gates, l.Ints("gates", Ints{0, 2, 1, 3})}, AxisOf(0));
  return l.EmitReshape(ordered, shape);
}

// The third bottom has features of each sequence as a whole, which every step sees behind its own.
void AddStillFeatures(Layer& l, Sequences& s) {
  const Shape in = l.shape(2);
  const int64_t sequences = l.ShapeOf(s.x)[1], rows = 4 * s.hidden;
  if (in.rank() < 2 || in[0] != sequences)
    l.Bad("the third bottom must have features of each sequence; got {}, expected {} rows", ToString(in),
          sequences);
  const int64_t features = in.Elements(1, in.rank());
  const ValueId of_sequence = in.rank() == 2 ? l.in(2) : l.EmitReshape(l.in(2), Shape{sequences, features});
  const ValueId once = l.Emit("Unsqueeze", {of_sequence, l.Ints("first", Ints{0})});
  const ValueId each = l.Emit("Tile", {once, l.Ints("times", Ints{s.steps, 1, 1})});
  s.x = l.Emit("Concat", {s.x, each}, AxisOf(2));
  const ValueId weights =
      InOrder(l, l.Weight(2, Shape{rows, features}, "still weights"), Shape{1, rows, features});
  s.weights = l.Emit("Concat", {s.weights, weights}, AxisOf(2));
}

Sequences SequencesOf(Layer& l) {
  Sequences s;
  const Shape in = l.shape();
  s.hidden = l.p.recurrent_param().num_output();
  constexpr int64_t kMost = 1 << 20;  // units, far above those of any network
  if (in.rank() < 3 || in[0] < 1) l.Bad("LSTM needs steps, sequences and features; got {}", ToString(in));
  if (s.hidden < 1 || s.hidden > kMost)
    l.Bad("num_output is out of range; got {}, expected 1 to {}", s.hidden, kMost);
  s.steps = in[0];
  s.x = in.rank() == 3 ? l.in() : l.Emit("Reshape", {l.in(), l.Ints("features", Ints{0, 0, -1})});
  const int64_t features = l.ShapeOf(s.x)[2], rows = 4 * s.hidden;
  s.weights = InOrder(l, l.Weight(0, Shape{rows, features}, "weights"), Shape{1, rows, features});
  const ValueId biases = InOrder(l, l.Weight(1, Shape{rows}, "biases"), Shape{1, rows});
  const bool still = l.bottoms() == 3;
  if (still) AddStillFeatures(l, s);
  s.recurrence =
      InOrder(l, l.Weight(still ? 3 : 2, Shape{rows, s.hidden}, "recurrence"), Shape{1, rows, s.hidden});
  const std::vector<float> none(static_cast<size_t>(rows));  // of the states
  s.biases = l.Emit("Concat", {biases, l.Floats("none", Shape{1, rows}, none)}, AxisOf(1));
  return s;
}

std::vector<ValueId> EmitLstm(Layer& l, const Sequences& s, ValueId x, ValueId state, ValueId cell) {
  std::vector<ValueId> inputs{x, s.weights, s.recurrence, s.biases};
  if (state != kNoValue) inputs.insert(inputs.end(), {kNoValue, state, cell});
  Attributes a;
  a.Set("hidden_size", s.hidden);
  return l.EmitAll("LSTM", std::move(inputs), std::move(a), 3);
}

// Whether each sequence goes on after the first step, as an indicator that is known now says.
bool GoesOn(Layer& l, ValueId indicator, int64_t steps) {
  if (!l.IsConstant(indicator) || l.ShapeOf(indicator).rank() != 2 || l.ShapeOf(indicator)[0] != steps)
    return false;
  const Tensor& t = l.ConstantOf(indicator);
  const int64_t sequences = t.elements() / steps;
  return std::all_of(t.as<float>() + sequences, t.as<float>() + t.elements(), [](float v) { return v == 1; });
}

// Each step is a node of its own, before which states and cells are multiplied by the indicator: 0 where
// another sequence begins.
ValueId StepByStep(Layer& l, const Sequences& s, ValueId indicator) {
  l.TakeSteps(s.steps);
  const Ints ones(size_t(s.steps), 1);
  const auto parts = [&](ValueId of) {
    return s.steps == 1 ? std::vector<ValueId>{of}
                        : l.EmitAll("Split", {of, l.Ints("steps", ones)}, AxisOf(0), int(s.steps));
  };
  const ValueId goes_on = l.Emit("Unsqueeze", {indicator, l.Ints("axes", Ints{2})});
  const std::vector<ValueId> x = parts(s.x), on = parts(goes_on);
  std::vector<ValueId> states;
  ValueId state = kNoValue, cell = kNoValue;
  for (size_t t = 0; t < x.size(); ++t) {
    if (t > 0) {
      state = l.Emit("Mul", {state, on[t]});
      cell = l.Emit("Mul", {cell, on[t]});
    }
    const auto out = EmitLstm(l, s, x[t], state, cell);
    state = out[1];
    cell = out[2];
    states.push_back(state);
  }
  return l.Emit("Concat", std::move(states), AxisOf(0));
}

// Bottoms are the inputs, for each step of each sequence 0 where another one begins, 1 elsewhere, and the
// features of whole sequences, if there are any. A run begins with states of zero, and not with those of the
// run before, as Caffe does where the first is 1.
void Lstm(Layer& l) {
  if (l.p.recurrent_param().expose_hidden())
    l.Bad("expose_hidden is not supported; got true, expected false; try the network as an ONNX file");
  if (l.bottoms() > 3 || l.tops() > 1)
    l.Bad(
        "an LSTM has states as bottoms and tops with expose_hidden alone; got {} bottoms and {} tops, "
        "expected 2 or 3 and 1",
        l.bottoms(), l.tops());
  const Sequences s = SequencesOf(l);
  const bool goes_on = GoesOn(l, l.in(1), s.steps);  // the number of its columns says nothing then
  if (!goes_on && l.shape(1) != Shape{s.steps, l.shape()[1]})
    l.Bad("the second bottom must tell of each step whether its sequence goes on; got {}, expected {}x{}",
          ToString(l.shape(1)), s.steps, l.shape()[1]);
  if (!goes_on) return l.SetTop(0, StepByStep(l, s, l.in(1)));
  const ValueId y = EmitLstm(l, s, s.x, kNoValue, kNoValue)[0];
  l.SetTop(0, l.Emit("Squeeze", {y, l.Ints("direction", Ints{1})}));
}

// 0 in the first step and 1 in the others, for each sequence. A bottom only tells where the layer runs.
void ContinuationIndicator(Layer& l) {
  const auto& p = l.p.continuation_indicator_param();
  const int64_t steps = p.time_step(), sequences = p.batch_size();
  if (steps < 1 || sequences < 1)
    l.Bad("time_step and batch_size must be from 1 on; got {} and {}", steps, sequences);
  const Shape shape{steps, sequences};
  l.TakeRoom("indicator", shape);
  std::vector<float> values(size_t(shape.Elements()), 1);
  std::fill_n(values.begin(), sequences, 0.0f);
  l.SetTop(0, l.Floats("indicator", shape, values));
}

void Reverse(Layer& l) {
  const int64_t axis = l.Axis(l.p.reverse_param().axis());
  const auto one = [&](const char* what, int64_t value) { return l.Ints(what, Ints{value}); };
  l.SetTop(0, l.Emit("Slice", {l.in(), one("last", -1), one("first", std::numeric_limits<int64_t>::min()),
                               one("axis", axis), one("step", -1)}));
}

constexpr LayerType kRecurrentLayers[] = {{"ContinuationIndicator", 0, 1, 1, ContinuationIndicator},
                                          {"LSTM", 2, 5, 3, Lstm},
                                          {"Reverse", 1, 1, 1, Reverse}};

}  // namespace

std::span<const LayerType> RecurrentLayers() { return kRecurrentLayers; }

}  // namespace mete::caffe_import
