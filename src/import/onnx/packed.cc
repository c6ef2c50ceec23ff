#include "import/onnx/packed.h"

#include "base/narrow.h"

namespace mete::onnx_import {
namespace {

size_t BitsOfElement(DType type) { return IsNarrow(type) ? size_t(BitsOf(type)) : 8 * SizeOf(type); }

}  // namespace

bool IsPacked(DType type) { return IsNarrow(type) && BitsOf(type) < 8; }

size_t PackedBytes(DType type, size_t elements) {
  if (!IsPacked(type)) return elements * SizeOf(type);
  const size_t per_byte = 8 / BitsOfElement(type);
  return elements / per_byte + size_t(elements % per_byte != 0);
}

void Unpack(std::span<const uint8_t> packed, Tensor& out) {
  const size_t bits = BitsOfElement(out.type()), per_byte = 8 / bits;
  uint8_t* to = out.mutable_view().as<uint8_t>();
  for (size_t i = 0, n = size_t(out.elements()); i < n; ++i) {
    const uint32_t shifted = packed[i / per_byte] >> (i % per_byte * bits);
    to[i] = IsNarrowFloat(out.type()) ? uint8_t(shifted & ((1u << bits) - 1)) : LowBits(out.type(), shifted);
  }
}

std::string Packed(const Tensor& tensor) {
  const auto n = size_t(tensor.elements());
  const auto* from = tensor.as<uint8_t>();
  if (!IsPacked(tensor.type())) return {reinterpret_cast<const char*>(from), tensor.bytes()};
  const size_t bits = BitsOfElement(tensor.type()), per_byte = 8 / bits;
  std::string packed(PackedBytes(tensor.type(), n), '\0');
  for (size_t i = 0; i < n; ++i)
    packed[i / per_byte] =
        char(uint8_t(packed[i / per_byte]) | (from[i] & ((1u << bits) - 1)) << (i % per_byte * bits));
  return packed;
}

}  // namespace mete::onnx_import
