#include "engine/precisions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <span>

#include "base/difference.h"
#include "base/error.h"
#include "dispatch/dispatch.h"
#include "dispatch/halves.h"
#include "graph/fused.h"
#include "machine/machine.h"
#include "passes/pass.h"
#include "processor/cpu/environment.h"
#include "processor/cpu/executor.h"
#include "processor/cpu/prepare/conv_ways.h"

namespace mete {
namespace {

// Two inputs show whether the error of one is an exception. This value is a guess.
constexpr int kMadeUp = 2;

// Nodes that the report in words names. This value is a guess: a line of text.
constexpr size_t kNamed = 3;

struct Candidate {
  std::string node;
  Precision precision;
  double error = 0;  // of this node alone
};

// Returns whether a product, a transposed convolution, or a product of a recurrent node is sooner with
// operands of this precision.
bool Takes(const FastKernel& kernel, Precision precision) {
  if (const Product* product = std::get_if<Product>(&kernel)) {
    Product rounded = *product;
    rounded.operands = precision;
    return PrecisionOf(rounded) == precision;
  }
  if (const auto* transposed = std::get_if<TransposedConvolution>(&kernel)) {
    TransposedConvolution rounded = *transposed;
    rounded.operands = precision;
    return PrecisionOf(rounded) == precision;
  }
  const Recurrence* recurrence = std::get_if<Recurrence>(&kernel);
  if (!recurrence) return false;
  Recurrence rounded = *recurrence;
  rounded.operands = precision;
  return PrecisionsOf(rounded).lower() == precision;
}

// Returns the precision in which a node may be computed sooner than in its usual one; that one: in none.
Precision SoonerPrecision(const Graph& graph, const Node& node, const DispatchOptions& options,
                          Precision half) {
  std::string why;
  const auto kernel = FastKernelOf(graph, node, options, &why);
  const Precision usual = UsualPrecision(node);
  if (!kernel) return usual;
  if (const auto* bytes = std::get_if<QuantizedConvolution>(&*kernel))
    return usual == Precision::kI32 && MayBeSoonerInF32(*bytes) ? Precision::kF32 : usual;
  if (std::holds_alternative<Convolution>(*kernel))
    return !options.plain_sums && half != Precision::kF32 && MayRound(graph, node, half) ? half
                                                                                         : Precision::kF32;
  // A product of one row waits for its weights, of which w8 has the fewest bytes that keep a small error.
  for (const Precision precision : {Precision::kW8, half})
    if (precision != Precision::kF32 && MayRound(graph, node, precision) && Takes(*kernel, precision))
      return precision;
  return Precision::kF32;
}

// `what`: one of them, its noun first, as in "product of bytes".
std::string Counted(size_t count, const std::string& what) {
  const size_t noun = std::min(what.find(" of "), what.size());
  return fmt::format("{} {}{}{}", count, what.substr(0, noun), count == 1 ? "" : "s", what.substr(noun));
}

std::vector<Tensor> Run(Executor& executor, const Graph& graph, const std::vector<Tensor>& inputs) {
  std::vector<ConstView> in;
  for (const Tensor& input : inputs) in.push_back(input.view());
  std::vector<Tensor> outputs(graph.outputs.size());
  std::vector<View> out(outputs.size());
  for (size_t i = 0; i < outputs.size(); ++i) {
    const ConstView& output = executor.output(i);
    if (!output.shape.known() || output.type == DType::kUnknown) continue;
    outputs[i] = Tensor(output.type, output.shape);
    out[i] = outputs[i].mutable_view();
  }
  executor.Run(in, out, {});
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i].has_value()) continue;
    const ConstView output = executor.Output(i);  // its shape depends on data
    outputs[i] = Tensor(output.type, output.shape);
    if (output.bytes() > 0) std::memcpy(outputs[i].mutable_view().data, output.data, output.bytes());
  }
  return outputs;
}

class Search {
 public:
  Search(const Graph& graph, double bound, const Samples& samples)
      : graph_(graph),
        bound_(bound),
        samples_(samples),
        machine_(ReadMachine()),
        half_(FastHalf()),
        f32_(OutputsOf(graph)) {}

  PrecisionReport Run() {
    std::vector<Candidate> candidates = Candidates();
    PrecisionReport report{bound_, 0, int(samples_.size()), false, {}, {}};
    if (candidates.empty()) return report;
    CheckOutputs();
    size_t taken = candidates.size();
    report.error = ErrorOf(candidates);
    if (report.error > bound_) taken = MostWithin(candidates, &report.error);
    for (size_t i = 0; i < taken; ++i) report.rounded[candidates[i].node] = Name(candidates[i].precision);
    for (size_t i = candidates.size(); i > taken; --i) report.kept.push_back(candidates[i - 1].node);
    return report;
  }

 private:
  // Error INVALID_ARGUMENT if no output shows an error.
  void CheckOutputs() const {
    for (const std::vector<Tensor>& outputs : f32_)
      for (const Tensor& output : outputs)
        if (output.type() == DType::kF32 && output.elements() > 0) return;
    Invalid("precision", "auto compares outputs of f32; got none among {} outputs; try another precision",
            graph_.outputs.size());
  }

  std::vector<Candidate> Candidates() const {
    std::vector<Candidate> candidates;
    const DispatchOptions options = OptionsFor(graph_);
    for (const Node& node : graph_.nodes)
      if (const Precision p = SoonerPrecision(graph_, node, options, half_); p != UsualPrecision(node))
        candidates.push_back({node.name, p});
    return candidates;
  }

  // Sorts the candidates by their errors, and returns how many of the first may be rounded together. Each
  // number that is tried is measured; that fewer have smaller errors is only assumed.
  size_t MostWithin(std::vector<Candidate>& candidates, double* error) const {
    for (Candidate& c : candidates) c.error = ErrorOf(std::span(&c, 1));
    std::stable_sort(candidates.begin(), candidates.end(),
                     [](const Candidate& a, const Candidate& b) { return a.error < b.error; });
    size_t within = 0, beyond = candidates.size();
    *error = 0;
    while (beyond - within > 1) {
      const size_t middle = within + (beyond - within) / 2;
      const double of_middle = ErrorOf(std::span(candidates).first(middle));
      if (of_middle > bound_) {
        beyond = middle;
      } else {
        within = middle;
        *error = of_middle;
      }
    }
    return within;
  }

  double ErrorOf(std::span<const Candidate> rounded) const {
    if (rounded.empty()) return 0;
    std::map<std::string, Precision> precisions;
    for (const Candidate& c : rounded) precisions[c.node] = c.precision;
    const Samples outputs = OutputsOf(WithOperands(graph_, precisions));
    double error = 0;
    for (size_t i = 0; i < outputs.size(); ++i)
      error = std::max(error, LargestDifference(outputs[i], f32_[i]));
    return error;
  }

  // Returns the outputs of all samples, with the largest error that each node permits, whatever is sooner.
  Samples OutputsOf(const Graph& graph) const {
    const ThreadPlan plan = PlanOneCpu(graph, machine_, {});
    KernelOptions options;
    options.threads = plan.threads;
    options.dispatch = OptionsFor(graph);
    options.dispatch.least_exact = true;
    CpuKernels kernels(options);
    Executor executor(graph, plan, kernels);
    Samples outputs;
    for (const std::vector<Tensor>& inputs : samples_) outputs.push_back(mete::Run(executor, graph, inputs));
    return outputs;
  }

  const Graph& graph_;
  const double bound_;
  const Samples& samples_;
  const Machine machine_;
  const Precision half_;
  const Samples f32_;  // outputs
};

Tensor MadeUp(const Value& value, std::minstd_rand& random) {
  Tensor tensor(value.type, value.shape);
  const View view = tensor.mutable_view();
  if (value.type == DType::kF32) {
    std::generate_n(view.as<float>(), tensor.elements(),
                    [&] { return (float(random() % 2001) - 1000) * 1e-3f; });
    return tensor;
  }
  std::byte* bytes = static_cast<std::byte*>(view.data);
  std::fill_n(bytes, tensor.bytes(), std::byte{0});
  const bool floats = value.type == DType::kF64 || value.type == DType::kF16 || value.type == DType::kBF16;
  for (int64_t i = 0; !floats && i < tensor.elements(); ++i)
    bytes[size_t(i) * SizeOf(value.type)] = std::byte(random() / 2 % 2);  // the lowest byte of an integer
  return tensor;
}

}  // namespace

Samples MadeUpSamples(const Graph& graph) {
  std::minstd_rand random(1);
  Samples samples(kMadeUp);
  for (std::vector<Tensor>& inputs : samples)
    for (const ValueId id : graph.inputs) inputs.push_back(MadeUp(graph.value(id), random));
  return samples;
}

PrecisionReport ChoosePrecisions(const Graph& graph, double bound, const Samples& samples) {
  // Which precision is sooner depends on the instruction set; the reference computes all in one.
  if (ReferenceFromEnvironment()) return {bound, 0, int(samples.size()), false, {}, {}};
  return Search(graph, bound, samples).Run();
}

std::map<std::string, Precision> NodePrecisions(const PrecisionReport& report) {
  std::map<std::string, Precision> precisions;
  for (const auto& [node, name] : report.rounded) precisions[node] = ParsePrecision("precision", name);
  return precisions;
}

std::string ToText(const PrecisionReport& report) {
  std::map<std::string, size_t> counts;
  for (const auto& [node, precision] : report.rounded) ++counts[precision];
  std::string text;
  for (const auto& [precision, count] : counts)
    text += fmt::format("{}{} in {}", text.empty() ? "" : ", ",
                        Counted(count, precision == "f32" ? "product of bytes" : "product"), precision);
  if (text.empty()) text = "no product is rounded";
  text = fmt::format(
      "precision auto: {}, at most {:.2g} of the largest value apart from the answer without it on {} (bound "
      "{:g})",
      text, report.error, Counted(size_t(report.samples), report.made_up ? "random input" : "input"),
      report.bound);
  for (size_t i = 0; i < std::min(kNamed, report.kept.size()); ++i)
    text += fmt::format(
        "{}{}", i == 0 ? fmt::format("; {} beyond the bound as without it: ", report.kept.size()) : ", ",
        report.kept[i]);
  if (report.kept.size() > kNamed) text += ", ...";
  return text;
}

}  // namespace mete
