#include "kernels/fast/recurrence/recurrence.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "kernels/fast/test_util.h"

namespace mete {
namespace {

using enum RecurrentCell;

constexpr RecurrentCell kCells[] = {kLstm, kGru, kGruResetFirst, kRnn};
constexpr int64_t kHidden[] = {1, 3, 16, 37, 70};
constexpr int64_t kRows[] = {1, 2, 3, 5, 9};

// Random operands of a step, in the order of the model: [gate][unit].
struct StepData {
  StepData(RecurrentCell cell, int64_t hidden, int64_t rows, uint32_t seed)
      : cell(cell), hidden(hidden), rows(rows) {
    RandomData random(seed);
    const int64_t gates = GatesOf(cell);
    weights = random.Floats(gates * hidden * hidden);
    hidden_bias = random.Floats(hidden);
    x = random.Floats(rows * gates * hidden, 3);
    h = random.Floats(rows * hidden);
    c = random.Floats(rows * hidden, 2);
  }

  RecurrentCell cell;
  int64_t hidden, rows;
  std::vector<float> weights, hidden_bias, x, h, c;
  std::vector<float> peepholes;           // [gate][unit]; empty: none
  std::optional<RecurrentRules> unusual;  // nothing: ONNX's defaults
};

RecurrentRules RulesOf(const StepData& data) {
  constexpr RecurrentFunction kF{RecurrentKind::kSigmoid}, kG{RecurrentKind::kTanh};
  if (data.unusual) return *data.unusual;
  return {data.cell == kRnn ? std::array{kG, kG, kG} : std::array{kF, kG, kG}};
}

struct States {
  std::vector<float> h, inner;  // in rows of plan.inner(): an LSTM's cells
  int64_t inner_stride;
};

std::vector<float> Zeros(int64_t count) { return std::vector<float>(static_cast<size_t>(count)); }

std::vector<float> PackedStates(const PackedGates& gates, const StepData& data) {
  std::vector<float> ordered = Zeros(gates.columns() * data.hidden);
  std::vector<float> packed = Zeros(gates.columns() * data.hidden);
  for (int64_t column = 0; column < gates.columns(); ++column)
    if (const int64_t row = gates.RowOf(column); row >= 0)
      std::copy_n(data.weights.data() + row * data.hidden, data.hidden,
                  ordered.data() + column * data.hidden);
  PackGemm(gates.gemm, {ordered.data(), data.hidden, true}, {0, gates.gemm.panels}, packed.data());
  return packed;
}

std::vector<float> OrderedInputs(const RecurrencePlan& plan, const StepData& data) {
  std::vector<float> x = Zeros(data.rows * plan.columns());
  for (int64_t r = 0; r < data.rows; ++r)
    for (int64_t column = 0; column < plan.columns(); ++column)
      if (const int64_t row = plan.inputs.RowOf(column); row >= 0)
        x[size_t(r * plan.columns() + column)] = data.x[size_t(r * plan.gates() * data.hidden + row)];
  return x;
}

// Whether the step multiplies the states, or gets their sums.
enum class Sums { kOfTheStep, kGiven };

// Computes the products of the states, or of what the first pass of a kGruResetFirst has scaled, and gives
// them to the rows. The result has the sums.
std::vector<float> GiveSums(const PackedGates& gates, const StepData& data, int64_t pass,
                            std::vector<RecurrentRow>& rows) {
  std::vector<float> sums = Zeros(std::ssize(rows) * gates.columns());
  float* to = sums.data();
  for (RecurrentRow& row : rows) {
    row.sums = to;
    for (int64_t column = 0; column < gates.columns(); ++column, ++to) {
      const int64_t of_model = gates.RowOf(column);
      double sum = 0;
      for (int64_t k = 0; of_model >= 0 && k < data.hidden; ++k)
        sum += double(data.weights[size_t(of_model * data.hidden + k)]) *
               double((pass == 0 ? row.h : row.inner)[k]);
      *to = float(sum);
    }
  }
  return sums;
}

// Runs the step in blocks of `rows_at_once` rows and `panels_at_once` panels.
States RunBlocks(const StepData& data, int64_t rows_at_once, int64_t panels_at_once,
                 Sums sums = Sums::kOfTheStep) {
  const RecurrencePlan plan = PlanRecurrence(data.cell, 1, data.hidden);
  const int64_t hidden = data.hidden, padded = plan.padded_hidden();
  const std::vector<float> x = OrderedInputs(plan, data);
  std::vector<float> bias = Zeros(padded);
  std::copy(data.hidden_bias.begin(), data.hidden_bias.end(), bias.begin());
  std::vector<float> peepholes = Zeros(3 * padded);
  for (int64_t gate = 0; !data.peepholes.empty() && gate < 3; ++gate)
    std::copy_n(data.peepholes.data() + gate * hidden, hidden, peepholes.data() + gate * padded);
  States result{Zeros(data.rows * hidden), Zeros(data.rows * plan.inner()), plan.inner()};
  std::vector<RecurrentRow> rows;
  for (int64_t r = 0; r < data.rows; ++r) {
    float* inner = result.inner.data() + r * plan.inner();
    if (data.cell == kLstm) std::copy_n(data.c.data() + r * hidden, hidden, inner);
    rows.push_back(
        {x.data() + r * plan.columns(), data.h.data() + r * hidden, result.h.data() + r * hidden, inner});
  }
  for (int64_t pass = 0; pass < plan.passes(); ++pass) {
    const std::vector<float> packed = PackedStates(plan.states[size_t(pass)], data);
    const bool given = sums == Sums::kGiven;
    const std::vector<float> products =
        given ? GiveSums(plan.states[size_t(pass)], data, pass, rows) : Zeros(0);
    const RecurrentWeights weights{given ? nullptr : packed.data(), bias.data(),
                                   data.unusual ? &*data.unusual : nullptr,
                                   data.peepholes.empty() ? nullptr : peepholes.data()};
    for (int64_t r = 0; r < data.rows; r += rows_at_once)
      for (int64_t p = 0; p < plan.panels; p += panels_at_once)
        RunRecurrentStep(plan, pass, weights,
                         std::span(rows).subspan(size_t(r), size_t(std::min(rows_at_once, data.rows - r))),
                         {p, std::min(plan.panels, p + panels_at_once)});
  }
  return result;
}

double Evaluate(const RecurrentFunction& f, double x) {
  const double alpha = double(f.alpha), beta = double(f.beta);
  switch (f.kind) {
    case RecurrentKind::kTanh: return std::tanh(x);
    case RecurrentKind::kRelu: return std::max(x, 0.0);
    case RecurrentKind::kSigmoid: return 1 / (1 + std::exp(-x));
    case RecurrentKind::kAffine: return alpha * x + beta;
    case RecurrentKind::kLeakyRelu: return x < 0 ? alpha * x : x;
    case RecurrentKind::kThresholdedRelu: return x > alpha ? x : 0;
    case RecurrentKind::kScaledTanh: return alpha * std::tanh(beta * x);
    case RecurrentKind::kHardSigmoid: return std::clamp(alpha * x + beta, 0.0, 1.0);
    case RecurrentKind::kElu: return x < 0 ? alpha * std::expm1(x) : x;
    case RecurrentKind::kSoftsign: return x / (1 + std::abs(x));
    case RecurrentKind::kSoftplus: return std::log1p(std::exp(x));
  }
  return x;
}

// Returns function `f` (0) or `g` (1) of a gate's sum.
double Gate(const StepData& data, size_t function, double sum) {
  const RecurrentRules rules = RulesOf(data);
  const double clip = rules.clip > 0 ? double(rules.clip) : INFINITY;
  return Evaluate(rules.functions[function], std::clamp(sum, -clip, clip));
}

struct Expected {
  double h, c, tolerance;
};

// The product of a row of weights with a row of states, in f64, and the sum of the magnitudes.
struct GateSum {
  double sum = 0, absolute = 0;
};

GateSum SumOf(const StepData& data, int64_t gate, int64_t unit, int64_t row) {
  GateSum result;
  for (int64_t k = 0; k < data.hidden; ++k) {
    const double product = double(data.weights[size_t((gate * data.hidden + unit) * data.hidden + k)]) *
                           double(data.h[size_t(row * data.hidden + k)]);
    result.sum += product;
    result.absolute += std::abs(product);
  }
  return result;
}

double InputOf(const StepData& data, int64_t gate, int64_t unit, int64_t row) {
  return double(data.x[size_t((row * GatesOf(data.cell) + gate) * data.hidden + unit)]);
}

// Returns the product of the hidden gate with the states that the reset gate has scaled.
double ResetFirst(const StepData& data, int64_t unit, int64_t row) {
  double sum = 0;
  for (int64_t k = 0; k < data.hidden; ++k)
    sum += double(data.weights[size_t((2 * data.hidden + unit) * data.hidden + k)]) *
           double(data.h[size_t(row * data.hidden + k)]) *
           Gate(data, 0, InputOf(data, 1, k, row) + SumOf(data, 1, k, row).sum);
  return sum;
}

// Computes a unit in f64. A gate changes by no more than its sum does, and the factors of a gate are at most
// |c| + 1 together, so that the errors of all gates add up to less than 4 times that of a sum, and those of
// five activations (5e-7 each, math-inl.h) to less than 1e-5 for |c| <= 3. Where the reset gate comes first,
// the error of each scaled state, at most a quarter of that of its sum, is multiplied by a weight: all of
// them add up to less than K / 4 times that of a sum.
Expected Oracle(const StepData& data, int64_t row, int64_t unit) {
  const int64_t gates = GatesOf(data.cell), hidden = data.hidden;
  double sums[4] = {}, magnitude = 3;
  for (int64_t g = 0; g < gates; ++g) {
    const GateSum gate = SumOf(data, g, unit, row);
    sums[g] = gate.sum;
    magnitude = std::max(magnitude, 3 + gate.absolute);
  }
  const auto x = [&](int64_t gate) { return InputOf(data, gate, unit, row); };
  const double h = data.h[size_t(row * hidden + unit)], c = data.c[size_t(row * hidden + unit)];
  const double tolerance = 4 * SumTolerance(hidden + 2, magnitude) + 1e-5;
  switch (data.cell) {
    case kLstm: {
      const RecurrentRules rules = RulesOf(data);
      const auto peep = [&](int64_t gate, double cell) {
        return data.peepholes.empty() ? 0 : double(data.peepholes[size_t(gate * hidden + unit)]) * cell;
      };
      const double in = Gate(data, 0, x(0) + sums[0] + peep(0, c));
      const double forget = rules.input_forget ? 1 - in : Gate(data, 0, x(2) + sums[2] + peep(2, c));
      const double next = forget * c + in * Gate(data, 1, x(3) + sums[3]);
      const double out = Gate(data, 0, x(1) + sums[1] + peep(1, next));
      return {out * Evaluate(rules.functions[2], next), next, tolerance};
    }
    case kGru: {
      const double update = Gate(data, 0, x(0) + sums[0]), reset = Gate(data, 0, x(1) + sums[1]);
      const double recurrent = sums[2] + double(data.hidden_bias[size_t(unit)]);
      return {(1 - update) * Gate(data, 1, x(2) + reset * recurrent) + update * h, 0, tolerance};
    }
    case kGruResetFirst: {
      const double update = Gate(data, 0, x(0) + sums[0]);
      const double state = Gate(data, 1, x(2) + ResetFirst(data, unit, row));
      return {(1 - update) * state + update * h, 0, double(hidden / 4 + 1) * tolerance};
    }
    case kRnn: break;
  }
  return {Gate(data, 0, x(0) + sums[0]), 0, tolerance};
}

void ExpectOracle(const StepData& data, const States& got) {
  for (int64_t r = 0; r < data.rows; ++r)
    for (int64_t i = 0; i < data.hidden; ++i) {
      const Expected want = Oracle(data, r, i);
      ASSERT_NEAR(got.h[size_t(r * data.hidden + i)], want.h, want.tolerance) << "row " << r << " unit " << i;
      if (data.cell != kLstm) continue;
      ASSERT_NEAR(got.inner[size_t(r * got.inner_stride + i)], want.c, want.tolerance)
          << "row " << r << " unit " << i;
    }
}

TEST(RecurrentStepF32, MatchesDouble) {
  OnEveryTarget([](const std::string&) {
    for (const RecurrentCell cell : kCells)
      for (const int64_t hidden : kHidden)
        for (const int64_t rows : kRows) {
          SCOPED_TRACE(testing::Message()
                       << "gates " << GatesOf(cell) << " hidden " << hidden << " rows " << rows);
          const StepData data(cell, hidden, rows, uint32_t(hidden * 10 + rows));
          ExpectOracle(data, RunBlocks(data, rows, 1000));
          if (testing::Test::HasFatalFailure()) return;
        }
  });
}

TEST(RecurrentStepF32, GatesOfGivenSumsMatchDouble) {
  OnEveryTarget([](const std::string&) {
    for (const RecurrentCell cell : kCells)
      for (const int64_t hidden : kHidden)
        for (const int64_t panels : {1, 1000}) {
          const StepData data(cell, hidden, 5, uint32_t(hidden));
          ExpectOracle(data, RunBlocks(data, 3, panels, Sums::kGiven));
          if (testing::Test::HasFatalFailure()) return;
        }
  });
}

TEST(RecurrentStepF32, BlocksGiveTheSameBits) {
  OnEveryTarget([](const std::string&) {
    for (const RecurrentCell cell : kCells) {
      const StepData data(cell, 70, 9, 5);
      const States whole = RunBlocks(data, 9, 1000);
      for (const int64_t rows : {1, 2, 4})
        for (const int64_t panels : {1, 2, 3}) {
          const States blocks = RunBlocks(data, rows, panels);
          ASSERT_EQ(std::memcmp(whole.h.data(), blocks.h.data(), whole.h.size() * sizeof(float)), 0);
          ASSERT_EQ(std::memcmp(whole.inner.data(), blocks.inner.data(), whole.inner.size() * sizeof(float)),
                    0);
        }
    }
  });
}

// Every function, with alpha and beta where it has some: gates are bounded by the clip, so that the errors
// add up as those of the usual gates do.
TEST(RecurrentStepF32, MatchesDoubleByOtherRules) {
  using enum RecurrentKind;
  OnEveryTarget([](const std::string&) {
    for (const RecurrentCell cell : kCells)
      for (const RecurrentFunction f : {RecurrentFunction{kTanh},
                                        {kRelu},
                                        {kSigmoid},
                                        {kAffine, 0.5f, 0.1f},
                                        {kLeakyRelu, 0.1f},
                                        {kThresholdedRelu, 0.25f},
                                        {kScaledTanh, 0.7f, 0.9f},
                                        {kHardSigmoid, 0.3f, 0.4f},
                                        {kElu, 0.8f},
                                        {kSoftsign},
                                        {kSoftplus}})
        for (const int64_t hidden : {3, 37}) {
          SCOPED_TRACE(testing::Message() << "gates " << GatesOf(cell) << " function " << int(f.kind));
          StepData data(cell, hidden, 5, uint32_t(hidden));
          const RecurrentFunction gate = cell == kRnn ? f : RecurrentFunction{RecurrentKind::kSigmoid};
          data.unusual = RecurrentRules{{gate, f, f}, 1.5f, hidden == 3};
          ExpectOracle(data, RunBlocks(data, 5, 1000));
          if (testing::Test::HasFatalFailure()) return;
        }
  });
}

TEST(RecurrentStepF32, GatesMaySeeTheCell) {
  OnEveryTarget([](const std::string&) {
    for (const int64_t hidden : kHidden) {
      StepData data(kLstm, hidden, 3, uint32_t(hidden));
      data.unusual = RulesOf(data);
      data.peepholes = RandomData(2).Floats(3 * hidden);
      ExpectOracle(data, RunBlocks(data, 3, 1));
      if (testing::Test::HasFatalFailure()) return;
    }
  });
}

TEST(RecurrentStepF32, EachRowOfTheModelIsOneColumn) {
  OnEveryTarget([](const std::string&) {
    for (const RecurrentCell cell : kCells)
      for (const int64_t hidden : kHidden) {
        const RecurrencePlan plan = PlanRecurrence(cell, 1, hidden);
        std::vector<int> of_inputs(size_t(plan.gates() * hidden)), of_states = of_inputs;
        const auto count = [](const PackedGates& gates, std::vector<int>& seen) {
          for (int64_t column = 0; column < gates.columns(); ++column)
            if (const int64_t row = gates.RowOf(column); row >= 0) ++seen[size_t(row)];
        };
        count(plan.inputs, of_inputs);
        for (int64_t pass = 0; pass < plan.passes(); ++pass) count(plan.states[size_t(pass)], of_states);
        for (const int times : of_inputs) ASSERT_EQ(times, 1);
        for (const int times : of_states) ASSERT_EQ(times, 1);
      }
  });
}

}  // namespace
}  // namespace mete
