// Transposed convolutions of f32 over NHWC: the convolutions of their phases.
#include <fmt/format.h>

#include <algorithm>

#include "dispatch/activations.h"
#include "kernels/fast/conv/phases.h"
#include "kernels/fast/depthwise/depthwise.h"
#include "processor/cpu/prepare/prepare.h"
#include "processor/cpu/prepare/weight_rows.h"

namespace mete {
namespace {

// The convolution of a phase, by the kernel that fits its channels, and the place of its packed weights.
struct PreparedPhase {
  ConvPhase phase;
  std::optional<ConvPlan> product;  // one of the two is set
  std::optional<DepthwisePlan> by_channel;
  int64_t packed = 0;  // index of the first element

  int64_t rows() const { return phase.conv.out_height; }
  size_t packed_bytes() const {
    return product ? PackedConvBytes(*product) : PackedDepthwiseBytes(*by_channel);
  }
  const char* target() const { return product ? TargetOf(*product) : TargetOf(*by_channel); }
};

PreparedPhase PlanPhase(ConvPhase phase) {
  PreparedPhase prepared{std::move(phase), {}, {}};
  if (IsDepthwise(prepared.phase.conv)) prepared.by_channel = PlanDepthwise(prepared.phase.conv);
  else prepared.product = PlanConv(prepared.phase.conv);
  return prepared;
}

// A block is a row of a phase of an image; neighbouring rows of a phase are computed together.
class TransposedConvStep : public PreparedNode {
 public:
  TransposedConvStep(const TransposedConvolution& conv, const Preparation& of)
      : pool_(of.pool()), conv_(conv), residual_(of.node.attributes.Has("residual")) {
    const Node& node = of.node;
    epilogue_.activation = *FastActivation(node);
    for (ConvPhase& phase : PhasesOf(conv.shape)) AddPhase(PlanPhase(std::move(phase)));
    if (node.input(2) != kNoValue) {
      const float* bias = of.graph.value(node.inputs[2]).constant.as<float>();
      bias_ = PhaseBias(conv.shape, phases_[0].phase, bias);
      epilogue_.bias = bias_.data();
    }
    const Tensor& weights = of.graph.value(node.inputs[1]).constant;
    Pack(weights, of.packer);
    ReleasePagesOf(weights);
  }

  void Execute(std::span<const ConstView> in, std::span<View> out) override {
    const auto* x = in[0].as<float>();
    auto* y = out[0].as<float>();
    const float* residual = residual_ ? in[3].as<float>() : nullptr;
    pool_.For(conv_.shape.batch * rows_, [&](int worker, int64_t begin, int64_t end) {
      while (begin < end) {
        const int64_t image = begin / rows_, last = std::min(end, (image + 1) * rows_);
        const int64_t at = image * out_elements_;
        RunRows(worker, {begin - image * rows_, last - image * rows_}, x + image * in_elements_,
                residual ? residual + at : nullptr, y + at);
        begin = last;
      }
    });
  }

  Reads reads(size_t input) const override { return input == 1 ? Reads::kNothing : Reads::kElements; }
  std::string kernel() const override { return fmt::format("{} {}", conv_.kernel(), phases_[0].target()); }
  std::string reason() const override {
    return fmt::format("{} phase{}", phases_.size(), phases_.size() == 1 ? "" : "s");
  }
  int64_t packed_bytes() const override { return int64_t(packed_.bytes()); }

 private:
  void AddPhase(PreparedPhase phase) {
    phase.packed = packed_elements_;
    packed_elements_ += (int64_t(phase.packed_bytes()) + 63) / 64 * 16;  // whole lines of 64 bytes
    rows_ += phase.rows();
    if (phase.product) pool_.ReserveScratch(int64_t(ConvScratchBytes(*phase.product)));
    phases_.push_back(std::move(phase));
  }

  void Pack(const Tensor& weights, Packer& packer) {
    const ConvShape& s = conv_.shape;
    // An output that is smaller than the stride lacks phases: 2x4 of them are not 4x2.
    const std::string what = fmt::format(
        "{}, {} x {} of {} groups, {}x{}, stride {}x{}, dilation {}x{}, pad {}x{}, {} phases of {}x{}",
        kernel(), s.out_channels, s.in_channels, s.groups, s.kernel_height, s.kernel_width, s.stride_y,
        s.stride_x, s.dilation_y, s.dilation_x, s.pad_top, s.pad_left, phases_.size(),
        std::min(s.stride_y, s.out_height), std::min(s.stride_x, s.out_width));
    packed_ = packer.Pack(what, weights, packed_elements_ * int64_t{sizeof(float)}, int64_t(phases_.size()),
                          [&](Range phases, float* packed) {
                            WeightRows rows(weights);
                            const float* all = rows.Of({0, s.in_channels});
                            for (int64_t p = phases.begin; p < phases.end; ++p)
                              PackPhase(phases_[size_t(p)], all, packed);
                          });
  }

  void PackPhase(const PreparedPhase& p, const float* weights, float* packed) const {
    const std::vector<float> of_phase = PhaseWeights(conv_.shape, p.phase, weights);
    if (p.product) PackConv(*p.product, of_phase.data(), {0, p.product->panels}, packed + p.packed);
    else PackDepthwise(*p.by_channel, of_phase.data(), packed + p.packed);
  }

  // Runs rows of one image, numbered over its phases.
  void RunRows(int worker, Range rows, const float* x, const float* residual, float* y) {
    int64_t first = 0;
    for (const PreparedPhase& p : phases_) {
      const Range own{std::max<int64_t>(rows.begin - first, 0), std::min(rows.end - first, p.rows())};
      Epilogue epilogue = epilogue_;
      if (residual) epilogue.residual = residual + p.phase.first;
      if (own.begin < own.end) RunPhase(worker, p, own, x, epilogue, y + p.phase.first);
      first += p.rows();
    }
  }

  void RunPhase(int worker, const PreparedPhase& p, Range rows, const float* x, const Epilogue& epilogue,
                float* y) {
    const ConvShape& s = p.phase.conv;
    const float* packed = packed_.as<float>() + p.packed;
    if (p.by_channel) return RunDepthwise(*p.by_channel, x, packed, epilogue, rows, {0, s.out_channels}, y);
    RunConv(*p.product, x, packed, epilogue, {rows.begin * s.out_width, rows.end * s.out_width},
            {0, p.product->panels}, y, pool_.scratch(worker));
  }

  ThreadPool& pool_;
  const TransposedConvolution conv_;
  const bool residual_;
  const int64_t in_elements_ = conv_.shape.in_height * conv_.shape.in_width * conv_.shape.in_channels,
                out_elements_ = conv_.shape.out_height * conv_.shape.out_width * conv_.shape.out_channels;
  std::vector<float> bias_;  // of a phase: all have as many output channels
  Epilogue epilogue_;
  std::vector<PreparedPhase> phases_;
  int64_t rows_ = 0;  // of all phases of an image
  int64_t packed_elements_ = 0;
  Tensor packed_;
};

}  // namespace

std::unique_ptr<PreparedNode> Prepare(const TransposedConvolution& conv, const Preparation& of) {
  return std::make_unique<TransposedConvStep>(conv, of);
}

}  // namespace mete
