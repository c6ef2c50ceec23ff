// LSTM, GRU and RNN whose operands may be rounded.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/half.h"
#include "base/precision.h"
#include "dispatch/halves.h"
#include "kernels/fast/half/half_conv.h"
#include "kernels/fast/matvec/few_bits.h"
#include "processor/cpu/prepare/one_node_testing.h"

namespace mete {
namespace {

struct Net {
  const char *op, *kernel, *attributes;
  int64_t gates, outputs;
};
constexpr Net kNets[] = {{"LSTM", "lstm", "", 4, 3},
                         {"GRU", "gru", "linear_before_reset=1, ", 3, 2},
                         {"GRU", "gru_reset_first", "", 3, 2},
                         {"RNN", "rnn", "", 1, 2}};
constexpr Precision kPrecisions[] = {Precision::kBf16, Precision::kF16, Precision::kW8, Precision::kW4};

void PrintTo(const Net& net, std::ostream* out) { *out << net.kernel; }

struct Sizes {
  int64_t length, batch, inputs, hidden;
};

// So many units of one sequence are large weights (IsLarge), whose products are rounded.
int64_t LargeHidden(const Net& net) { return int64_t(std::sqrt((1 << 20) / (4.0 * double(net.gates)))) + 5; }

// Returns a node with all inputs. The sum of the magnitudes of a row of recurrent weights is at most a
// quarter.
NodeText NodeOf(const Net& net, const Sizes& s, const std::string& direction, Precision operands,
                const std::string& lengths = "-") {
  const int64_t directions = direction == "bidirectional" ? 2 : 1, rows = net.gates * s.hidden;
  const double most = 0.25 / double(s.hidden);
  std::string line =
      fmt::format("{}[{}]({}x{}x{}, const {}x{}x{}, const {}x{}x{} in {} to {}, const {}x{}, {}, {}x{}x{}",
                  net.op, net.outputs, s.length, s.batch, s.inputs, directions, rows, s.inputs, directions,
                  rows, s.hidden, -most, most, directions, 2 * rows, lengths, directions, s.batch, s.hidden);
  if (net.outputs == 3) line += fmt::format(", {}x{}x{}", directions, s.batch, s.hidden);
  line += fmt::format(") {{{}direction=\"{}\", operands=\"{}\"}}", net.attributes, direction, Name(operands));
  return ParseNode("test", line);
}

float RoundedTo(Precision precision, float x) {
  return precision == Precision::kBf16 ? BF16ToF32(F32ToBF16(x)) : F16ToF32(F32ToF16(x));
}

// Makes weights that packing does not change: halves, or integers of a group whose largest one is the most.
void MakeExact(Precision precision, Tensor& weights) {
  float* w = weights.mutable_view().as<float>();
  const int64_t k = weights.shape().back();
  if (IsHalf(precision)) {
    std::transform(w, w + weights.elements(), w, [&](float x) { return RoundedTo(precision, x); });
    return;
  }
  const float most = precision == Precision::kW8 ? 127 : 7;
  const float largest = *std::max_element(w, w + weights.elements());
  const float scale = std::ldexp(1.0f, int(std::ceil(std::log2(largest / most))));
  for (int64_t i = 0; i < weights.elements(); ++i)
    w[i] = i % k % kGroup == 0 ? most * scale : scale * std::clamp(std::round(w[i] / scale), -most, most);
}

OneNodeGraph ExactNode(const NodeText& text, Precision precision) {
  OneNodeGraph one = MakeOneNodeGraph(text, 17);
  for (const size_t input : {1, 2}) {
    MakeExact(precision, one.data[input]);
    one.graph.value(one.node().inputs[input]).constant = one.data[input];
  }
  // The operands that are no weights: the inputs and the first states.
  for (const size_t input : {0, 5}) {
    float* values = one.data[input].mutable_view().as<float>();
    if (IsHalf(precision))
      std::transform(values, values + one.data[input].elements(), values,
                     [&](float x) { return RoundedTo(precision, x); });
  }
  return one;
}

std::vector<Tensor> OutputsOf(OneNodeGraph& one, const KernelOptions& options, std::string* kernel) {
  CpuKernels cpu(options);
  const auto prepared = cpu.Prepare(one.graph, one.node(), Step{.threads = options.threads});
  *kernel = prepared->kernel();
  std::vector<ConstView> in;
  for (const Tensor& t : one.data) in.push_back(t.view());
  std::vector<Tensor> results;
  for (const ValueId id : one.node().outputs)
    results.emplace_back(one.graph.value(id).type, one.graph.value(id).shape);
  std::vector<View> out;
  for (Tensor& t : results) out.push_back(t.mutable_view());
  prepared->Execute(in, out);
  return results;
}

double LargestDifference(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  double largest = 0;
  for (size_t o = 0; o < a.size(); ++o)
    for (int64_t i = 0; i < a[o].elements(); ++i)
      largest = std::max(largest, std::abs(double(a[o].as<float>()[i]) - double(b[o].as<float>()[i])));
  return largest;
}

// Returns the largest sum of magnitudes of a row.
double RowSum(const Tensor& weights) {
  const int64_t k = weights.shape().back();
  double largest = 0;
  for (int64_t first = 0; first < weights.elements(); first += k) {
    double sum = 0;
    for (int64_t i = first; i < first + k; ++i) sum += std::abs(double(weights.as<float>()[i]));
    largest = std::max(largest, sum);
  }
  return largest;
}

// Returns a bound of the error of a state, or of a cell, after all steps, if the error of each gate's sum is
// at most `of_sum` beside the error of the states before, which S, the sum of magnitudes of a row of
// recurrent weights, multiplies. A sigmoid changes by at most a quarter of what its sum changes, and tanh by
// no more than its sum. In step t an LSTM's cell is at most t + 1, since its first cell is at most 1, so that
// the error of the next one is at most that of the cell plus ((t + 1) / 4 + 1/4 + 1) of that of a sum, and of
// the state at most 1/4 more. A GRU's state is at most that of the state before plus 2/4 for the update gate
// plus that of the hidden gate, whose sum has the product times the reset gate: (1 + (S + 1) / 4) of that of
// a sum, as long as the biases are at most 1.
double BoundOfSteps(const Sizes& s, double row_sum, double of_sum) {
  double error = 0;
  for (int64_t t = 1; t <= s.length; ++t)
    error += (double(t + 1) / 4 + 2 + row_sum / 4) * (of_sum + row_sum * error);
  return error;
}

// The error of a gate's sum that roundings of the operands make: an input is at most 1, a state too.
double ErrorOfSum(Precision precision, const OneNodeGraph& one) {
  const double inputs = RowSum(one.data[1]), states = RowSum(one.data[2]);
  const auto largest = [&](size_t input) {
    const float* w = one.data[input].as<float>();
    return double(*std::max_element(w, w + one.data[input].elements()));
  };
  switch (precision) {
    case Precision::kBf16: return std::ldexp(2 * (inputs + states), -8);  // both operands, half of 2^-7 each
    case Precision::kF16: return std::ldexp(2 * (inputs + states), -10);
    // Half of a step of each weight.
    case Precision::kW8:
    case Precision::kW4: {
      const double steps = precision == Precision::kW8 ? 127 : 7;
      return (largest(1) * double(one.data[1].shape().back()) +
              largest(2) * double(one.data[2].shape().back())) /
             (2 * steps);
    }
    default: return 0;
  }
}

class EachNetRounded : public testing::TestWithParam<Net> {};

// One step of operands that no rounding changes: the sums are those of f32. A state that the reset gate
// scales is no half.
TEST_P(EachNetRounded, AStepOfExactOperandsEqualsTheReference) {
  const int64_t hidden = LargeHidden(GetParam());
  for (const Precision precision : kPrecisions)
    for (const char* direction : {"forward", "bidirectional"})
      for (const int64_t inputs : {int64_t{1}, int64_t{37}, hidden + 3}) {
        const Sizes s{1, 1, inputs, hidden};
        OneNodeGraph one = ExactNode(NodeOf(GetParam(), s, direction, precision), precision);
        std::string kernel;
        const std::vector<Tensor> want = OutputsOf(one, {.reference = true}, &kernel);
        for (const int threads : {1, 2, 3}) {
          const std::vector<Tensor> got = OutputsOf(one, {.threads = threads}, &kernel);
          ASSERT_TRUE(kernel.starts_with(std::string(GetParam().kernel) + "_" + Name(precision) + " "))
              << kernel;
          const bool scaled =
              std::string_view(GetParam().kernel) == "gru_reset_first" && precision == Precision::kBf16;
          const double of_states = scaled ? std::ldexp(RowSum(one.data[2]), -8) : 0;
          ASSERT_LE(LargestDifference(want, got), 2 * double(kTolerance) + of_states)
              << kernel << " with " << threads << " threads, " << inputs << " inputs";
        }
      }
}

// Weights in few bits round no states, so that exact ones stay exact in every step, for sequences of any
// length and in both directions.
TEST_P(EachNetRounded, StepsOfExactWeightsInFewBitsEqualTheReference) {
  const Sizes s{7, 1, 21, LargeHidden(GetParam())};
  for (const Precision precision : {Precision::kW8, Precision::kW4})
    for (const char* direction : {"reverse", "bidirectional"})
      for (const char* lengths : {"-", "i64 [5]"}) {
        OneNodeGraph one = ExactNode(NodeOf(GetParam(), s, direction, precision, lengths), precision);
        std::string kernel;
        const std::vector<Tensor> want = OutputsOf(one, {.reference = true}, &kernel);
        for (const int threads : {1, 2}) {
          const std::vector<Tensor> got = OutputsOf(one, {.threads = threads}, &kernel);
          ASSERT_TRUE(kernel.starts_with(std::string(GetParam().kernel) + "_" + Name(precision) + " "));
          ASSERT_LE(LargestDifference(want, got), 2 * double(kTolerance)) << kernel;
        }
      }
}

TEST_P(EachNetRounded, TheErrorIsThatOfTheRoundings) {
  const Sizes s{3, 1, 21, LargeHidden(GetParam())};
  for (const Precision precision : kPrecisions) {
    OneNodeGraph one = MakeOneNodeGraph(NodeOf(GetParam(), s, "bidirectional", precision), 5);
    std::string kernel;
    const std::vector<Tensor> want = OutputsOf(one, {.reference = true}, &kernel),
                              got = OutputsOf(one, {.threads = 2}, &kernel);
    const double apart = LargestDifference(want, got);
    EXPECT_LE(apart, BoundOfSteps(s, RowSum(one.data[2]), ErrorOfSum(precision, one)) + double(kTolerance))
        << kernel;
    EXPECT_GT(apart, 1e-6) << kernel << ": nothing was rounded";
  }
}

// With an instruction for halves also several sequences, of different lengths, and small weights of many
// inputs.
TEST_P(EachNetRounded, HalvesOfSeveralSequences) {
  for (const Precision precision : {Precision::kBf16, Precision::kF16})
    for (const int64_t batch : {3, 70})
      for (const int64_t hidden : {37, 70}) {
        const Sizes s{4, batch, 41, hidden};
        std::string lengths = "i64 [4, 0, 2";
        for (int64_t n = 3; n < batch; ++n) lengths += fmt::format(", {}", n % 5);
        OneNodeGraph one =
            MakeOneNodeGraph(NodeOf(GetParam(), s, "bidirectional", precision, lengths + "]"), 5);
        std::string kernel;
        const std::vector<Tensor> want = OutputsOf(one, {.reference = true}, &kernel);
        for (const int threads : {1, 2}) {
          const std::vector<Tensor> got = OutputsOf(one, {.threads = threads}, &kernel);
          const bool fast = IsFast(PlanHalfConv({1, 1, 1, 1, 1, 1, 1}, precision));
          ASSERT_EQ(kernel.find(Name(precision)) != std::string::npos, fast) << kernel;
          ASSERT_LE(LargestDifference(want, got),
                    BoundOfSteps(s, RowSum(one.data[2]), ErrorOfSum(precision, one)) + double(kTolerance))
              << kernel;
        }
      }
}

INSTANTIATE_TEST_SUITE_P(All, EachNetRounded, testing::ValuesIn(kNets),
                         [](const auto& net) { return std::string(net.param.kernel); });

}  // namespace
}  // namespace mete
