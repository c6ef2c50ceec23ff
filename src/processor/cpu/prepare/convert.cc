// Conversions between bytes, halves and floats.
#include "kernels/fast/bytes/byte_convert.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/fast/half/half_cast.h"
#include "kernels/fast/target/target.h"
#include "processor/cpu/prepare/grid.h"
#include "processor/cpu/prepare/prepare.h"

namespace mete {
namespace {

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
    const float steps = std::nearbyint(0.f - all.least / scale);
    const float zero = std::isnan(steps) ? 0.f : std::clamp(steps, 0.f, 255.f);
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

class HalfCastStep : public PreparedNode {
 public:
  HalfCastStep(const HalfCast& of, ThreadPool& pool)
      : of_(of), blocks_(BlocksOf(of.elements, kLeastElements, pool.step_threads())), pool_(pool) {}

  void Execute(std::span<const ConstView> in, std::span<View> out) override {
    pool_.For(blocks_, [&](int, int64_t begin, int64_t end) {
      const Range part{of_.elements * begin / blocks_, of_.elements * end / blocks_};
      if (of_.widens) WidenHalves(of_.halves, in[0].as<uint16_t>(), part, out[0].as<float>());
      else RoundToHalves(of_.halves, in[0].as<float>(), part, out[0].as<uint16_t>());
    });
  }

  std::string kernel() const override { return of_.kernel() + " " + ActiveTarget(); }

 private:
  const HalfCast of_;
  const int64_t blocks_;
  ThreadPool& pool_;
};

}  // namespace

std::unique_ptr<PreparedNode> Prepare(const HalfCast& cast, const Preparation& of) {
  return std::make_unique<HalfCastStep>(cast, of.pool());
}

std::unique_ptr<PreparedNode> Prepare(const Conversion& conversion, const Preparation& of) {
  return std::make_unique<ConvertStep>(conversion, of.pool());
}

std::unique_ptr<PreparedNode> Prepare(const DynamicConversion& conversion, const Preparation& of) {
  return std::make_unique<DynamicConvertStep>(conversion, of.pool());
}

}  // namespace mete
