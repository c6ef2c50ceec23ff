// Convolutions and products of bytes.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "processor/cpu/prepare/byte_ways.h"
#include "processor/cpu/prepare/conv_ways.h"
#include "processor/cpu/prepare/grid.h"
#include "processor/cpu/prepare/prepare.h"

namespace mete {
namespace {

// The elements of a vector, of which kernels read one behind the last channel (ByteEpilogue).
constexpr size_t kVector = 64;

// The epilogue of a convolution and the arrays that it points at. What sums start with is the step's.
class EpilogueOfBytes {
 public:
  explicit EpilogueOfBytes(const QuantizedConvolution& of)
      : scale_(of.scale), minus_weight_zeros_(of.minus_weight_zeros) {
    Extend(scale_);
    if (!of.sums) epilogue_.scale = scale_.data();
    if (!minus_weight_zeros_.empty()) {
      Extend(minus_weight_zeros_);
      epilogue_.weight_zeros = minus_weight_zeros_.data();
    }
    epilogue_.small_scales =
        std::all_of(of.scale.begin(), of.scale.end(), [](float s) { return std::abs(s) < 1; });
    epilogue_.least = of.least;
    epilogue_.most = of.most;
    epilogue_.zero = int32_t(of.y.zero);
    epilogue_.is_signed = of.y.type == DType::kI8;
    epilogue_.table = of.table;
  }

  // Adds what kernels read and ignore behind the last channel (ByteEpilogue).
  template <class T>
  static void Extend(std::vector<T>& list) {
    list.resize(list.size() + kVector);
  }

  ByteEpilogue& get() { return epilogue_; }

 private:
  std::vector<float> scale_;
  std::vector<int32_t> minus_weight_zeros_;
  ByteEpilogue epilogue_;
};

class ExactWay : public ByteWay {
 public:
  // `weights`: those of `of`.
  ExactWay(const QuantizedConvolution& of, const Tensor& weights, Packer& packer)
      : pool_(packer.pool()),
        plan_(PlanByteConv(of.shape, of.x.type == DType::kI8)),
        name_(of.kernel()),
        input_zero_(int32_t(of.x.zero)),
        arrays_(of),
        epilogue_(arrays_.get()),
        zero_input_(of.zero_input),
        scale_input_(of.scale_input),
        bias_input_(of.bias_input),
        start_(size_t(of.shape.out_channels)) {
    const ConvShape& s = of.shape;
    const std::string what = fmt::format("{}, {}, weights {} by {}", kernel(), ToText(s),
                                         of.weights.is_signed ? "i8" : "u8", of.weights.element_stride);
    packed_ = packer.Pack<uint8_t>(
        what, weights, int64_t(PackedByteConvBytes(plan_)), plan_.panels,
        [&](Range panels, uint8_t* packed) { PackByteConv(plan_, of.weights, panels, packed); });
    SumByteWeights(plan_, of.weights, start_.data());
    if (zero_input_ >= 0) weight_sums_ = start_;
    StartOfByteSums(plan_, start_.data(), of.bias, input_zero_, start_.data());
    SetEpilogue(of);
    const int64_t row_bytes =
        s.batch * s.in_height * s.in_width * s.in_channels + s.out_pixels() * s.out_channels;
    grid_ = MakeGrid({s.out_pixels(), plan_.row_step, row_bytes, plan_.panels, int64_t(packed_.bytes())},
                     pool_.step_speeds());
    pool_.ReserveScratch(int64_t(ByteConvScratchBytes(plan_)));
  }

  void Run(std::span<const ConstView> in, void* to) override {
    int32_t zero = input_zero_;
    if (zero_input_ >= 0) {
      const ConstView& of_run = in[size_t(zero_input_)];
      zero = of_run.type == DType::kI8 ? int32_t(*of_run.as<int8_t>()) : int32_t(*of_run.as<uint8_t>());
      StartOfByteSums(plan_, weight_sums_.data(), nullptr, zero, start_.data());
    }
    if (scale_input_ >= 0) SetSumScale(in);
    pool_.For(
        grid_.blocks(),
        [&](int worker, int64_t begin, int64_t end) {
          grid_.ForPieces(begin, end, [&](Range rows, Range panels) {
            RunByteConv(plan_, in[0].data, zero, packed_.data(), epilogue_, rows, panels, to,
                        pool_.scratch(worker));
          });
        },
        grid_.run());
  }

  std::string kernel() const override { return name_ + " " + TargetOf(plan_); }
  const Tensor& packed() const override { return packed_; }

 private:
  // Takes the scale and the bias of this run, which have one element or one for each channel.
  void SetSumScale(std::span<const ConstView> in) {
    const auto take = [](const ConstView& from, std::vector<float>& to) {
      if (from.elements() == 1) std::fill(to.begin(), to.end(), *from.as<float>());
      else std::copy_n(from.as<float>(), to.size(), to.begin());
    };
    take(in[size_t(scale_input_)], sum_scale_);
    if (bias_input_ >= 0) take(in[size_t(bias_input_)], sum_bias_);
  }

  void SetEpilogue(const QuantizedConvolution& of) {
    EpilogueOfBytes::Extend(start_);
    epilogue_.bias = start_.data();
    if (scale_input_ < 0) return;
    sum_scale_.resize(size_t(of.shape.out_channels));
    epilogue_.sum_scale = sum_scale_.data();
    if (bias_input_ < 0) return;
    sum_bias_.resize(size_t(of.shape.out_channels));
    epilogue_.sum_bias = sum_bias_.data();
  }

  ThreadPool& pool_;
  const ByteConvPlan plan_;
  const std::string name_;
  const int32_t input_zero_;
  EpilogueOfBytes arrays_;
  ByteEpilogue& epilogue_;
  const int zero_input_, scale_input_, bias_input_;  // of QuantizedConvolution
  std::vector<float> sum_scale_, sum_bias_;          // of the output channels, with scale_input_
  // Of the output channels: what the sums start with, and, with zero_input_, the sums of the weights.
  std::vector<int32_t> start_, weight_sums_;
  Tensor packed_;
  Grid grid_;
};

// Products whose right operand is computed. Of many products, each worker packs the right operand of its own
// ones; otherwise all workers pack one together, and then divide its rows.
class ComputedProductStep : public PreparedNode {
 public:
  ComputedProductStep(const QuantizedConvolution& of, ThreadPool& pool)
      : pool_(pool),
        of_(of),
        plan_(PlanByteConv(of.shape, of.x.type == DType::kI8)),
        arrays_(of),
        packed_bytes_(RoundedUp(PackedByteConvBytes(plan_))),
        start_bytes_(RoundedUp((size_t(of.shape.out_channels) + kVector) * sizeof(int32_t))),
        by_worker_(of.products >= pool.step_threads()) {
    const ConvShape& s = of.shape;
    const auto packed = int64_t(packed_bytes_ + start_bytes_);
    grid_ =
        MakeGrid({s.out_pixels(), plan_.row_step, s.in_width * (s.in_channels + s.out_channels), 1, packed},
                 pool.step_speeds());
    pool_.ReserveScratch(int64_t(ByteConvScratchBytes(plan_)) + (by_worker_ ? packed : 0));
    if (!by_worker_) pool_.ReserveShared(packed);
  }

  void Execute(std::span<const ConstView> in, std::span<View> out) override {
    const Operands first{in[0].as<uint8_t>(), in[size_t(of_.weights_input)].as<uint8_t>(),
                         out[0].as<uint8_t>()};
    if (!by_worker_) {
      for (int64_t p = 0; p < of_.products; ++p) RunTogether(At(first, p));
      return;
    }
    pool_.For(of_.products, [&](int worker, int64_t begin, int64_t end) {
      std::byte* scratch = pool_.scratch(worker);
      for (int64_t p = begin; p < end; ++p) {
        const Operands of = At(first, p);
        Pack(of, {0, plan_.panels}, scratch);
        SumWeights(of, scratch);
        Multiply(of, scratch, {0, of_.shape.out_pixels()}, scratch + packed_bytes_ + start_bytes_);
      }
    });
  }

  std::string kernel() const override { return of_.kernel() + " " + TargetOf(plan_); }
  std::string reason() const override { return "the right operand is packed at each run"; }

 private:
  struct Operands {
    const uint8_t *left, *right;
    uint8_t* to;
  };

  static size_t RoundedUp(size_t bytes) { return (bytes + kVector - 1) / kVector * kVector; }

  Operands At(const Operands& first, int64_t product) const {
    const ConvShape& s = of_.shape;
    return {first.left + product * s.in_width * s.in_channels,
            first.right + product * s.in_channels * s.out_channels,
            first.to + product * s.in_width * s.out_channels};
  }

  ByteWeights WeightsOf(const Operands& of) const {
    ByteWeights weights = of_.weights;
    weights.bytes = of.right;
    return weights;
  }

  void Pack(const Operands& of, Range panels, std::byte* packed) const {
    PackByteConv(plan_, WeightsOf(of), panels, packed);
  }

  int32_t* StartIn(std::byte* packed) const { return reinterpret_cast<int32_t*>(packed + packed_bytes_); }

  // Computes what sums start with, behind the packed weights.
  void SumWeights(const Operands& of, std::byte* packed) const {
    int32_t* start = StartIn(packed);
    SumByteWeights(plan_, WeightsOf(of), start);
    StartOfByteSums(plan_, start, nullptr, int32_t(of_.x.zero), start);
  }

  void Multiply(const Operands& of, std::byte* packed, Range rows, std::byte* scratch) {
    ByteEpilogue epilogue = arrays_.get();
    epilogue.bias = StartIn(packed);
    RunByteConv(plan_, of.left, int32_t(of_.x.zero), packed, epilogue, rows, {0, plan_.panels}, of.to,
                scratch);
  }

  void RunTogether(const Operands& of) {
    std::byte* packed = pool_.shared();
    pool_.For(plan_.panels, [&](int, int64_t begin, int64_t end) { Pack(of, {begin, end}, packed); });
    SumWeights(of, packed);
    pool_.For(grid_.blocks(), [&](int worker, int64_t begin, int64_t end) {
      grid_.ForPieces(begin, end,
                      [&](Range rows, Range) { Multiply(of, packed, rows, pool_.scratch(worker)); });
    });
  }

  ThreadPool& pool_;
  const QuantizedConvolution of_;
  const ByteConvPlan plan_;
  EpilogueOfBytes arrays_;
  const size_t packed_bytes_, start_bytes_;
  const bool by_worker_;
  Grid grid_;
};

}  // namespace

std::unique_ptr<ByteWay> MakeExactWay(const QuantizedConvolution& conv, const Tensor& weights,
                                      Packer& packer) {
  return std::make_unique<ExactWay>(conv, weights, packer);
}

std::unique_ptr<PreparedNode> Prepare(const QuantizedConvolution& conv, const Preparation& of) {
  if (conv.weights_input >= 0) return std::make_unique<ComputedProductStep>(conv, of.pool());
  return PrepareByteConv(conv, of);
}

}  // namespace mete
