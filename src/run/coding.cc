#include "run/coding.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/error.h"
#include "base/half.h"

namespace mete {
namespace {

constexpr const char* kNames[] = {"f32", "f16", "u8"};
constexpr size_t kRangeBytes = 2 * sizeof(float);  // before the values of u8
constexpr float kSteps = 255;                      // of 8 bits

struct ByteRange {
  float least = 0, step = 0;
};

ByteRange RangeOf(std::span<const float> values) {
  float least = std::numeric_limits<float>::max(), most = std::numeric_limits<float>::lowest();
  for (const float v : values)
    if (std::isfinite(v)) {
      least = std::min(least, v);
      most = std::max(most, v);
    }
  if (least > most) return {};
  return {least, most / kSteps - least / kSteps};  // their difference may be more than a float holds
}

std::string EncodeBytes(std::span<const float> values) {
  const ByteRange range = RangeOf(values);
  std::string bytes(kRangeBytes + values.size(), '\0');
  std::memcpy(bytes.data(), &range.least, sizeof(float));
  std::memcpy(bytes.data() + sizeof(float), &range.step, sizeof(float));
  const float scale = range.step > 0 ? 1 / range.step : 0;
  for (size_t i = 0; i < values.size(); ++i) {
    const float steps = (values[i] - range.least) * scale;
    // not a number: 0
    bytes[kRangeBytes + i] = char(uint8_t(steps > 0 ? std::min(steps + 0.5f, kSteps) : 0));
  }
  return bytes;
}

void DecodeBytes(std::string_view bytes, std::span<float> values) {
  ByteRange range;
  std::memcpy(&range.least, bytes.data(), sizeof(float));
  std::memcpy(&range.step, bytes.data() + sizeof(float), sizeof(float));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = range.least + range.step * float(uint8_t(bytes[kRangeBytes + i]));
}

std::string EncodeHalf(std::span<const float> values) {
  std::string bytes(values.size() * sizeof(uint16_t), '\0');
  for (size_t i = 0; i < values.size(); ++i) {
    const uint16_t half = F32ToF16(values[i]);
    std::memcpy(bytes.data() + i * sizeof(half), &half, sizeof(half));
  }
  return bytes;
}

void DecodeHalf(std::string_view bytes, std::span<float> values) {
  for (size_t i = 0; i < values.size(); ++i) {
    uint16_t half = 0;
    std::memcpy(&half, bytes.data() + i * sizeof(half), sizeof(half));
    values[i] = F16ToF32(half);
  }
}

}  // namespace

const char* Name(Coding coding) { return kNames[size_t(coding)]; }

Coding CodingOf(std::string_view name) {
  for (size_t i = 0; i < std::size(kNames); ++i)
    if (name == kNames[i]) return Coding(i);
  Invalid("transfer", "is not a way to send floats; got '{}', expected f32, f16 or u8",
          Printable(std::string(name)));
}

int64_t CodedBytes(Coding coding, DType type, const Shape& shape) {
  const int64_t n = shape.Elements();
  if (type != DType::kF32 || coding == Coding::kF32) return n * int64_t(SizeOf(type));
  return coding == Coding::kF16 ? n * int64_t(sizeof(uint16_t)) : int64_t(kRangeBytes) + n;
}

std::string Encode(Coding coding, const ConstView& tensor) {
  if (tensor.type != DType::kF32 || coding == Coding::kF32)
    return {static_cast<const char*>(tensor.data), tensor.bytes()};
  const std::span values(tensor.as<float>(), size_t(tensor.elements()));
  return coding == Coding::kF16 ? EncodeHalf(values) : EncodeBytes(values);
}

void Decode(Coding coding, std::string_view bytes, const View& into) {
  if (int64_t(bytes.size()) != CodedBytes(coding, into.type, into.shape))
    Invalid("piece", "has the wrong length; got {} bytes, expected {}", bytes.size(),
            CodedBytes(coding, into.type, into.shape));
  if (into.type != DType::kF32 || coding == Coding::kF32)
    return void(std::memcpy(into.data, bytes.data(), bytes.size()));
  const std::span values(into.as<float>(), size_t(into.elements()));
  if (coding == Coding::kF16) DecodeHalf(bytes, values);
  else DecodeBytes(bytes, values);
}

}  // namespace mete
