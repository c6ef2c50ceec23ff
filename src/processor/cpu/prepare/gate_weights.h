// The weights and biases of LSTM, GRU and RNN in the order of their kernels (kernels/fast/recurrence).
#pragma once

#include <vector>

#include "kernels/fast/recurrence/recurrence.h"
#include "processor/cpu/prepare/packer.h"

namespace mete {

// Packs the rows of some gates of a matrix for each direction, so that its columns have the order of the
// plan. `gates`: those of the plan for this matrix.
Tensor PackGates(const RecurrencePlan& plan, const PackedGates& gates, const Tensor& weights, Packer& packer);

// The biases in the order of the plan: those that the products of the inputs begin with, and those of a GRU's
// hidden gate, which its reset gate scales.
struct GateBiases {
  std::vector<float> inputs, hidden;
};

// `b`: directions x 2 gates x hidden; null: no biases.
GateBiases BiasesOf(const RecurrencePlan& plan, int64_t directions, const Tensor* b);

// Returns an LSTM's peepholes in rows of padded_hidden(). `p`: directions x 3 gates x hidden; null: the
// result is empty.
std::vector<float> PeepholesOf(const RecurrencePlan& plan, int64_t directions, const Tensor* p);

}  // namespace mete
