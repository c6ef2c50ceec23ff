// Transposed convolutions of f32 over NHWC: the convolutions of their phases. Operands that are rounded to
// halves (PrecisionOf) are those of all phases, which read one rounded input.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <type_traits>

#include "dispatch/activations.h"
#include "kernels/fast/conv/phases.h"
#include "kernels/fast/depthwise/depthwise.h"
#include "processor/cpu/prepare/half_product.h"
#include "processor/cpu/prepare/prepare.h"
#include "processor/cpu/prepare/weight_rows.h"

namespace mete {
namespace {

// The convolution of a phase, by the kernel that fits its channels, and the place of its packed weights.
struct PreparedPhase {
  ConvPhase phase;
  std::optional<ConvPlan> product;  // one of the three is set
  std::optional<HalfConvPlan> halves;
  std::optional<DepthwisePlan> by_channel;
  int64_t packed = 0;  // index of the first element

  int64_t rows() const { return phase.conv.out_height; }
  size_t packed_bytes() const {
    return product  ? PackedConvBytes(*product)
           : halves ? PackedHalfConvBytes(*halves)
                    : PackedDepthwiseBytes(*by_channel);
  }
  size_t scratch_bytes() const {
    return product ? ConvScratchBytes(*product) : halves ? HalfConvScratchBytes(*halves) : 0;
  }
  std::string target() const {
    return product ? TargetOf(*product) : halves ? TargetOf(*halves) : TargetOf(*by_channel);
  }
};

PreparedPhase PlanPhase(ConvPhase phase, Precision operands) {
  PreparedPhase prepared{std::move(phase), {}, {}, {}};
  const ConvShape& conv = prepared.phase.conv;
  if (IsHalf(operands)) prepared.halves = PlanHalfConv(conv, operands);
  else if (IsDepthwise(conv)) prepared.by_channel = PlanDepthwise(conv);
  else prepared.product = PlanConv(conv);
  return prepared;
}

// A block is a row of a phase of an image; neighbouring rows of a phase are computed together.
class TransposedConvStep : public PreparedNode {
 public:
  TransposedConvStep(const TransposedConvolution& conv, const Preparation& of)
      : pool_(of.pool()), conv_(conv), residual_(of.node.attributes.Has("residual")) {
    const Node& node = of.node;
    epilogue_.activation = *FastActivation(node);
    for (ConvPhase& phase : PhasesOf(conv.shape)) AddPhase(PlanPhase(std::move(phase), precision_));
    RoundInput();
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
    const float* residual = residual_ ? in[3].as<float>() : nullptr;
    const float* x = in[0].as<float>();
    if (rounded_) RunAll(rounded_->Round(x), residual, out[0].as<float>());
    else RunAll(x, residual, out[0].as<float>());
  }

  Reads reads(size_t input) const override { return input == 1 ? Reads::kNothing : Reads::kElements; }
  std::string kernel() const override {
    const std::string name = IsHalf(precision_) ? conv_.kernels().back() : conv_.kernel();
    return fmt::format("{} {}", name, phases_[0].target());
  }
  std::string reason() const override {
    return fmt::format("{} phase{}{}", phases_.size(), phases_.size() == 1 ? "" : "s",
                       IsHalf(precision_) ? fmt::format(", rounded to {}", Name(precision_)) : "");
  }
  int64_t packed_bytes() const override { return int64_t(packed_.bytes()); }

 private:
  // All phases round or none does.
  void RoundInput() {
    if (!phases_[0].halves || !RoundsInputs(*phases_[0].halves)) return;
    rounded_.emplace(*phases_[0].halves, conv_.shape.batch * in_elements_, pool_);
    pool_.ReserveShared(rounded_->bytes());
  }

  template <class Input>
  void RunAll(const Input* x, const float* residual, float* y) {
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

  void AddPhase(PreparedPhase phase) {
    phase.packed = packed_elements_;
    packed_elements_ += (int64_t(phase.packed_bytes()) + 63) / 64 * 16;  // whole lines of 64 bytes
    rows_ += phase.rows();
    pool_.ReserveScratch(int64_t(phase.scratch_bytes()));
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
    if (p.product) return PackConv(*p.product, of_phase.data(), {0, p.product->panels}, packed + p.packed);
    if (p.by_channel) return PackDepthwise(*p.by_channel, of_phase.data(), packed + p.packed);
    const ConvShape& s = p.phase.conv;
    const int64_t length = s.in_channels / s.groups * s.kernel_height * s.kernel_width;
    PackHalfConv(*p.halves, {of_phase.data(), length, true}, {0, p.halves->panels}, packed + p.packed);
  }

  // Runs rows of one image, numbered over its phases.
  template <class Input>
  void RunRows(int worker, Range rows, const Input* x, const float* residual, float* y) {
    int64_t first = 0;
    for (const PreparedPhase& p : phases_) {
      const Range own{std::max<int64_t>(rows.begin - first, 0), std::min(rows.end - first, p.rows())};
      Epilogue epilogue = epilogue_;
      if (residual) epilogue.residual = residual + p.phase.first;
      if (own.begin < own.end) RunPhase(worker, p, own, x, epilogue, y + p.phase.first);
      first += p.rows();
    }
  }

  template <class Input>
  void RunPhase(int worker, const PreparedPhase& p, Range rows, const Input* x, const Epilogue& epilogue,
                float* y) {
    const ConvShape& s = p.phase.conv;
    const float* packed = packed_.as<float>() + p.packed;
    const Range pixels{rows.begin * s.out_width, rows.end * s.out_width};
    std::byte* scratch = pool_.scratch(worker);
    if (p.halves)
      return RunHalfConv(*p.halves, x, packed, epilogue, pixels, {0, p.halves->panels}, y, scratch);
    if constexpr (std::is_same_v<Input, float>) {
      if (p.product)
        return RunConv(*p.product, x, packed, epilogue, pixels, {0, p.product->panels}, y, scratch);
      RunDepthwise(*p.by_channel, x, packed, epilogue, rows, {0, s.out_channels}, y);
    }
  }

  ThreadPool& pool_;
  const TransposedConvolution conv_;
  const Precision precision_ = PrecisionOf(conv_);
  const bool residual_;
  const int64_t in_elements_ = conv_.shape.in_height * conv_.shape.in_width * conv_.shape.in_channels,
                out_elements_ = conv_.shape.out_height * conv_.shape.out_width * conv_.shape.out_channels;
  std::vector<float> bias_;  // of a phase: all have as many output channels
  Epilogue epilogue_;
  std::vector<PreparedPhase> phases_;
  std::optional<RoundedInput> rounded_;
  int64_t rows_ = 0;  // of all phases of an image
  int64_t packed_elements_ = 0;
  Tensor packed_;
};

}  // namespace

std::unique_ptr<PreparedNode> Prepare(const TransposedConvolution& conv, const Preparation& of) {
  of.pool().BeginStep(0);
  return std::make_unique<TransposedConvStep>(conv, of);
}

}  // namespace mete
