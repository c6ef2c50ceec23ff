// One time step of an LSTM, a GRU or an RNN in f32: the product of the states with the recurrent weights, and
// the gates, which are applied to a tile of sums that is still in the first-level cache.
//
// The weights are packed in panels (kernels/fast/gemm). A panel has one vector of hidden units and, of each
// of them, the columns of all gates: [hidden][gate][lane]. Therefore a tile has all sums that a unit needs.
// The products of the inputs, which the caller computes for many steps at once, have their columns in the
// same order. A GRU whose reset gate scales the states before their product needs the reset gates of all
// units for each hidden gate, so that its step has two passes, each with the weights of its own gates.
//
// Blocks of rows (sequences) x panels that do not overlap may run on any threads at once, and give the same
// bits as one large block. No kernel here allocates, starts a thread or throws.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/recurrent.h"
#include "kernels/fast/gemm/gemm.h"

namespace mete {

// The gates are those of ONNX in their order: input, output, forget, cell; update, reset, hidden; one. The
// reset gate scales the product of the states (kGru, linear_before_reset), or the states (kGruResetFirst).
enum class RecurrentCell : uint8_t { kLstm, kGru, kGruResetFirst, kRnn };

constexpr int64_t GatesOf(RecurrentCell cell) {
  return cell == RecurrentCell::kLstm ? 4 : cell == RecurrentCell::kRnn ? 1 : 3;
}

struct RecurrenceCode;  // the code of one target

// Gates whose columns are packed together, and the product with these weights.
struct PackedGates {
  int64_t first = 0, count = 0;  // in the order of the cell's gates
  int64_t hidden = 0, lanes = 1;
  GemmPlan gemm;

  int64_t columns() const { return gemm.n; }  // those of the padding included
  // Returns the row of the model's weights that is packed as this column, or -1 for the padding behind the
  // last unit, whose weights must be zero.
  int64_t RowOf(int64_t column) const {
    const int64_t width = count * lanes, unit = column / width * lanes + column % lanes;
    return unit < hidden ? (first + column % width / lanes) * hidden + unit : -1;
  }
};

struct RecurrencePlan {
  RecurrentCell cell = RecurrentCell::kLstm;
  int64_t hidden = 0, lanes = 1, panels = 0;
  PackedGates inputs;                 // all gates
  std::array<PackedGates, 2> states;  // of each pass; their products pack weights and compute nothing
  const RecurrenceCode* code = nullptr;

  int64_t gates() const { return GatesOf(cell); }
  int64_t padded_hidden() const { return panels * lanes; }
  int64_t columns() const { return inputs.columns(); }
  int64_t passes() const { return cell == RecurrentCell::kGruResetFirst ? 2 : 1; }
  // Returns the elements of RecurrentRow::inner.
  int64_t inner() const {
    return cell == RecurrentCell::kLstm ? padded_hidden() : passes() == 2 ? 2 * padded_hidden() : 0;
  }
};

// Requires inputs > 0 and hidden > 0.
RecurrencePlan PlanRecurrence(RecurrentCell cell, int64_t inputs, int64_t hidden);

const char* TargetOf(const RecurrencePlan& plan);

// A sequence at one time step.
struct RecurrentRow {
  const float* x;  // columns() sums: the product of the input, with the bias
  const float* h;  // the state before the step
  float* next;     // the state behind it; must not be h
  // An LSTM's cells, which the step replaces; what the first pass of a kGruResetFirst hands to the second
  // one.
  float* inner;
  // The product of the states with the weights of the pass, in the order of their columns, where the caller
  // has computed it.
  const float* sums = nullptr;
};

// What the gates of one direction do with their sums.
struct RecurrentRules {
  std::array<RecurrentFunction, RecurrentSpec::kMaxFunctions> functions{};  // in ONNX's order
  float clip = 0;             // the sums are clamped to [-clip, clip]; 0: they are not
  bool input_forget = false;  // of an LSTM: the forget gate is 1 - the input gate
};

// The weights of a pass, those of one direction.
struct RecurrentWeights {
  // Of plan.states[pass]; null: the rows have their sums, and the step applies the gates alone.
  const float* packed;
  const float* hidden_bias;  // of kGru: padded_hidden() elements, added to a product before it is scaled
  const RecurrentRules* rules = nullptr;  // null: ONNX's defaults, without peepholes
  // Of an LSTM: padded_hidden() elements each of the input, output and forget gate, by which the cells are
  // multiplied for its sum. Or null.
  const float* peepholes = nullptr;
};

// Computes a pass of the step for all rows and the units of some panels. The second pass reads what the first
// one has computed for the rows, of all panels.
void RunRecurrentStep(const RecurrencePlan& plan, int64_t pass, const RecurrentWeights& weights,
                      std::span<const RecurrentRow> rows, Range panels);

}  // namespace mete
