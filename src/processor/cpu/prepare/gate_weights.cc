#include "processor/cpu/prepare/gate_weights.h"

#include <fmt/format.h>

#include "base/tensor_source.h"
#include "kernels/fast/gemm/gemm.h"

namespace mete {

namespace {

// Returns the rows of the model's weights that become some columns; those of the padding are zero.
std::vector<float> WeightsOf(const PackedGates& gates, const Tensor& weights, int64_t direction,
                             Range columns) {
  const int64_t rows = weights.shape()[1], k = weights.shape()[2];
  std::vector<float> values(size_t(columns.size() * k));
  for (int64_t i = 0; i < columns.size(); ++i) {
    const int64_t row = gates.RowOf(columns.begin + i);
    if (row >= 0) ReadElements(weights, (direction * rows + row) * k, k, values.data() + i * k);
  }
  return values;
}

}  // namespace

Tensor PackGates(const RecurrencePlan& plan, const PackedGates& gates, const Tensor& weights,
                 Packer& packer) {
  const GemmPlan& gemm = gates.gemm;
  const int64_t directions = weights.shape()[0], k = weights.shape()[2], elements = gates.columns() * k;
  const std::string what =
      fmt::format("{}, {} of {} gates of {} units from {} on, {} directions, k {}, {} panels", TargetOf(plan),
                  gates.count, plan.gates(), plan.hidden, gates.first, directions, k, gemm.panels);
  const auto fill = [&](Range pieces, float* packed) {
    for (int64_t i = pieces.begin; i < pieces.end; ++i) {
      const int64_t direction = i / gemm.panels, panel = i % gemm.panels;
      const Range columns = gemm.split.Columns(panel);
      const std::vector<float> values = WeightsOf(gates, weights, direction, columns);
      PackGemm(gemm, {values.data(), k, true, 1, columns.begin}, {panel, panel + 1},
               packed + direction * elements);
    }
  };
  Tensor packed = packer.Pack(what, weights, directions * elements * int64_t{sizeof(float)},
                              directions * gemm.panels, fill);
  ReleasePagesOf(weights);
  return packed;
}

GateBiases BiasesOf(const RecurrencePlan& plan, int64_t directions, const Tensor* b) {
  GateBiases biases{std::vector<float>(size_t(directions * plan.columns())),
                    std::vector<float>(size_t(directions * plan.padded_hidden()))};
  if (!b) return biases;
  const int64_t rows = plan.gates() * plan.hidden;
  std::vector<float> values(size_t(2 * directions * rows));
  ReadElements(*b, 0, std::ssize(values), values.data());
  const bool scaled = plan.cell == RecurrentCell::kGru;
  for (int64_t d = 0; d < directions; ++d) {
    const float *of_input = values.data() + 2 * d * rows, *of_state = of_input + rows;
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
  return biases;
}

std::vector<float> PeepholesOf(const RecurrencePlan& plan, int64_t directions, const Tensor* p) {
  if (!p) return {};
  const int64_t rows = 3 * directions;
  std::vector<float> values(size_t(rows * plan.padded_hidden()));
  for (int64_t row = 0; row < rows; ++row)
    ReadElements(*p, row * plan.hidden, plan.hidden, values.data() + row * plan.padded_hidden());
  return values;
}

}  // namespace mete
