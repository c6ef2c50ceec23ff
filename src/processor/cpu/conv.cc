// Convolutions over NHWC: depthwise ones, and all others as an implicit matrix product.
#include <fmt/format.h>

#include "kernels/fast/conv/conv.h"
#include "kernels/fast/depthwise/depthwise.h"
#include "processor/cpu/families.h"

namespace mete {
namespace {

ConvShape ShapeOf(const Graph& graph, const Node& node) {
  const Shape& w = graph.value(node.inputs[1]).shape;
  ConvShape s = WindowOf(graph, node, w[2], w[3]);
  s.groups = node.attributes.Int("group", 1);
  return s;
}

const float* BiasOf(const Graph& graph, const Node& node) {
  return node.input(2) == kNoValue ? nullptr : graph.value(node.inputs[2]).constant.as<float>();
}

class ConvStep : public Prepared {
 public:
  ConvStep(const Graph& graph, const Node& node, const Epilogue& epilogue, Pool& pool)
      : pool_(pool), plan_(PlanConv(ShapeOf(graph, node))), epilogue_(epilogue), residual_(HasResidual(node)) {
    packed_ = Tensor(DType::kU8, Shape{int64_t(PackedConvBytes(plan_))});
    PackConv(plan_, graph.value(node.inputs[1]).constant.as<float>(), packed_.mutable_view().as<float>());
    epilogue_.bias = BiasOf(graph, node);
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

class DepthwiseStep : public Prepared {
 public:
  DepthwiseStep(const Graph& graph, const Node& node, const Epilogue& epilogue, Pool& pool)
      : pool_(pool), plan_(PlanDepthwise(ShapeOf(graph, node))), epilogue_(epilogue), residual_(HasResidual(node)) {
    packed_ = Tensor(DType::kU8, Shape{int64_t(PackedDepthwiseBytes(plan_))});
    PackDepthwise(plan_, graph.value(node.inputs[1]).constant.as<float>(), packed_.mutable_view().as<float>());
    epilogue_.bias = BiasOf(graph, node);
    const int64_t channels = plan_.shape.out_channels, steps = (channels + plan_.channel_step - 1) / plan_.channel_step;
    grid_ = MakeGrid(plan_.out_rows, 1, steps, pool.threads());
  }

  void Execute(std::span<const ConstView> in, std::span<View> out) override {
    Epilogue epilogue = epilogue_;
    if (residual_) epilogue.residual = in[3].as<float>();
    pool_.For(grid_.blocks(), [&](int, int64_t begin, int64_t end) {
      for (int64_t b = begin; b < end; ++b) {
        const Range steps = grid_.Columns(b);
        const Range channels{steps.begin * plan_.channel_step, std::min(steps.end * plan_.channel_step, plan_.shape.out_channels)};
        RunDepthwise(plan_, in[0].as<float>(), packed_.as<float>(), epilogue, grid_.Rows(b), channels, out[0].as<float>());
      }
    });
  }

  std::string kernel() const override { return fmt::format("depthwise_f32 {}", TargetOf(plan_)); }
  int64_t packed_bytes() const override { return int64_t(packed_.bytes()); }

 private:
  Pool& pool_;
  const DepthwisePlan plan_;
  Epilogue epilogue_;
  const bool residual_;
  Tensor packed_;
  Grid grid_;
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
  if (IsDepthwise(ShapeOf(graph, node))) return std::make_unique<DepthwiseStep>(graph, node, *epilogue, pool);
  return std::make_unique<ConvStep>(graph, node, *epilogue, pool);
}

}  // namespace mete
