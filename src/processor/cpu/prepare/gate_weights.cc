#include "processor/cpu/prepare/gate_weights.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/tensor_source.h"

namespace mete {

void GateMatrix::Read(int64_t first, int64_t count, float* to) const {
  if (constant) ReadElements(*constant, first, count, to);
  else std::copy_n(computed + first, count, to);
}

void PackGatePanels(const PackedGates& gates, const GateKernel& kernel, const GateMatrix& matrix,
                    Range panels, float* buffer, std::byte* packed) {
  for (int64_t i = panels.begin; i < panels.end; ++i) {
    const int64_t direction = i / kernel.panels(), panel = i % kernel.panels();
    const Range columns = kernel.Columns(panel);
    for (int64_t c = 0; c < columns.size(); ++c) {
      const int64_t row = gates.RowOf(columns.begin + c);
      float* column = buffer + c * matrix.k;
      if (row < 0) std::fill_n(column, matrix.k, 0.0f);
      else matrix.Read((direction * matrix.rows + row) * matrix.k, matrix.k, column);
    }
    kernel.Pack(buffer, panel, packed + direction * kernel.packed_bytes());
  }
}

Tensor PackGates(const RecurrencePlan& plan, const PackedGates& gates, const GateKernel& kernel,
                 const Tensor& weights, Packer& packer) {
  const GateMatrix matrix{&weights, nullptr, weights.shape()[0], weights.shape()[1], weights.shape()[2]};
  const std::string what =
      fmt::format("{}, {} of {} gates of {} units from {} on, {} directions, k {}, {} panels in {}",
                  kernel.target(), gates.count, plan.gates(), plan.hidden, gates.first, matrix.directions,
                  matrix.k, kernel.panels(), Name(kernel.precision()));
  const auto fill = [&](Range panels, float* packed) {
    std::vector<float> buffer(size_t(kernel.MostColumns() * matrix.k));
    PackGatePanels(gates, kernel, matrix, panels, buffer.data(), reinterpret_cast<std::byte*>(packed));
  };
  Tensor packed = packer.Pack(what, weights, matrix.directions * kernel.packed_bytes(),
                              matrix.directions * kernel.panels(), fill);
  ReleasePagesOf(weights);
  return packed;
}

GateBiases NoBiases(const RecurrencePlan& plan, int64_t directions) {
  return {std::vector<float>(size_t(directions * plan.columns())),
          std::vector<float>(size_t(directions * plan.padded_hidden()))};
}

void SetBiases(const RecurrencePlan& plan, int64_t directions, const float* values, GateBiases& biases) {
  const int64_t rows = plan.gates() * plan.hidden;
  const bool scaled = plan.cell == RecurrentCell::kGru;
  for (int64_t d = 0; d < directions; ++d) {
    const float *of_input = values + 2 * d * rows, *of_state = of_input + rows;
    for (int64_t column = 0; column < plan.columns(); ++column) {
      const int64_t row = plan.inputs.RowOf(column);
      if (row < 0) continue;
      const int64_t unit = row - 2 * plan.hidden;
      float& bias = biases.inputs[size_t(d * plan.columns() + column)];
      bias = of_input[row];
      if (scaled && unit >= 0) biases.hidden[size_t(d * plan.padded_hidden() + unit)] = of_state[row];
      else bias += of_state[row];
    }
  }
}

std::vector<float> NoPeepholes(const RecurrencePlan& plan, int64_t directions) {
  return std::vector<float>(size_t(3 * directions * plan.padded_hidden()));
}

void SetPeepholes(const RecurrencePlan& plan, int64_t directions, const float* values,
                  std::vector<float>& peepholes) {
  for (int64_t row = 0; row < 3 * directions; ++row)
    std::copy_n(values + row * plan.hidden, plan.hidden, peepholes.data() + row * plan.padded_hidden());
}

}  // namespace mete
