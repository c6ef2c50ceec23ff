#include "import/onnx/tensors.h"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "base/error.h"
#include "base/tensor_source.h"
#include "import/onnx/packed.h"

namespace mete::onnx_import {
namespace {

using ::onnx::TensorProto;

struct TypeRow {
  const char* name;
  DType type;
};
// The index is the number of the type in onnx.proto (1.12 and later).
constexpr TypeRow kTypes[] = {
    {"UNDEFINED", DType::kUnknown},
    {"FLOAT", DType::kF32},
    {"UINT8", DType::kU8},
    {"INT8", DType::kI8},
    {"UINT16", DType::kU16},
    {"INT16", DType::kI16},
    {"INT32", DType::kI32},
    {"INT64", DType::kI64},
    {"STRING", DType::kUnknown},
    {"BOOL", DType::kBool},
    {"FLOAT16", DType::kF16},
    {"DOUBLE", DType::kF64},
    {"UINT32", DType::kU32},
    {"UINT64", DType::kU64},
    {"COMPLEX64", DType::kUnknown},
    {"COMPLEX128", DType::kUnknown},
    {"BFLOAT16", DType::kBF16},
    {"FLOAT8E4M3FN", DType::kF8E4M3FN},
    {"FLOAT8E4M3FNUZ", DType::kF8E4M3FNUZ},
    {"FLOAT8E5M2", DType::kF8E5M2},
    {"FLOAT8E5M2FNUZ", DType::kF8E5M2FNUZ},
    {"UINT4", DType::kU4},
    {"INT4", DType::kI4},
    {"FLOAT4E2M1", DType::kF4E2M1},
    {"FLOAT8E8M0", DType::kF8E8M0},
    {"UINT2", DType::kU2},
    {"INT2", DType::kI2},
};
Shape ShapeOf(const TensorProto& proto, DType type, int64_t max_bytes, const std::string& where) {
  if (proto.dims_size() > Shape::kMaxRank)
    Invalid(where, "too many dimensions; got {}, expected at most {}", proto.dims_size(),
            int(Shape::kMaxRank));
  const Shape shape(std::span(proto.dims().data(), size_t(proto.dims_size())));
  if (CheckedElements(shape, type, max_bytes) < 0)
    Invalid(where, "impossible dimensions; got {}, expected none negative and at most {} bytes",
            ToString(shape), max_bytes);
  return shape;
}

// Fills `to`, whose elements are T, from the repeated field `from`. For 16-bit floats the field holds their
// bits.
template <class T, class Field>
void FillFrom(const Field& from, Tensor& to, const std::string& where) {
  if (from.size() != to.elements())
    Invalid(where, "values do not fill the shape {}; got {}, expected {}", ToString(to.shape()), from.size(),
            to.elements());
  T* out = to.mutable_view().as<T>();
  for (auto v : from) *out++ = T(v);
}

// Each element of the field is a byte of packed elements.
void FillPacked(const TensorProto& p, Tensor& to, const std::string& where) {
  const std::vector<uint8_t> packed(p.int32_data().begin(), p.int32_data().end());
  const size_t needed = PackedBytes(to.type(), size_t(to.elements()));
  if (packed.size() != needed)
    Invalid(where, "values do not fill the shape {}; got {} bytes, expected {}", ToString(to.shape()),
            packed.size(), needed);
  Unpack(packed, to);
}

void FillTyped(const TensorProto& p, Tensor& to, const std::string& where) {
  switch (to.type()) {
    case DType::kF32: return FillFrom<float>(p.float_data(), to, where);
    case DType::kF64: return FillFrom<double>(p.double_data(), to, where);
    case DType::kI64: return FillFrom<int64_t>(p.int64_data(), to, where);
    case DType::kU64: return FillFrom<uint64_t>(p.uint64_data(), to, where);
    case DType::kU32: return FillFrom<uint32_t>(p.uint64_data(), to, where);
    case DType::kI32: return FillFrom<int32_t>(p.int32_data(), to, where);
    case DType::kI16: return FillFrom<int16_t>(p.int32_data(), to, where);
    case DType::kU16:
    case DType::kF16:
    case DType::kBF16: return FillFrom<uint16_t>(p.int32_data(), to, where);
    case DType::kI8: return FillFrom<int8_t>(p.int32_data(), to, where);
    case DType::kU8: return FillFrom<uint8_t>(p.int32_data(), to, where);
    case DType::kBool: return FillFrom<bool>(p.int32_data(), to, where);
    default: return FillPacked(p, to, where);
  }
}

bool IsAligned(const void* p, DType type) { return reinterpret_cast<uintptr_t>(p) % SizeOf(type) == 0; }

// Returns whether the bytes cannot be used where they are: because they are not aligned, or because a bool
// has another value than 0 or 1, which is undefined in C++. CopyBytes() turns such a value into 1.
bool NeedsCopy(std::span<const std::byte> bytes, DType type) {
  if (!IsAligned(bytes.data(), type)) return true;
  return type == DType::kBool &&
         std::any_of(bytes.begin(), bytes.end(), [](std::byte b) { return b > std::byte(1); });
}

Tensor CopyBytes(std::span<const std::byte> bytes, DType type, const Shape& shape) {
  Tensor t(type, shape);
  auto* out = t.mutable_view().as<std::byte>();
  if (type == DType::kBool)
    std::transform(bytes.begin(), bytes.end(), out, [](std::byte b) { return std::byte(b != std::byte(0)); });
  else if (!bytes.empty()) std::memcpy(out, bytes.data(), bytes.size());
  ReleasePages(bytes.data(), bytes.size());
  return t;
}

bool HasTypedData(const TensorProto& p) {
  return p.float_data_size() || p.int32_data_size() || p.int64_data_size() || p.double_data_size() ||
         p.uint64_data_size();
}

}  // namespace

DType DTypeOfOnnx(int32_t data_type) {
  return data_type >= 0 && data_type < int32_t(std::size(kTypes)) ? kTypes[data_type].type : DType::kUnknown;
}

int32_t OnnxTypeOf(DType type) {
  const auto* row =
      std::find_if(std::begin(kTypes), std::end(kTypes), [&](const TypeRow& r) { return r.type == type; });
  return row == std::end(kTypes) ? 0 : int32_t(row - std::begin(kTypes));
}

std::string OnnxTypeName(int32_t data_type) {
  return data_type >= 0 && data_type < int32_t(std::size(kTypes)) ? kTypes[data_type].name
                                                                  : fmt::format("type {}", data_type);
}

bool IsComplex(int32_t data_type) {
  return data_type == TensorProto::COMPLEX64 || data_type == TensorProto::COMPLEX128;
}

Tensor TensorReader::Read(const TensorProto& proto, const std::string& where) {
  const DType type = DTypeOfOnnx(proto.data_type());
  if (IsComplex(proto.data_type()))
    Fail(Code::kUnimplemented, where,
         "element type {} is not supported: no operator here computes with complex numbers",
         OnnxTypeName(proto.data_type()));
  if (type == DType::kUnknown)
    Fail(Code::kUnimplemented, where, "element type {} is not supported", OnnxTypeName(proto.data_type()));
  if (proto.has_segment()) Fail(Code::kUnimplemented, where, "tensors in segments are not supported");
  const Shape shape = ShapeOf(proto, type, max_bytes_, where);
  const size_t elements = size_t(shape.Elements());
  const size_t needed = PackedBytes(type, elements);

  const bool external = proto.data_location() == TensorProto::EXTERNAL;
  if (external && (proto.has_raw_data() || HasTypedData(proto)))
    Invalid(where, "has both external and own data; expected one of them");
  if (proto.has_raw_data() && HasTypedData(proto))
    Invalid(where, "has both raw and typed data; expected one of them");

  if (external || proto.has_raw_data()) {
    const Bytes data = external ? ExternalBytes(proto, needed, where) : RawBytes(proto, where);
    if (data.bytes.size() != needed)
      Invalid(where, "raw data does not fill {} {}; got {} bytes, expected {}", Name(type), ToString(shape),
              data.bytes.size(), needed);
    if (!IsPacked(type)) return TensorOf(data, type, shape);
    Tensor out(type, shape);
    Unpack({reinterpret_cast<const uint8_t*>(data.bytes.data()), needed}, out);
    return out;
  }
  if (elements != 0 && !HasTypedData(proto))
    Invalid(where, "has no data; expected {} elements for {}", elements, ToString(shape));
  Tensor out(type, shape);
  FillTyped(proto, out, where);
  return out;
}

// Weights that are not aligned are copied when they are packed, or when a kernel reads them as they are.
// Integers are copied at once, because shapes may follow from them.
Tensor TensorReader::TensorOf(const Bytes& data, DType type, const Shape& shape) {
  if (!NeedsCopy(data.bytes, type)) return {type, shape, data.bytes.data(), data.owner};
  const bool floats =
      type == DType::kF32 || type == DType::kF64 || type == DType::kF16 || type == DType::kBF16;
  if (!floats || data.bytes.size() < kLeastSource) return CopyBytes(data.bytes, type, shape);
  return UnalignedTensor(type, shape, data.bytes, data.owner);
}

TensorReader::Bytes TensorReader::RawBytes(const TensorProto& proto, const std::string& where) const {
  const std::string& text = proto.raw_data();  // an index that StripRawData() wrote
  size_t index = raw_.size();
  std::from_chars(text.data(), text.data() + text.size(), index);
  if (index >= raw_.size()) Fail(Code::kInternal, where, "raw data is not in the file's table");
  return {raw_[index], owner_};
}

}  // namespace mete::onnx_import
