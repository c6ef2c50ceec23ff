// One time step of an LSTM, a GRU or an RNN in f32: the product of the states with the recurrent weights, and
// the gates, which are applied to a tile of sums that is still in the first-level cache.
//
// The weights are packed in panels (kernels/fast/gemm). A panel has one vector of hidden units and, of each
// of them, the columns of all gates: [hidden][gate][lane]. Therefore a tile has all sums that a unit needs.
// The products of the inputs, which the caller computes for many steps at once, have their columns in the
// same order. Blocks of rows (sequences) x panels that do not overlap may run on any threads at once, and
// give the same bits as one large block. No kernel here allocates, starts a thread or throws.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/fast/gemm/gemm.h"

namespace mete {

// The gates are those of ONNX in their order: input, output, forget, cell; update, reset, hidden; one.
enum class RecurrentCell : uint8_t { kLstm, kGru, kRnn };

constexpr int64_t GatesOf(RecurrentCell cell) {
  return cell == RecurrentCell::kLstm ? 4 : cell == RecurrentCell::kGru ? 3 : 1;
}

struct RecurrenceCode;  // the code of one target

struct RecurrencePlan {
  RecurrentCell cell = RecurrentCell::kLstm;
  int64_t hidden = 0, lanes = 1, panels = 0;
  GemmPlan inputs, states;  // of the two products; that of the states packs its weights and computes nothing
  const RecurrenceCode* code = nullptr;

  int64_t gates() const { return GatesOf(cell); }
  int64_t padded_hidden() const { return panels * lanes; }
  int64_t columns() const { return padded_hidden() * gates(); }  // those of the padding included
  // Returns the row of the model's weights that is packed as this column, or -1 for the padding behind the
  // last unit, whose weights must be zero.
  int64_t RowOf(int64_t column) const {
    const int64_t width = gates() * lanes, unit = column / width * lanes + column % lanes;
    return unit < hidden ? column % width / lanes * hidden + unit : -1;
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
  float* c;        // of an LSTM: padded_hidden() elements, which the step replaces
};

// Computes the step for all rows and the units of some panels. `packed` has the weights of `plan.states`.
// `hidden_bias` has, for a GRU, padded_hidden() elements: what is added to the product of the hidden gate
// before the reset gate scales it.
void RunRecurrentStep(const RecurrencePlan& plan, const float* packed, const float* hidden_bias,
                      std::span<const RecurrentRow> rows, Range panels);

}  // namespace mete
