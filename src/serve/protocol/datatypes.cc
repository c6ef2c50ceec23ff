#include "serve/protocol/inference.h"

namespace mete::serve {
namespace {

struct Row {
  DType type;
  const char* datatype;
};

constexpr Row kRows[] = {
    {DType::kBool, "BOOL"},  {DType::kU8, "UINT8"}, {DType::kU16, "UINT16"}, {DType::kU32, "UINT32"},
    {DType::kU64, "UINT64"}, {DType::kI8, "INT8"},  {DType::kI16, "INT16"},  {DType::kI32, "INT32"},
    {DType::kI64, "INT64"},  {DType::kF16, "FP16"}, {DType::kBF16, "BF16"},  {DType::kF32, "FP32"},
    {DType::kF64, "FP64"},
};

}  // namespace

const char* DatatypeOf(DType type) {
  for (const Row& row : kRows)
    if (row.type == type) return row.datatype;
  return "";
}

DType DTypeOfDatatype(std::string_view datatype) {
  for (const Row& row : kRows)
    if (row.datatype == datatype) return row.type;
  return DType::kUnknown;
}

}  // namespace mete::serve
