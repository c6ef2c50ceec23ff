// The weights and biases of LSTM, GRU and RNN in the order of their kernels (kernels/fast/recurrence).
#pragma once

#include <vector>

#include "kernels/fast/recurrence/recurrence.h"
#include "processor/cpu/prepare/gate_kernel.h"
#include "processor/cpu/prepare/packer.h"

namespace mete {

// A matrix of the model, of one or two directions: its rows are the units of all gates.
struct GateMatrix {
  const Tensor* constant = nullptr;  // which may have a source
  const float* computed = nullptr;   // where it is no constant
  int64_t directions = 1, rows = 0, k = 0;

  void Read(int64_t first, int64_t count, float* to) const;
};

// Packs some panels, which are numbered direction by direction, so that the columns have the order of
// `gates`. `buffer` has kernel.MostColumns() * k elements.
void PackGatePanels(const PackedGates& gates, const GateKernel& kernel, const GateMatrix& matrix,
                    Range panels, float* buffer, std::byte* packed);

// Packs a constant matrix. `gates`: those of the plan for this matrix.
Tensor PackGates(const RecurrencePlan& plan, const PackedGates& gates, const GateKernel& kernel,
                 const Tensor& weights, Packer& packer);

// The biases in the order of the plan: those that the products of the inputs begin with, and those of a GRU's
// hidden gate, which its reset gate scales.
struct GateBiases {
  std::vector<float> inputs, hidden;
};

// Returns biases of zero.
GateBiases NoBiases(const RecurrencePlan& plan, int64_t directions);

// `values`: directions x 2 gates x hidden.
void SetBiases(const RecurrencePlan& plan, int64_t directions, const float* values, GateBiases& biases);

// Returns an LSTM's peepholes, which are zero, in rows of padded_hidden().
std::vector<float> NoPeepholes(const RecurrencePlan& plan, int64_t directions);

// `values`: directions x 3 gates x hidden.
void SetPeepholes(const RecurrencePlan& plan, int64_t directions, const float* values,
                  std::vector<float>& peepholes);

}  // namespace mete
