// Selects the LSTMs, GRUs and RNNs that the fast kernels compute, and describes each in their terms. As in
// dispatch/products.h, the result never depends on the machine.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "dispatch/products.h"
#include "graph/graph.h"
#include "kernels/fast/recurrence/recurrence.h"

namespace mete {

// `batch` sequences of `length` steps, in one direction or in two.
struct Recurrence {
  RecurrentCell cell = RecurrentCell::kLstm;
  int64_t length = 0, batch = 0, inputs = 0, hidden = 0;
  int64_t directions = 1;
  bool reverse = false;      // the first direction runs backwards
  bool batch_first = false;  // a sequence's steps lie one after another (layout 1)
  bool usual = true;         // the rules are ONNX's defaults, and no gate sees the cell (peepholes)
  std::array<RecurrentRules, 2> rules;  // of each direction

  bool constant = true;                  // all weights and biases are; otherwise they are packed in each run
  Precision operands = Precision::kF32;  // that they may be rounded to (graph/fused.h, 10)

  std::string kernel() const;  // by the precision in which this processor computes it
};

// The precisions in which this processor computes the products of a node: those of the inputs of many steps,
// and those of the states, which read their weights again in each step.
struct RecurrentPrecisions {
  Precision inputs = Precision::kF32, states = Precision::kF32;

  Precision lower() const { return states != Precision::kF32 ? states : inputs; }
};
RecurrentPrecisions PrecisionsOf(const Recurrence& recurrence);

// Returns the multiply-adds of all sequences.
inline int64_t MultiplyAdds(const Recurrence& r) {
  return r.directions * r.batch * r.length * GatesOf(r.cell) * r.hidden * (r.inputs + r.hidden);
}

// Returns the work of an LSTM, GRU or RNN. Returns nothing if only the reference kernel can compute it; `why`
// then receives the reason.
std::optional<Recurrence> RecurrenceOf(const Graph& graph, const Node& node, std::string* why);

}  // namespace mete
