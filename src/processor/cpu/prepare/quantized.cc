// Convolutions of bytes, and the conversions between bytes and floats.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/fast/bytes/byte_convert.h"
#include "kernels/fast/target/target.h"
#include "processor/cpu/prepare/conv_ways.h"
#include "processor/cpu/prepare/grid.h"
#include "processor/cpu/prepare/prepare.h"

namespace mete {
namespace {

// This value is a guess: it costs more to hand out a smaller piece of work than to compute it.
constexpr int64_t kLeastElements = 16 * 1024;

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

class ByteConvStep : public PreparedNode {
 public:
  // `offset`: the place of its channels among those of the output; -1: they are all of them.
  ByteConvStep(const QuantizedConvolution& of, int64_t offset, Packer& packer)
      : pool_(packer.pool()),
        offset_(offset),
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
    const int64_t weights = s.out_channels * (s.in_channels / s.groups) * s.kernel_height * s.kernel_width;
    const std::string what =
        fmt::format("{}, {}, zero {}, weights {} by {}", kernel(), ToText(s), input_zero_,
                    of.weights.is_signed ? "i8" : "u8", of.weights.element_stride);
    packed_ = packer.Pack(
        what, std::span(static_cast<const uint8_t*>(of.weights.bytes), size_t(weights)),
        int64_t(PackedByteConvBytes(plan_)), plan_.panels,
        [&](Range panels, uint8_t* packed) { PackByteConv(plan_, of.weights, input_zero_, panels, packed); });
    SumByteWeights(plan_, of.weights, start_.data());
    if (zero_input_ >= 0) weight_sums_ = start_;
    StartOfByteSums(plan_, start_.data(), of.bias, input_zero_, start_.data());
    SetEpilogue(of);
    const int64_t row_bytes =
        s.batch * s.in_height * s.in_width * s.in_channels + s.out_pixels() * s.out_channels;
    grid_ = MakeGrid({s.out_pixels(), plan_.row_step, row_bytes, plan_.panels, packed_bytes()},
                     pool_.step_speeds());
    pool_.ReserveScratch(int64_t(ByteConvScratchBytes(plan_)));
  }

  void Execute(std::span<const ConstView> in, std::span<View> out) override {
    int32_t zero = input_zero_;
    if (zero_input_ >= 0) {
      const ConstView& of_run = in[size_t(zero_input_)];
      zero = of_run.type == DType::kI8 ? int32_t(*of_run.as<int8_t>()) : int32_t(*of_run.as<uint8_t>());
      StartOfByteSums(plan_, weight_sums_.data(), nullptr, zero, start_.data());
    }
    if (scale_input_ >= 0) SetSumScale(in);
    if (offset_ >= 0) CopyInto(in, kByteIntoInput, out[0]);
    auto* to = static_cast<std::byte*>(out[0].data) + std::max<int64_t>(offset_, 0);
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
  int64_t packed_bytes() const override { return int64_t(packed_.bytes()); }

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
  const int64_t offset_;
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

// Products whose right operand is computed: a worker packs it, and then computes the product.
class ComputedProductStep : public PreparedNode {
 public:
  ComputedProductStep(const QuantizedConvolution& of, ThreadPool& pool)
      : pool_(pool),
        of_(of),
        plan_(PlanByteConv(of.shape, of.x.type == DType::kI8)),
        arrays_(of),
        packed_bytes_((PackedByteConvBytes(plan_) + kVector - 1) / kVector * kVector),
        start_bytes_((size_t(of.shape.out_channels) + kVector) * sizeof(int32_t)) {
    pool_.ReserveScratch(int64_t(packed_bytes_ + start_bytes_ + ByteConvScratchBytes(plan_)));
  }

  void Execute(std::span<const ConstView> in, std::span<View> out) override {
    const ConvShape& s = of_.shape;
    const int64_t left = s.in_width * s.in_channels, right = s.in_channels * s.out_channels,
                  result = s.in_width * s.out_channels;
    pool_.For(of_.products, [&](int worker, int64_t begin, int64_t end) {
      for (int64_t p = begin; p < end; ++p)
        Run(in[0].as<uint8_t>() + p * left, in[size_t(of_.weights_input)].as<uint8_t>() + p * right,
            out[0].as<uint8_t>() + p * result, pool_.scratch(worker));
    });
  }

  std::string kernel() const override { return of_.kernel() + " " + TargetOf(plan_); }
  std::string reason() const override { return "the right operand is packed at each run"; }

 private:
  void Run(const uint8_t* left, const uint8_t* right, uint8_t* to, std::byte* scratch) {
    ByteWeights weights = of_.weights;
    weights.bytes = right;
    const auto zero = int32_t(of_.x.zero);
    auto* start = reinterpret_cast<int32_t*>(scratch + packed_bytes_);
    PackByteConv(plan_, weights, zero, {0, plan_.panels}, scratch);
    SumByteWeights(plan_, weights, start);
    StartOfByteSums(plan_, start, nullptr, zero, start);
    ByteEpilogue epilogue = arrays_.get();
    epilogue.bias = start;
    RunByteConv(plan_, left, zero, scratch, epilogue, {0, of_.shape.out_pixels()}, {0, plan_.panels}, to,
                scratch + packed_bytes_ + start_bytes_);
  }

  ThreadPool& pool_;
  const QuantizedConvolution of_;
  const ByteConvPlan plan_;
  EpilogueOfBytes arrays_;
  const size_t packed_bytes_, start_bytes_;
};

// Converts bytes to floats or floats to bytes, with one scale and one zero point.
class ConvertStep : public PreparedNode {
 public:
  ConvertStep(const Conversion& of, ThreadPool& pool)
      : of_(of), blocks_(BlocksOf(of.elements, kLeastElements, pool.step_threads())), pool_(pool) {}

  void Execute(std::span<const ConstView> in, std::span<View> out) override {
    const ByteScale scale{of_.scale, of_.level.zero, of_.level.type == DType::kI8};
    pool_.For(blocks_, [&](int, int64_t begin, int64_t end) {
      const Range part{of_.elements * begin / blocks_, of_.elements * end / blocks_};
      if (of_.to_bytes) RunQuantize(scale, in[0].as<float>(), part, out[0].as<uint8_t>());
      else RunDequantize(scale, in[0].as<uint8_t>(), part, out[0].as<float>());
    });
  }

  std::string kernel() const override { return of_.kernel() + " " + ActiveTarget(); }

 private:
  const Conversion of_;
  const int64_t blocks_;
  ThreadPool& pool_;
};

// Converts floats to bytes with the scale and the zero point of their range, which it finds first.
class DynamicConvertStep : public PreparedNode {
 public:
  DynamicConvertStep(const DynamicConversion& of, ThreadPool& pool)
      : of_(of),
        blocks_(BlocksOf(of.elements, kLeastElements, pool.step_threads())),
        bounds_(size_t(blocks_)),
        pool_(pool) {}

  void Execute(std::span<const ConstView> in, std::span<View> out) override {
    const auto* x = in[0].as<float>();
    const auto part = [&](int64_t b) {
      return Range{of_.elements * b / blocks_, of_.elements * (b + 1) / blocks_};
    };
    pool_.For(blocks_, [&](int, int64_t begin, int64_t end) {
      for (int64_t b = begin; b < end; ++b) bounds_[size_t(b)] = BoundsOf(x, part(b));
    });
    FloatBounds all;
    for (const FloatBounds& b : bounds_) {
      all.least = std::min(all.least, b.least);
      all.most = std::max(all.most, b.most);
    }
    // As the reference (kernels/reference/quantized.cc).
    const float scale = all.most == all.least ? 1.f / 255 : (all.most - all.least) / 255;
    const float zero = std::clamp(std::nearbyint(0.f - all.least / scale), 0.f, 255.f);
    pool_.For(blocks_, [&](int, int64_t begin, int64_t end) {
      for (int64_t b = begin; b < end; ++b)
        RunQuantize({scale, zero, false}, x, part(b), out[0].as<uint8_t>());
    });
    if (out.size() > 1 && out[1].present()) *out[1].as<float>() = scale;
    if (out.size() > 2 && out[2].present()) *out[2].as<uint8_t>() = uint8_t(zero);
  }

  std::string kernel() const override { return of_.kernel() + " " + ActiveTarget(); }

 private:
  const DynamicConversion of_;
  const int64_t blocks_;
  std::vector<FloatBounds> bounds_;  // of the blocks
  ThreadPool& pool_;
};

}  // namespace

std::unique_ptr<PreparedNode> Prepare(const Conversion& conversion, const Preparation& of) {
  return std::make_unique<ConvertStep>(conversion, of.pool());
}

std::unique_ptr<PreparedNode> Prepare(const DynamicConversion& conversion, const Preparation& of) {
  return std::make_unique<DynamicConvertStep>(conversion, of.pool());
}

std::unique_ptr<PreparedNode> Prepare(const QuantizedConvolution& conv, const Preparation& of) {
  if (conv.weights_input >= 0) return std::make_unique<ComputedProductStep>(conv, of.pool());
  const Attributes& a = of.node.attributes;
  return std::make_unique<ByteConvStep>(conv, a.Has(kIntoChannels) ? a.Int(kIntoOffset, 0) : -1, of.packer);
}

}  // namespace mete
