#include "processor/cpu/prepare/families.h"

#include <algorithm>

namespace mete {
const std::vector<KernelFamily>& KernelFamilies() {
  static const std::vector<KernelFamily> families = {
      // immutable after the first call
      {"conv", {"Conv"}, PrepareConv},
      {"matrix", {"Gemm", "MatMul", "mete.MatMul"}, PrepareMatrix},
      {"quantized_conv", {"QLinearConv"}, PrepareQuantizedConv},
      {"convert", {"QuantizeLinear", "DequantizeLinear"}, PrepareConvert},
      {"pool", {"MaxPool", "AveragePool", "GlobalMaxPool", "GlobalAveragePool"}, PreparePool},
      {"elementwise", {"mete.Elementwise"}, PrepareElementwise},
      {"rows", {"Softmax", "LogSoftmax", "LayerNormalization", "RMSNormalization"}, PrepareRows},
      {"lrn", {"LRN"}, PrepareLrn},
      {"transpose", {"Transpose"}, PrepareTranspose},
      {"join", {"Concat", "Split"}, PrepareJoin},
  };
  return families;
}

const KernelFamily* FamilyOf(std::string_view op) {
  for (const KernelFamily& family : KernelFamilies())
    if (std::find(family.operators.begin(), family.operators.end(), op) != family.operators.end())
      return &family;
  return nullptr;
}

}  // namespace mete
