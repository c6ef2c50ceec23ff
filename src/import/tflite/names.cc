// The element types of the format, and the names of its operators.
#include "import/tflite/file.h"

namespace mete::tflite_import {

DType DTypeOf(tflite::TensorType type) {
  switch (type) {
    case tflite::TensorType::FLOAT32: return DType::kF32;
    case tflite::TensorType::FLOAT16: return DType::kF16;
    case tflite::TensorType::INT32: return DType::kI32;
    case tflite::TensorType::UINT8: return DType::kU8;
    case tflite::TensorType::INT64: return DType::kI64;
    case tflite::TensorType::BOOL: return DType::kBool;
    case tflite::TensorType::INT16: return DType::kI16;
    case tflite::TensorType::INT8: return DType::kI8;
    case tflite::TensorType::INT4: return DType::kI8;  // of constants, whose halves of bytes become bytes
    case tflite::TensorType::FLOAT64: return DType::kF64;
    case tflite::TensorType::UINT64: return DType::kU64;
    case tflite::TensorType::UINT32: return DType::kU32;
    case tflite::TensorType::UINT16: return DType::kU16;
    default: return DType::kUnknown;
  }
}

std::string KindOf(tflite::BuiltinOperator code, const tflite::OperatorCode& source) {
  constexpr size_t kLongest = 100;  // characters of a name that a message shows
  if (code == tflite::BuiltinOperator::CUSTOM)
    return source.custom_code()
               ? Printable(std::string(source.custom_code()->string_view().substr(0, kLongest)))
               : "CUSTOM";
  const std::string name = tflite::EnumNameBuiltinOperator(code);
  return name.empty() ? fmt::format("number {}", int(code)) : name;
}

}  // namespace mete::tflite_import
