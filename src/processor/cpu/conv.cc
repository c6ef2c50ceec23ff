// Convolutions over NHWC: implicit matrix product.
#include <fmt/format.h>

#include "kernels/fast/conv/conv.h"
#include "processor/cpu/families.h"

namespace mete {
namespace {

// The shape in the kernels' terms, or nothing for what they do not do.
ConvShape ShapeOf(const Graph& graph, const Node& node) {
  const Shape &x = graph.value(node.inputs[0]).shape, &w = graph.value(node.inputs[1]).shape, &y = graph.value(node.outputs[0]).shape;
  ConvShape s;
  s.batch = x[0];
  s.in_height = x[1], s.in_width = x[2], s.in_channels = x[3];
  s.out_height = y[1], s.out_width = y[2], s.out_channels = y[3];
  s.kernel_height = w[2], s.kernel_width = w[3];
  const Ints &strides = node.attributes.IntList("strides"), &dilations = node.attributes.IntList("dilations"), &pads = node.attributes.IntList("pads");
  if (strides.size() == 2) s.stride_y = strides[0], s.stride_x = strides[1];
  if (dilations.size() == 2) s.dilation_y = dilations[0], s.dilation_x = dilations[1];
  s.groups = node.attributes.Int("group", 1);
  const std::string_view mode = node.attributes.String("auto_pad", "NOTSET");
  if (mode == "SAME_UPPER" || mode == "SAME_LOWER") {
    auto before = [&](int64_t in, int64_t out, int64_t kernel, int64_t stride, int64_t dilation) {
      const int64_t all = std::max<int64_t>(0, (out - 1) * stride + (kernel - 1) * dilation + 1 - in);
      return mode == "SAME_UPPER" ? all / 2 : all - all / 2;
    };
    s.pad_top = before(s.in_height, s.out_height, s.kernel_height, s.stride_y, s.dilation_y);
    s.pad_left = before(s.in_width, s.out_width, s.kernel_width, s.stride_x, s.dilation_x);
  } else if (mode == "NOTSET" && pads.size() == 4) {
    s.pad_top = pads[0], s.pad_left = pads[1];
  }
  return s;
}

class ConvStep : public Prepared {
 public:
  ConvStep(const Graph& graph, const Node& node, const Epilogue& epilogue, Pool& pool)
      : pool_(pool), plan_(PlanConv(ShapeOf(graph, node))), epilogue_(epilogue), residual_(HasResidual(node)) {
    packed_ = Tensor(DType::kU8, Shape{int64_t(PackedConvBytes(plan_))});
    PackConv(plan_, graph.value(node.inputs[1]).constant.as<float>(), packed_.mutable_view().as<float>());
    if (node.input(2) != kNoValue) epilogue_.bias = graph.value(node.inputs[2]).constant.as<float>();
    grid_ = MakeGrid(plan_.shape.out_pixels(), plan_.row_step, plan_.panels, pool.threads());
    scratch_bytes_ = (int64_t(ConvScratchBytes(plan_)) + 63) / 64 * 64;
    scratch_ = Tensor(DType::kU8, Shape{scratch_bytes_ * pool.threads()});
  }

  void Execute(std::span<const ConstView> in, std::span<View> out) override {
    Epilogue epilogue = epilogue_;
    if (residual_) epilogue.residual = in[3].as<float>();
    auto* scratch = static_cast<std::byte*>(scratch_.mutable_view().data);
    pool_.For(grid_.blocks(), [&](int w, int64_t begin, int64_t end) {
      for (int64_t b = begin; b < end; ++b)
        RunConv(plan_, in[0].as<float>(), packed_.as<float>(), epilogue, grid_.Rows(b), grid_.Columns(b), out[0].as<float>(), scratch + w * scratch_bytes_);
    });
  }

  std::string kernel() const override {
    return fmt::format("{} {}", plan_.as_gemm ? "conv_1x1_f32" : plan_.joined ? "conv_rows_f32" : "conv_f32", TargetOf(plan_));
  }
  int64_t packed_bytes() const override { return int64_t(packed_.bytes()); }

 private:
  Pool& pool_;
  const ConvPlan plan_;
  Epilogue epilogue_;
  const bool residual_;
  Tensor packed_;
  Grid grid_;
  int64_t scratch_bytes_ = 0;
  Tensor scratch_;
};

}  // namespace

std::unique_ptr<Prepared> PrepareConv(const Graph& graph, const Node& node, Pool& pool, std::string* why) {
  if (node.op != "Conv") return nullptr;
  if (node.attributes.String("layout", "") != "NHWC") return *why = "not in NHWC", nullptr;
  if (!IsF32(graph, node.inputs[0]) || !graph.value(node.inputs[1]).is_constant()) return *why = "weights are not constant", nullptr;
  if (node.input(2) != kNoValue && !graph.value(node.inputs[2]).is_constant()) return *why = "the bias is not constant", nullptr;
  if (graph.value(node.outputs[0]).shape.Elements() == 0) return *why = "nothing to compute", nullptr;
  const auto epilogue = EpilogueOf(node);
  if (!epilogue) return *why = "the activation has no fast form", nullptr;
  return std::make_unique<ConvStep>(graph, node, *epilogue, pool);
}

}  // namespace mete
