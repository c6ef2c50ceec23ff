// Conversion of an LSTM over a sequence. Inputs 1 to 4 are the weights of the input, forget, cell and output
// gates, 5 to 8 those of the state, and 12 to 15 the biases.
#include "import/tflite/builder.h"

namespace mete::tflite_import {
namespace {

constexpr int kWeights = 1, kOfState = 5, kPeepholes = 9, kBiases = 12, kProjection = 16, kNorms = 20;

void CheckSupported(const Op& op, const tflite::UnidirectionalSequenceLSTMOptions& o) {
  const auto has_any = [&](int first, int count) {
    for (int i = first; i < first + count; ++i)
      if (op.has(i)) return true;
    return false;
  };
  if (o.activation() != tflite::Activation::TANH) op.Unsupported("its activation is not TANH");
  if (o.cell_clip() != 0 || o.proj_clip() != 0) op.Unsupported("it clips its state");
  if (!op.has(kWeights) || !op.has(kOfState)) op.Unsupported("it has no input gate");
  if (has_any(kPeepholes, 3)) op.Unsupported("it has peepholes");
  if (has_any(kProjection, 2)) op.Unsupported("it has a projection");
  if (has_any(kNorms, 4)) op.Unsupported("it normalizes its gates");
  if (op.info(kBiases).type != DType::kF32) op.Unsupported("it computes with integers");
}

// Joins four inputs, of which ONNX has the output gate second.
ValueId Gates(const Op& op, int first) {
  Attributes a;
  a.Set("axis", int64_t{0});
  return op.Emit("Concat", {op.in(first), op.in(first + 3), op.in(first + 1), op.in(first + 2)},
                 std::move(a));
}

void SequenceLstm(Op& op) {
  const auto& o = op.Need<tflite::UnidirectionalSequenceLSTMOptions>();
  CheckSupported(op, o);
  const ValueId x = o.time_major() ? op.in() : op.Transpose(op.in(), {1, 0, 2});
  const ValueId w = Gates(op, kWeights), r = Gates(op, kOfState), b = Gates(op, kBiases);
  const Shape of_x = op.ShapeOf(x), of_w = op.ShapeOf(w), of_r = op.ShapeOf(r), of_b = op.ShapeOf(b);
  if (of_x.rank() != 3 || of_w.rank() != 2 || of_r.rank() != 2 || of_b.rank() != 1 || of_b[0] != 4 * of_r[1])
    op.Bad("weights do not fit; got {}, {} and {} for {}", ToString(of_w), ToString(of_r), ToString(of_b),
           ToString(of_x));
  Attributes axis;
  axis.Set("axis", int64_t{0});
  const ValueId zeros = op.Filled(op.Scalar(0), of_b);
  const ValueId biases = op.Emit("Concat", {b, zeros}, std::move(axis));
  Attributes a;
  a.Set("hidden_size", of_r[1]);
  const ValueId y = op.Emit("LSTM",
                            {x, op.Reshape(w, {1, of_w[0], of_w[1]}), op.Reshape(r, {1, of_r[0], of_r[1]}),
                             op.Reshape(biases, {1, 2 * of_b[0]})},
                            std::move(a));
  const ValueId steps = op.Reshape(y, {of_x[0], of_x[1], of_r[1]});
  op.Note("its state is zero at the start of each run");
  op.Out(0, Order::kFile, o.time_major() ? steps : op.Transpose(steps, {1, 0, 2}));
}

constexpr Row kRows[] = {
    {tflite::BuiltinOperator::UNIDIRECTIONAL_SEQUENCE_LSTM, 20, 24, 1, SequenceLstm},
};

}  // namespace

std::span<const Row> SequenceRows() { return kRows; }

}  // namespace mete::tflite_import
