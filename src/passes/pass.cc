#include "passes/pass.h"

#include <algorithm>

#include "base/clock.h"
#include "base/error.h"

namespace mete {
namespace {

constexpr const char* kFuseQuantized = "fuse-quantized";

constexpr Pass kPasses[] = {
    {"widen-halves", "computes in f32 what the file has in f16 or bf16", WidenHalves},
    {kFuseQuantized, "keeps quantized values in bytes: products, sums, pools and tables", FuseQuantized},
    {"write-einsums", "writes Einsums as matrix products between transpositions", WriteEinsums},
    {"simplify", "removes identities, dropouts and whatever changes nothing", Simplify},
    {"fold-dilation", "folds blocks of pixels that go into the batch and back into a convolution's dilation",
     FoldDilation},
    {"fold-pad", "folds zero padding into the convolution behind it, less what is cut off its output",
     FoldPad},
    {"fold-blocks", "folds pixels that become channels into the convolution behind them", FoldBlocks},
    {"fold-batchnorm", "folds batch norms, scales and shifts into convolutions and matrix products",
     FoldBatchNorm},
    {"fuse-patterns", "recognises Gelu, Swish, HardSwish, Mish, LayerNormalization written as formulas",
     FusePatterns},
    {"transposed-convolutions",
     "writes transposed convolutions of few channels as convolutions whose channels become pixels",
     WriteTransposedConvolutions},
    {"line-convolutions", "writes convolutions along one axis as those of images with one row",
     WidenLineConvolutions},
    {"volume-convolutions",
     "writes convolutions, pools and resizes of volumes as those of batches of their slices",
     SliceVolumeConvolutions},
    {"round-operands", "lets products round their operands, where a precision below f32 is asked for",
     RoundNoOperands},
    {"layout", "brings activations into NHWC", ToNhwc},
    {"cancel-transposes", "joins transposes that follow each other", CancelTransposes},
    {"fuse-matmul", "lets products read and write transposed matrices where they lie", FuseMatMul},
    {"fuse-epilogues", "gives products their residual addition and activation", FuseEpilogues},
    {"fuse-elementwise", "joins chains of element-wise operators into one", FuseElementwise},
    {"concat-in-place", "lets convolutions write into their place in a concatenation", ConcatInPlace},
};

void CheckNames(const std::vector<std::string>& disabled) {
  for (const std::string& name : disabled) {
    if (std::any_of(std::begin(kPasses), std::end(kPasses), [&](const Pass& p) { return name == p.name; }))
      continue;
    std::string known;
    for (const Pass& p : kPasses) known += (known.empty() ? "" : ", ") + std::string(p.name);
    Invalid("passes", "unknown pass; got '{}', expected one of: {}", name, known);
  }
}

template <class Run>
PassRecord RunOne(Graph& graph, const char* name, Run run) {
  PassRecord record{name, 0, int(graph.nodes.size()), 0, false};
  const int64_t start = NowNs();
  record.changed = run(graph);
  if (record.changed) {
    SortTopologically(graph);
    RemoveUnused(graph);
    Verify(graph);
  }
  record.ms = double(NowNs() - start) * 1e-6;
  record.nodes_after = int(graph.nodes.size());
  return record;
}

const Pass* FirstBehindDivision() {
  return std::find_if(std::begin(kPasses), std::end(kPasses), [](const Pass& p) { return p.run == ToNhwc; });
}

}  // namespace

std::span<const Pass> OptimizingPasses() { return kPasses; }

std::vector<std::string> PassesBehindDivision() {
  std::vector<std::string> names;
  for (const Pass* pass = FirstBehindDivision(); pass != std::end(kPasses); ++pass)
    names.push_back(pass->name);
  return names;
}

std::vector<PassRecord> RunPasses(Graph& graph, const PassOptions& options) {
  const std::vector<std::string>& disabled = options.disabled;
  CheckNames(disabled);
  auto runs = [&](const char* name) {
    return options.optimize && std::find(disabled.begin(), disabled.end(), name) == disabled.end();
  };
  std::vector<PassRecord> records;
  FoldSpent spent;
  const auto fold_again = [&](Graph& g) {
    return FoldConstants(g, {.limits = options.limits, .spent = &spent});
  };
  const auto fuse_quantized = [&](Graph& g) {
    if (!(options.onnxruntime_sums ? FuseQuantizedAsOnnxRuntime(g) : FuseQuantized(g))) return false;
    RemoveUnused(g);  // so that weights which are integers now are not folded to floats
    // The remaining DequantizeLinear are folded.
    return fold_again(g);
  };
  const auto write_einsums = [&](Graph& g) {
    if (!WriteEinsums(g)) return false;
    fold_again(g);  // weights that are transposed
    return true;
  };
  const auto round_operands = [&](Graph& g) {
    return RoundOperands(g, options.precision, options.node_precisions);
  };
  records.push_back(RunOne(graph, "fold", [&](Graph& g) {
    return FoldConstants(
        g, {.limits = options.limits, .keep_dequantized = runs(kFuseQuantized), .spent = &spent});
  }));
  for (const Pass& pass : kPasses) {
    if (options.divisible && &pass == FirstBehindDivision()) *options.divisible = graph;
    if (!runs(pass.name)) continue;
    records.push_back(pass.run == FuseQuantized     ? RunOne(graph, pass.name, fuse_quantized)
                      : pass.run == WriteEinsums    ? RunOne(graph, pass.name, write_einsums)
                      : pass.run == RoundNoOperands ? RunOne(graph, pass.name, round_operands)
                                                    : RunOne(graph, pass.name, pass.run));
  }
  return records;
}

}  // namespace mete
