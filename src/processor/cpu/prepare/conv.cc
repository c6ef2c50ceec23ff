// Convolutions of f32 over NHWC.
#include <fmt/format.h>

#include "base/tensor_source.h"
#include "dispatch/activations.h"
#include "processor/cpu/prepare/conv_pieces.h"
#include "processor/cpu/prepare/prepare.h"
#include "processor/cpu/prepare/float_conv.h"

namespace mete {
namespace {

// An algorithm that the options ask for is computed in one way.
std::vector<ConvWay> WaysOf(const Convolution& conv, const KernelOptions& options) {
  if (options.dispatch.conv || conv.algorithms[0] != ConvAlgorithm::kDirect) return {{conv.algorithms[0]}};
  return ConvWaysFor(conv.shape, conv.algorithms);
}

// Returns whether it is worth measuring which side to divide. For depthwise and Winograd convolutions the
// usual side never lost by much (measured on the layers of three networks), and a single panel cannot be
// divided.
bool HasSides(const ConvShape& shape, const ConvWay& way) {
  return !IsDepthwise(shape) && way.algorithm == ConvAlgorithm::kDirect &&
         PlanConv(shape, way.tile_vectors).panels > 1;
}

bool MayBeRounded(const std::vector<ConvWay>& ways) {
  return std::any_of(ways.begin(), ways.end(),
                     [](const ConvWay& way) { return OperandsOf(way.algorithm) != Precision::kF32; });
}

// The tensors of all trials of a node, which are made for the first trial: the input is in the caches, as it
// is between other layers.
struct TrialData {
  Tensor input, output, residual;
  Epilogue epilogue;

  void Allocate(const ConvShape& shape, bool has_residual) {
    const int64_t pixels = shape.batch * shape.in_height * shape.in_width;
    input = Ones(pixels * std::max(shape.in_pixel_stride, shape.in_channels));
    output = Ones(shape.out_pixels() * std::max(shape.out_pixel_stride, shape.out_channels));
    if (!has_residual) return;
    residual = Ones(shape.out_pixels() * shape.out_channels);
    epilogue.residual = residual.as<float>();
  }
};

class ConvStep : public PreparedNode {
  using MakeWayTrial = std::function<Trial(const ConvWay&)>;

 public:
  ConvStep(const Convolution& conv, const Preparation& of)
      : residual_(of.node.attributes.Has("residual")), offset_(of.node.attributes.Int(kIntoOffset, 0)) {
    const Node& node = of.node;
    const Tensor& weights = of.graph.value(node.inputs[1]).constant;
    epilogue_.activation = *FastActivation(node);
    epilogue_.residual_stride = weights.shape()[0];
    if (node.input(2) != kNoValue) epilogue_.bias = of.graph.value(node.inputs[2]).constant.as<float>();
    ChooseWay(conv.shape, weights, WaysOf(conv, of.options), of.options, of.packer);
    if (const int64_t all = node.attributes.Int(kIntoChannels, 0); all > 0)
      AddReason(
          fmt::format("channels {} to {} of {}", offset_, offset_ + epilogue_.residual_stride - 1, all));
    ReleasePagesOf(weights);
  }

  void Execute(std::span<const ConstView> in, std::span<View> out) override {
    Epilogue epilogue = epilogue_;
    if (residual_) epilogue.residual = in[3].as<float>();
    CopyInto(in, kIntoInput, out[0]);
    conv_->Run(in[0].as<float>(), epilogue, out[0].as<float>() + offset_);
  }

  Reads reads(size_t input) const override { return input == 1 ? Reads::kNothing : Reads::kElements; }
  std::string kernel() const override { return conv_->kernel(); }
  std::string reason() const override { return reason_; }
  int64_t packed_bytes() const override { return conv_->packed_bytes(); }
  int64_t computed_flops(int64_t flops) const override { return conv_->computed_flops(flops); }

 private:
  // Takes the way in which the convolution was computed for other shapes, where it is one of `ways`.
  void TakeWay(const ConvShape& shape, const Tensor& weights, const std::vector<ConvWay>& ways,
               const PreparedNode* before, Packer& packer) {
    way_ = ways[0];
    const auto* like = dynamic_cast<const ConvStep*>(before);
    const auto same = [&](const ConvWay& way) {
      return way.algorithm == like->way_.algorithm && way.tile_vectors == like->way_.tile_vectors;
    };
    if (like && std::any_of(ways.begin(), ways.end(), same)) {
      way_ = like->way_;
      reason_ = "as for other shapes";
    }
    packer.pool().BeginStep(0);
    conv_.emplace(shape, weights, way_, packer);
  }

  void ChooseWay(const ConvShape& shape, const Tensor& weights, const std::vector<ConvWay>& ways,
                 const KernelOptions& options, Packer& packer) {
    if (options.again) return TakeWay(shape, weights, ways, options.like, packer);
    std::vector<std::string> names;
    for (const ConvWay& way : ways) names.push_back(Name(way));
    const std::string key = fmt::format(
        "{}{}, activation {}{}, {}, weights {}", ToText(shape), MayBeRounded(ways) ? ", may be rounded" : "",
        Name(epilogue_.activation.op), residual_ ? ", residual" : "", packer.pool().settings(),
        options.weights_from_memory ? "far" : "near");
    const ThreadPool::CallerPin pin(packer.pool());
    const MakeWayTrial make = TrialsOf(shape, weights, options.cold_weights(), packer.pool());
    const Choice choice = Choose(options.tuner, key, names, [make, ways](size_t i) { return make(ways[i]); });
    reason_ = choice.why;
    ConvWay way = ways[choice.index];
    if (way.algorithm == ConvAlgorithm::kDirect && !IsDepthwise(shape))
      ChooseClusterTiles(shape, key, options, packer.pool(), make, &way);
    if (options.tuner && packer.pool().step_threads() > 1 && HasSides(shape, way))
      ChooseSide(shape, key, options, make, &way);
    packer.pool().BeginStep(0);
    conv_.emplace(shape, weights, way, packer);
    way_ = way;
  }

  void ChooseClusterTiles(const ConvShape& shape, const std::string& key, const KernelOptions& options,
                          ThreadPool& pool, const MakeWayTrial& make, ConvWay* way) {
    const auto make_tile = [make, way = *way, threads = pool.threads()](const Tile& tile) {
      ConvWay with = way;
      with.tiles.assign(size_t(threads), tile);  // a tile for each cluster; only one cluster computes
      return make(with);
    };
    const ClusterTiles chosen =
        ChooseTiles(options.tuner, fmt::format("{}, {}", key, Name(*way)),
                    PlanConv(shape, way->tile_vectors).gemm, shape.out_pixels(), pool, make_tile);
    way->tiles = chosen.tiles;
    AddReason(chosen.why);
  }

  // Chooses which side of the grid is divided among the threads. A layer measured alone does not show what it
  // costs to divide it in another way than its neighbours, so the other side must be much faster.
  void ChooseSide(const ConvShape& shape, const std::string& key, const KernelOptions& options,
                  const MakeWayTrial& make, ConvWay* way) {
    constexpr double kMuchFaster = 0.9;  // guess
    ConvWay other = *way;
    other.other_side = true;
    const std::string tiles =
        way->tiles.empty() ? "" : ", tiles " + TilesText(PlanConv(shape, way->tile_vectors).gemm, way->tiles);
    const Choice side = Choose(
        options.tuner, fmt::format("{}, {}{}", key, Name(*way), tiles),
        {"usual side divided", "other side divided"},
        [make, usual = *way, other](size_t i) { return make(i == 0 ? usual : other); }, kMuchFaster);
    if (side.index == 1) *way = other;
    AddReason(side.why);
  }

  void AddReason(const std::string& more) {
    if (!more.empty()) reason_ += fmt::format("{}{}", reason_.empty() ? "" : "; ", more);
  }

  MakeWayTrial TrialsOf(const ConvShape& shape, const Tensor& weights, ColdWeights* cold,
                        ThreadPool& pool) const {
    const auto data = std::make_shared<TrialData>();
    data->epilogue = epilogue_;
    return [=, residual = residual_, &pool](const ConvWay& way) -> Trial {
      if (!data->input.has_value()) data->Allocate(shape, residual);
      Packer candidates(pool);  // stores no files
      const auto conv = std::make_shared<FloatConv>(shape, weights, way, candidates);
      const int64_t step = pool.NewStep();
      const auto call_us = [=, &pool, threads = pool.step_threads()] {
        pool.BeginStep(step, threads);
        return conv->MeasureUs(data->input.view(), data->epilogue, data->output.mutable_view().as<float>(),
                               cold);
      };
      call_us();
      return {call_us, conv->packed_bytes()};
    };
  }

  std::optional<FloatConv> conv_;
  ConvWay way_;
  Epilogue epilogue_;
  const bool residual_;
  const int64_t offset_;  // offset of the slice of channels that this node writes (graph/fused.h, 7)
  std::string reason_;    // for people
};

}  // namespace

std::unique_ptr<PreparedNode> Prepare(const Convolution& conv, const Preparation& of) {
  if (conv.sum_piece > 0) return PrepareConvPieces(conv, of);
  return std::make_unique<ConvStep>(conv, of);
}

}  // namespace mete
