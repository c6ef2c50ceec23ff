#include "dispatch/dispatch.h"

#include <algorithm>
#include <type_traits>

#include "dispatch/reason.h"

namespace mete {
namespace {

// Makes the function of a row from that of a family, for example RowsOf.
template <auto kOf>
std::optional<FastKernel> Fast(const Graph& graph, const Node& node, const DispatchOptions& options,
                               std::string* why) {
  if constexpr (std::is_invocable_v<decltype(kOf), const Graph&, const Node&, std::string*>)
    return kOf(graph, node, why);
  else return kOf(graph, node, options, why);
}

std::optional<FastKernel> AnyPoolingOf(const Graph& graph, const Node& node, std::string* why) {
  if (graph.value(node.inputs[0]).type == DType::kF32) return PoolingOf(graph, node, why);
  return BytePoolingOf(graph, node, why);
}

}  // namespace

const std::vector<KernelFamily>& KernelFamilies() {
  static const std::vector<KernelFamily> families = {
      // immutable after the first call
      {"conv", {"Conv"}, Fast<ConvolutionOf>},
      {"transposed_conv", {"ConvTranspose"}, Fast<TransposedConvolutionOf>},
      {"matrix", {"Gemm", "MatMul", "mete.MatMul"}, Fast<ProductOf>},
      {"quantized_conv",
       {"QLinearConv", "ConvInteger", "mete.ScaledConvInteger"},
       Fast<QuantizedConvolutionOf>},
      {"quantized_matrix",
       {"QLinearMatMul", "MatMulInteger", "mete.ScaledMatMulInteger"},
       Fast<QuantizedProductOf>},
      {"convert", {"QuantizeLinear", "DequantizeLinear"}, Fast<ConversionOf>},
      {"dynamic_convert", {"DynamicQuantizeLinear"}, Fast<DynamicConversionOf>},
      {"pool", {"MaxPool", "AveragePool", "GlobalMaxPool", "GlobalAveragePool"}, Fast<AnyPoolingOf>},
      {"quantized_pool", {"mete.QLinearAveragePool", "mete.QLinearGlobalAveragePool"}, Fast<BytePoolingOf>},
      {"quantized_elementwise", {"mete.QLinearAdd", "mete.QLinearMul"}, Fast<ByteOperationOf>},
      {"table", {"mete.ByteTable"}, Fast<ByteTableOf>},
      {"elementwise", {"mete.Elementwise"}, Fast<ElementwiseOf>},
      {"select", {"Where"}, Fast<SelectionOf>},
      {"compare",
       {"Equal", "Less", "Greater", "LessOrEqual", "GreaterOrEqual", "And", "Or"},
       Fast<ComparisonOf>},
      {"rows", {"Softmax", "LogSoftmax", "LayerNormalization", "RMSNormalization"}, Fast<RowsOf>},
      {"lrn", {"LRN"}, Fast<LrnOf>},
      {"transpose", {"Transpose", "DepthToSpace", "SpaceToDepth"}, Fast<TranspositionOf>},
      {"join", {"Concat", "Split"}, Fast<JoinOf>},
      {"resize", {"Resize"}, Fast<ResizingOf>},
      {"reduce",
       {"ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean", "ReduceMin",
        "ReduceProd", "ReduceSum", "ReduceSumSquare"},
       Fast<ReductionOf>},
      {"top", {"TopK"}, Fast<TopChoiceOf>},
      {"best", {"ArgMax", "ArgMin"}, Fast<BestChoiceOf>},
      {"cast", {"Cast", "CastLike"}, Fast<HalfCastOf>},
      {"recurrence", {"LSTM", "GRU", "RNN"}, Fast<RecurrenceOf>},
  };
  return families;
}

const KernelFamily* FamilyOf(std::string_view op) {
  for (const KernelFamily& family : KernelFamilies())
    if (std::find(family.operators.begin(), family.operators.end(), op) != family.operators.end())
      return &family;
  return nullptr;
}

std::optional<FastKernel> FastKernelOf(const Graph& graph, const Node& node, const DispatchOptions& options,
                                       std::string* why) {
  const KernelFamily* family = FamilyOf(node.op);
  if (!family) return No("no fast kernel for " + node.op, why);
  return family->of(graph, node, options, why);
}

std::vector<std::string> KernelNames(const FastKernel& fast) {
  return std::visit(
      []<class Kernel>(const Kernel& kernel) -> std::vector<std::string> {
        if constexpr (requires { kernel.kernels(); }) return kernel.kernels();
        else return {kernel.kernel()};
      },
      fast);
}

}  // namespace mete
