#include "import/onnx/microsoft_codes.h"

#include <algorithm>
#include <array>

#include "base/half.h"
#include "base/tensor_source.h"
#include "import/onnx/microsoft_build.h"
#include "import/onnx/microsoft_few_bits.h"

namespace mete::onnx_import {
namespace {

using Codes = std::array<float, 16>;

// FP4 as bitsandbytes has it: a sign, and eight magnitudes of a float of three bits over the largest one.
constexpr float kThird = 1.0f / 3;
constexpr Codes kFp4 = {0,     5.208333333e-03f,  2 * kThird,  1,  kThird,  0.5f,  kThird / 2,  0.25f,
                        -0.0f, -5.208333333e-03f, -2 * kThird, -1, -kThird, -0.5f, -kThird / 2, -0.25f};
// NF4: quantiles of a normal distribution, from the appendix of Dettmers et al., QLoRA, 2023.
constexpr Codes kNf4 = {-1.0f,
                        -0.6961928009986877f,
                        -0.5250730514526367f,
                        -0.39491748809814453f,
                        -0.28444138169288635f,
                        -0.18477343022823334f,
                        -0.09105003625154495f,
                        0.0f,
                        0.07958029955625534f,
                        0.16093020141124725f,
                        0.24611230194568634f,
                        0.33791524171829224f,
                        0.44070982933044434f,
                        0.5626170039176941f,
                        0.7229568362236023f,
                        1.0f};

// Elements table[code] * scale of the element's block, of the scales' type.
class CodedMatrix : public TensorSource {
 public:
  CodedMatrix(const Codes& table, Tensor codes, Tensor scales, int64_t block)
      : table_(table), codes_(std::move(codes)), scales_(std::move(scales)), block_(block) {}

  void Read(int64_t first, int64_t count, void* to) const override {
    for (int64_t i = 0; i < count; ++i) {
      const float value = Element(first + i);
      if (scales_.type() == DType::kF32) static_cast<float*>(to)[i] = value;
      else static_cast<uint16_t*>(to)[i] = F32ToF16(value);
    }
  }
  std::vector<std::span<const std::byte>> Parts() const override {
    static constexpr char kKind[] = "codes of 4 bits";
    auto parts = PartsOf(codes_);
    for (const auto& part : PartsOf(scales_)) parts.push_back(part);
    parts.push_back(std::as_bytes(std::span(kKind)));
    parts.push_back(std::as_bytes(std::span(table_)));
    parts.push_back(std::as_bytes(std::span(&block_, 1)));
    return parts;
  }
  void ReleasePages() const override { ReleasePagesOf(codes_); }

 private:
  // The first of two elements is in the upper half of their byte.
  float Element(int64_t i) const {
    const uint8_t both = codes_.as<uint8_t>()[i / 2];
    const int64_t block = i / block_;
    const float scale =
        scales_.type() == DType::kF32 ? scales_.as<float>()[block] : F16ToF32(scales_.as<uint16_t>()[block]);
    return table_[i % 2 == 0 ? both >> 4 : both & 15] * scale;
  }

  const Codes table_;
  const Tensor codes_, scales_;
  const int64_t block_;
};

// Returns false if it has reported why not.
bool CheckSizes(Upgrade& u, const Tensor& codes, const Tensor& scales, int64_t elements, int64_t block) {
  if (codes.type() != DType::kU8 || (scales.type() != DType::kF32 && scales.type() != DType::kF16)) {
    u.Bad("weights and scales; got {} and {}, expected u8 and f32 or f16", Name(codes.type()),
          Name(scales.type()));
    return false;
  }
  const int64_t bytes = (elements + 1) / 2, blocks = (elements + block - 1) / block;
  if (codes.elements() == bytes && scales.elements() == blocks) return true;
  u.Bad("the weights or the scales have the wrong size; got {} and {}, expected {} and {} elements",
        codes.elements(), scales.elements(), bytes, blocks);
  return false;
}

}  // namespace

// A, the codes, the scales.
void ExpandMatMulBnb4(Upgrade& u) {
  const int64_t columns = Positive(u, "K"), rows = Positive(u, "N"), block = Positive(u, "block_size"),
                type = u.node.attributes.Int("quant_type", -1);
  if (!HasOnly(u, {"K", "N", "block_size", "quant_type", "training_mode", "transB"}) ||
      !NeedDefaults(u, {{"training_mode", 0}, {"transB", 1}}) || columns == 0 || rows == 0 || block == 0)
    return;
  if (type != 0 && type != 1) return u.Bad("quant_type; got {}, expected 0 (FP4) or 1 (NF4)", type);
  const Tensor *codes = ConstantOf(u, 1), *scales = ConstantOf(u, 2);
  if (!codes || !scales) return u.Unsupported("its weights are not constant");
  if (!CheckSizes(u, *codes, *scales, rows * columns, block)) return;
  const auto source = std::make_shared<CodedMatrix>(type == 0 ? kFp4 : kNf4, *codes, *scales, block);
  BecomeProduct(u, Tensor(scales->type(), Shape{rows, columns}, source), kNoValue);
}

}  // namespace mete::onnx_import
