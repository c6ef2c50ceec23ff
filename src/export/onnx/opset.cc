// The oldest opset that has the operators of a graph.
#include <algorithm>
#include <string_view>

#include "export/onnx/onnx_file.h"
#include "graph/bodies.h"

namespace mete {
namespace {

// DequantizeLinear with a scale for each channel came with opset 13, which every current engine reads.
constexpr int64_t kLeastOpset = 13;

// Operators and attributes that are newer than opset 13, from the schemas of ONNX (onnx.defs). Versions that
// only added element types other than f32 are left out.
struct Since {
  std::string_view op;
  int64_t opset;
  std::string_view attribute = {};  // the row holds for nodes with this attribute; empty: for all
};
constexpr Since kSince[] = {
    {"AffineGrid", 20},
    {"Attention", 24},
    {"AveragePool", 19, "dilations"},
    {"Bernoulli", 15},
    {"BitCast", 26},
    {"BitwiseAnd", 18},
    {"BitwiseNot", 18},
    {"BitwiseOr", 18},
    {"BitwiseXor", 18},
    {"Cast", 19, "saturate"},
    {"Cast", 24, "round_mode"},
    {"CastLike", 15},
    {"CastLike", 19, "saturate"},
    {"CenterCropPad", 18},
    {"Col2Im", 18},
    {"CumProd", 26},
    {"DeformConv", 19},
    {"DequantizeLinear", 21, "block_size"},
    {"DequantizeLinear", 23, "output_dtype"},
    {"GRU", 14, "layout"},
    {"Gelu", 20},
    {"GridSample", 20},
    {"GroupNormalization", 21},
    {"HardSwish", 14},
    {"LSTM", 14, "layout"},
    {"LayerNormalization", 17},
    {"LinearAttention", 27},
    {"LpPool", 18},
    {"Mish", 18},
    {"QuantizeLinear", 21, "block_size"},
    {"QuantizeLinear", 21, "output_dtype"},
    {"RMSNormalization", 23},
    {"RNN", 14, "layout"},
    {"ReduceL1", 18},
    {"ReduceL2", 18},
    {"ReduceLogSum", 18},
    {"ReduceLogSumExp", 18},
    {"ReduceMax", 18},
    {"ReduceMean", 18},
    {"ReduceMin", 18},
    {"ReduceProd", 18},
    {"ReduceSumSquare", 18},
    {"Reshape", 14, "allowzero"},
    {"Resize", 18, "antialias"},
    {"Resize", 18, "axes"},
    {"Resize", 18, "keep_aspect_ratio_policy"},
    {"RoiAlign", 16},
    {"RotaryEmbedding", 23},
    {"ScatterElements", 16, "reduction"},
    {"ScatterND", 16, "reduction"},
    {"Shape", 15, "end"},
    {"Shape", 15, "start"},
    {"SpaceToDepth", 28, "mode"},
    {"Split", 18, "num_outputs"},
    {"SwiGLU", 28},
    {"Swish", 24},
    {"TensorScatter", 24},
    {"Trilu", 14},
};

int64_t OpsetOf(const Node& node) {
  int64_t opset = kLeastOpset;
  for (const Since& row : kSince)
    if (row.op == node.op && (row.attribute.empty() || node.attributes.Has(row.attribute)))
      opset = std::max(opset, row.opset);
  if (node.op == "Pad" && node.input(3) != kNoValue) opset = std::max<int64_t>(opset, 18);  // axes
  return opset;
}

// The opset from which on QuantizeLinear, DequantizeLinear, Cast and the operators that move elements take a
// type, from the same schemas.
int64_t OpsetOf(DType type) {
  switch (type) {
    case DType::kF8E4M3FN:
    case DType::kF8E4M3FNUZ:
    case DType::kF8E5M2:
    case DType::kF8E5M2FNUZ:
    case DType::kI4:
    case DType::kU4: return 21;
    case DType::kF4E2M1: return 23;
    case DType::kF8E8M0: return 24;
    case DType::kI2:
    case DType::kU2: return 25;
    default: return kLeastOpset;
  }
}

}  // namespace

int64_t OpsetOf(const Graph& graph) {
  int64_t opset = kLeastOpset;
  for (const Value& value : graph.values) opset = std::max(opset, OpsetOf(value.type));
  for (const Node& node : graph.nodes) {
    opset = std::max(opset, OpsetOf(node));
    for (const std::string_view name : BodyNames(node.op))
      opset = std::max(opset, OpsetOf(*node.attributes.GraphOf(name)));
  }
  return opset;
}

}  // namespace mete
