#include "processor/cpu/prepare/byte_ways.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

#include "base/tensor_source.h"
#include "processor/cpu/prepare/conv_ways.h"
#include "processor/cpu/prepare/winograd_conv.h"

namespace mete {
namespace {

// Winograd's algorithm: bytes become floats as it reads them, and sums become bytes as it writes them.
class WinogradWay : public ByteWay {
 public:
  WinogradWay(const QuantizedConvolution& of, const Tensor& weights, ConvAlgorithm algorithm, Packer& packer)
      : name_(of.kernel(algorithm)), scale_(of.scale), bias_(size_t(of.shape.out_channels)) {
    if (of.bias) std::copy_n(of.bias, bias_.size(), bias_.begin());
    bytes_ = {.signed_input = of.x.type == DType::kI8,
              .input_zero = int32_t(of.x.zero),
              .bias = bias_.data(),
              .scale = scale_.data(),
              .least = of.least,
              .most = of.most,
              .zero = int32_t(of.y.zero),
              .signed_output = of.y.type == DType::kI8,
              .table = of.table};
    const auto pack = [&](const WinogradPlan& plan) { return Pack(of, weights, plan, packer); };
    conv_.emplace(of.shape, WinogradTile(algorithm), false, pack, packer.pool());
  }

  void Run(std::span<const ConstView> in, void* to) override {
    WinogradBytes bytes = bytes_;
    bytes.input = static_cast<const uint8_t*>(in[0].data);
    bytes.output = static_cast<uint8_t*>(to);
    conv_->Run(bytes);
  }

  std::string kernel() const override { return fmt::format("{} {}", name_, conv_->target()); }
  const Tensor& packed() const override { return conv_->packed(); }
  int64_t computed_flops(int64_t) const override { return conv_->computed_flops(); }

 private:
  Tensor Pack(const QuantizedConvolution& of, const Tensor& weights, const WinogradPlan& plan,
              Packer& packer) const {
    const int64_t filters = of.shape.in_channels, length = filters * 9;
    const std::string what =
        fmt::format("{} {}, {} x {}, columns {}, {} minus {}", name_, TargetOf(plan), of.shape.out_channels,
                    filters, plan.gemm.split.padded_columns(), of.weights.is_signed ? "i8" : "u8",
                    of.minus_weight_zeros.empty() ? "usual zero" : fmt::format("{}", of.minus_weight_zeros));
    return packer.Pack<uint8_t>(
        what, weights, int64_t(PackedWinogradBytes(plan)), plan.panels, [&](Range panels, uint8_t* packed) {
          std::vector<float> floats;
          for (int64_t p = panels.begin; p < panels.end; ++p) {
            const Range columns = plan.gemm.split.Columns(p);
            const int64_t end = std::min(columns.end, of.shape.out_channels);
            floats.resize(size_t(std::max<int64_t>(end - columns.begin, 0) * length));
            for (int64_t c = columns.begin; c < end; ++c)
              ToFloats(of, c, length, &floats[size_t((c - columns.begin) * length)]);
            PackWinograd(plan, floats.data(), {p, p + 1}, reinterpret_cast<float*>(packed), columns.begin);
          }
        });
  }

  // Writes the weights of a channel minus their zero point.
  static void ToFloats(const QuantizedConvolution& of, int64_t channel, int64_t length, float* to) {
    const int32_t zero = of.weight_zero(channel);
    const auto minus_zero = [&](auto weight) { return float(int32_t(weight) - zero); };
    const int64_t first = channel * length;
    if (of.weights.is_signed)
      std::transform(static_cast<const int8_t*>(of.weights.bytes) + first,
                     static_cast<const int8_t*>(of.weights.bytes) + first + length, to, minus_zero);
    else
      std::transform(static_cast<const uint8_t*>(of.weights.bytes) + first,
                     static_cast<const uint8_t*>(of.weights.bytes) + first + length, to, minus_zero);
  }

  const std::string name_;
  const std::vector<float> scale_;
  std::vector<float> bias_;
  WinogradBytes bytes_;
  std::optional<WinogradConv> conv_;
};

std::unique_ptr<ByteWay> MakeWay(const QuantizedConvolution& conv, const Tensor& weights,
                                 ConvAlgorithm algorithm, Packer& packer) {
  if (algorithm == ConvAlgorithm::kDirect) return MakeExactWay(conv, weights, packer);
  return std::make_unique<WinogradWay>(conv, weights, algorithm, packer);
}

// The input with constant weights: operators whose output is the sums have no scales before it.
size_t WeightsInputOf(const QuantizedConvolution& of) { return of.sums ? 1 : 3; }

// The tensors of all trials of a node.
struct TrialData {
  Tensor input, output;
};

class ByteConvStep : public PreparedNode {
 public:
  // `offset`: the place of its channels among those of the output; -1: they are all of them.
  ByteConvStep(const QuantizedConvolution& conv, int64_t offset, const Preparation& of)
      : offset_(offset), weights_input_(WeightsInputOf(conv)) {
    const Tensor& weights = of.graph.value(of.node.inputs[weights_input_]).constant;
    const std::vector<ConvAlgorithm> ways = ByteWaysFor(conv);
    algorithm_ = ways[0];
    if (of.options.again) TakeWay(ways, of.options.like);
    else if (ways.size() > 1) ChooseWay(conv, weights, ways, of);
    if (conv.algorithms.size() > 1) of.pool().BeginStep(0);
    way_ = MakeWay(conv, weights, algorithm_, of.packer);
    ReleasePagesOf(weights);
  }

  void Execute(std::span<const ConstView> in, std::span<View> out) override {
    if (offset_ >= 0) CopyInto(in, kByteIntoInput, out[0]);
    way_->Run(in, static_cast<std::byte*>(out[0].data) + std::max<int64_t>(offset_, 0));
  }

  Reads reads(size_t input) const override {
    return input == weights_input_ ? Reads::kNothing : Reads::kElements;
  }
  std::string kernel() const override { return way_->kernel(); }
  std::string reason() const override { return reason_; }
  int64_t packed_bytes() const override { return int64_t(way_->packed().bytes()); }
  int64_t computed_flops(int64_t flops) const override { return way_->computed_flops(flops); }

 private:
  // Takes the way in which the convolution was computed for other shapes, where it is one of `ways`.
  void TakeWay(const std::vector<ConvAlgorithm>& ways, const PreparedNode* before) {
    const auto* like = dynamic_cast<const ByteConvStep*>(before);
    if (!like || std::find(ways.begin(), ways.end(), like->algorithm_) == ways.end()) return;
    algorithm_ = like->algorithm_;
    if (ways.size() > 1) reason_ = "as for other shapes";
  }

  void ChooseWay(const QuantizedConvolution& conv, const Tensor& weights,
                 const std::vector<ConvAlgorithm>& ways, const Preparation& of) {
    std::vector<std::string> names;
    for (const ConvAlgorithm way : ways) names.emplace_back(Name(way));
    const std::string key = fmt::format("bytes, {}, {}, weights {}", ToText(conv.shape), of.pool().settings(),
                                        of.options.weights_from_memory ? "far" : "near");
    const ThreadPool::CallerPin pin(of.pool());
    const Choice choice = Choose(of.options.tuner, key, names, TrialsOf(conv, weights, ways, of));
    algorithm_ = ways[choice.index];
    reason_ = choice.why;
  }

  MakeTrial TrialsOf(const QuantizedConvolution& conv, const Tensor& weights,
                     const std::vector<ConvAlgorithm>& ways, const Preparation& of) const {
    const auto data = std::make_shared<TrialData>();
    return
        [conv, weights, ways, data, &pool = of.pool(), cold = of.options.cold_weights()](size_t i) -> Trial {
          const ConvShape& s = conv.shape;
          if (!data->input.has_value()) {
            data->input = Tensor(DType::kU8, Shape{s.batch * s.in_height * s.in_width *
                                                   std::max(s.in_pixel_stride, s.in_channels)});
            data->output =
                Tensor(DType::kU8, Shape{s.out_pixels() * std::max(s.out_pixel_stride, s.out_channels)});
          }
          Packer candidates(pool);  // stores no files
          const std::shared_ptr<ByteWay> way = MakeWay(conv, weights, ways[i], candidates);
          const int64_t step = pool.NewStep();
          const auto call_us = [=, &pool, threads = pool.step_threads()] {
            pool.BeginStep(step, threads);
            const ConstView input = data->input.view();
            if (cold) cold->Evict(way->packed().view(), input);
            return CallUs([&] { way->Run(std::span(&input, 1), data->output.mutable_view().data); });
          };
          call_us();
          return {call_us, int64_t(way->packed().bytes())};
        };
  }

  const int64_t offset_;
  const size_t weights_input_;
  ConvAlgorithm algorithm_;
  std::string reason_;  // for people
  std::unique_ptr<ByteWay> way_;
};

}  // namespace

std::unique_ptr<PreparedNode> PrepareByteConv(const QuantizedConvolution& conv, const Preparation& of) {
  const Attributes& a = of.node.attributes;
  return std::make_unique<ByteConvStep>(conv, a.Has(kIntoChannels) ? a.Int(kIntoOffset, 0) : -1, of);
}

}  // namespace mete
