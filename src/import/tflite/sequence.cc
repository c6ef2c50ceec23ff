// Conversions of LSTMs and RNNs over a sequence, in one direction or in both. The gates of an LSTM are the
// input, forget, cell and output gate, in this order.
#include "import/tflite/builder.h"

namespace mete::tflite_import {
namespace {

// Where the inputs of one direction begin.
struct Places {
  int weights, of_state, peepholes, biases, projection, states;
};
constexpr Places kForward = {1, 5, 9, 12, 16, 18}, kForwardOfBoth = {1, 5, 9, 12, 16, 35},
                 kBackward = {18, 22, 26, 29, 33, 37};
constexpr int kNorms = 20, kOtherInput = 39;

// The operands of ONNX's operator in one direction. Peepholes may be left out.
struct Cell {
  ValueId weights, of_state, biases, peepholes = kNoValue;
};

struct Sequence {
  const char* onnx;
  std::vector<Cell> cells;  // of each direction
  tflite::Activation activation;
  int functions;  // that are the activation, behind the gates' Sigmoid if there are several
  bool time_major, merges;
};

bool HasAny(const Op& op, int first, int count) {
  for (int i = first; i < first + count; ++i)
    if (op.has(i)) return true;
  return false;
}

// A state that is no variable would not begin with zeros.
void CheckStates(const Op& op, int first, int count) {
  for (int i = first; i < first + count; ++i)
    if (op.has(i) && op.info(i).unsupported.empty()) op.Unsupported("its state is no variable");
}

void CheckClips(const Op& op, float cell, float projection) {
  if (cell != 0 || projection != 0) op.Unsupported("it clips its state");
}

void CheckCell(const Op& op, const Places& at) {
  if (HasAny(op, at.projection, 2)) op.Unsupported("it has a projection");
  if (op.info(at.biases + 1).type != DType::kF32) op.Unsupported("it computes with integers");
  const bool gate = op.has(at.weights), peeps = HasAny(op, at.peepholes, 3);
  if (op.has(at.of_state) != gate || op.has(at.biases) != gate || (peeps && op.has(at.peepholes) != gate))
    op.Bad("some inputs of its input gate are left out; expected all or none");
  CheckStates(op, at.states, 2);
}

// Joins what the gates have, from input `first` on. Without an input gate, that is one less the forget gate,
// 1 - sigmoid(z) = sigmoid(-z). ONNX has the output gate second, and no cell gate among the peepholes.
ValueId Gates(const Op& op, int first, int gates) {
  const ValueId forget = op.in(first + 1), output = op.in(first + gates - 1);
  std::vector<ValueId> joined = {op.has(first) ? op.in(first) : op.Emit("Neg", {forget}), output, forget};
  if (gates == 4) joined.push_back(op.in(first + 2));
  return op.Emit("Concat", std::move(joined), AxisOf(0));
}

Cell LstmCell(const Op& op, const Places& at) {
  CheckCell(op, at);
  return {Gates(op, at.weights, 4), Gates(op, at.of_state, 4), Gates(op, at.biases, 4),
          HasAny(op, at.peepholes, 3) ? Gates(op, at.peepholes, 3) : kNoValue};
}

std::string FunctionOf(const Op& op, tflite::Activation activation) {
  switch (activation) {
    case tflite::Activation::NONE: return "Affine";  // x, as ONNX has it without other numbers
    case tflite::Activation::RELU: return "Relu";
    case tflite::Activation::TANH: return "Tanh";
    default: op.Unsupported(fmt::format("its activation is number {}", int(activation)));
  }
}

Attributes AttributesOf(const Op& op, const Sequence& s, int64_t hidden) {
  Attributes a;
  a.Set("hidden_size", hidden);
  if (s.cells.size() == 2) a.Set("direction", std::string("bidirectional"));
  Strings functions;
  for (size_t i = 0; i < s.cells.size(); ++i) {
    if (s.functions > 1) functions.push_back("Sigmoid");
    functions.insert(functions.end(), size_t(s.functions), FunctionOf(op, s.activation));
  }
  a.Set("activations", std::move(functions));
  return a;
}

// Joins one operand of all directions, whose dimensions are `shape`.
ValueId Stacked(const Op& op, const Sequence& s, ValueId Cell::*operand, Shape shape) {
  Shape one{1};
  for (int64_t d : shape) one.push_back(d);
  std::vector<ValueId> parts;
  for (const Cell& cell : s.cells) parts.push_back(op.Reshape(cell.*operand, one));
  return parts.size() == 1 ? parts[0] : op.Emit("Concat", std::move(parts), AxisOf(0));
}

// Returns the operands of ONNX's operator: the sequence, weights, biases and, where there are any, peepholes.
std::vector<ValueId> Operands(const Op& op, const Sequence& s, ValueId x) {
  const Cell& first = s.cells[0];
  const Shape of_x = op.ShapeOf(x), w = op.ShapeOf(first.weights), r = op.ShapeOf(first.of_state),
              b = op.ShapeOf(first.biases);
  if (of_x.rank() != 3 || w.rank() != 2 || r.rank() != 2 || b.rank() != 1 || b[0] != w[0] || b[0] != r[0] ||
      r[1] < 1 || b[0] % r[1] != 0)
    op.Bad("weights do not fit; got {}, {} and {} for {}", ToString(w), ToString(r), ToString(b),
           ToString(of_x));
  for (const Cell& cell : s.cells)
    if (op.ShapeOf(cell.weights) != w || op.ShapeOf(cell.of_state) != r || op.ShapeOf(cell.biases) != b ||
        (cell.peepholes == kNoValue) != (first.peepholes == kNoValue))
      op.Unsupported("its directions differ in size or form");
  const ValueId zeros = op.Filled(op.Scalar(0), Shape{int64_t(s.cells.size()), b[0]});  // of the state
  const ValueId biases = op.Emit("Concat", {Stacked(op, s, &Cell::biases, b), zeros}, AxisOf(1));
  std::vector<ValueId> operands = {x, Stacked(op, s, &Cell::weights, w), Stacked(op, s, &Cell::of_state, r),
                                   biases};
  if (first.peepholes == kNoValue) return operands;
  operands.insert(operands.end(), 3, kNoValue);  // lengths of sequences and first states
  operands.push_back(Stacked(op, s, &Cell::peepholes, op.ShapeOf(first.peepholes)));
  return operands;
}

void Convert(const Op& op, const Sequence& s) {
  if (op.shape().rank() != 3) op.Bad("{} needs 3 dimensions; got {}", op.kind(), ToString(op.shape()));
  const ValueId x = s.time_major ? op.in() : op.Transpose(op.in(), {1, 0, 2});
  const Shape of_x = op.ShapeOf(x);
  std::vector<ValueId> operands = Operands(op, s, x);
  const int64_t hidden = op.ShapeOf(s.cells[0].of_state)[1], directions = int64_t(s.cells.size());
  const ValueId y = op.Emit(s.onnx, std::move(operands), AttributesOf(op, s, hidden));
  op.Note("its state is zero at the start of each run");
  const auto put = [&](int i, ValueId steps, int64_t width) {
    const ValueId plain = op.Reshape(steps, {of_x[0], of_x[1], width});
    op.Out(i, Order::kFile, s.time_major ? plain : op.Transpose(plain, {1, 0, 2}));
  };
  if (directions == 1) return put(0, y, hidden);
  if (s.merges) return put(0, op.Transpose(y, {0, 2, 1, 3}), directions * hidden);
  const auto parts =
      op.EmitAll("Split", {y, op.Ints(Ints(size_t(directions), 1))}, AxisOf(1), int(directions));
  for (int i = 0; i < int(directions); ++i) put(i, parts[size_t(i)], hidden);
}

void SequenceLstm(Op& op) {
  const auto& o = op.Need<tflite::UnidirectionalSequenceLSTMOptions>();
  CheckClips(op, o.cell_clip(), o.proj_clip());
  if (o.diagonal_recurrent_tensors()) op.Unsupported("the weights of its state are diagonals");
  if (HasAny(op, kNorms, 4)) op.Unsupported("it normalizes its gates");
  Convert(op, {"LSTM", {LstmCell(op, kForward)}, o.activation(), 2, o.time_major(), true});
}

void BothWaysLstm(Op& op) {
  const auto& o = op.Need<tflite::BidirectionalSequenceLSTMOptions>();
  CheckClips(op, o.cell_clip(), o.proj_clip());
  if (HasAny(op, kOtherInput, 9)) op.Unsupported("it has an auxiliary input");
  Convert(op, {"LSTM",
               {LstmCell(op, kForwardOfBoth), LstmCell(op, kBackward)},
               o.activation(),
               2,
               o.time_major(),
               o.merge_outputs()});
}

// The weights, those of the state and the biases are three inputs in a row, behind which the state is.
Cell RnnCell(const Op& op, int first) {
  CheckStates(op, first + 3, 1);
  return {op.in(first), op.in(first + 1), op.in(first + 2)};
}

void SequenceRnn(Op& op) {
  const auto& o = op.Need<tflite::SequenceRNNOptions>();
  Convert(op, {"RNN", {RnnCell(op, 1)}, o.activation(), 1, o.time_major(), true});
}

void BothWaysRnn(Op& op) {
  const auto& o = op.Need<tflite::BidirectionalSequenceRNNOptions>();
  if (HasAny(op, 9, 3)) op.Unsupported("it has an auxiliary input");
  Convert(op,
          {"RNN", {RnnCell(op, 1), RnnCell(op, 5)}, o.activation(), 1, o.time_major(), o.merge_outputs()});
}

using Code = tflite::BuiltinOperator;

constexpr Row kSequenceRows[] = {
    {Code::BIDIRECTIONAL_SEQUENCE_LSTM, 39, 48, 2, BothWaysLstm},
    {Code::BIDIRECTIONAL_SEQUENCE_RNN, 9, 12, 2, BothWaysRnn},
    {Code::UNIDIRECTIONAL_SEQUENCE_LSTM, 20, 24, 1, SequenceLstm},
    {Code::UNIDIRECTIONAL_SEQUENCE_RNN, 5, 5, 1, SequenceRnn},
};

}  // namespace

std::span<const Row> SequenceRows() { return kSequenceRows; }

}  // namespace mete::tflite_import
