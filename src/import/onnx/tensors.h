// Conversion of TensorProto to Tensor. Raw bytes stay where they are in the file; all other data is
// converted.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/mapped_file.h"
#include "import/onnx/proto.h"
#include "mete/tensor.h"

namespace mete::onnx_import {

// Returns the type for a number in TensorProto.data_type, also for numbers that the installed schema does not
// know. Returns kUnknown for types that Mete lacks.
DType DTypeOfOnnx(int32_t data_type);
int32_t OnnxTypeOf(DType type);               // the inverse
std::string OnnxTypeName(int32_t data_type);  // "FLOAT8E5M2", "INT4", "type 99"
bool IsComplex(int32_t data_type);

// Reads tensors from the bytes of a model: those of the file itself, and those of the files beside it that
// the model names.
class TensorReader {
 public:
  TensorReader(std::vector<std::span<const std::byte>> raw, std::shared_ptr<const void> owner,
               std::string folder, int64_t max_bytes)
      : raw_(std::move(raw)), owner_(std::move(owner)), folder_(std::move(folder)), max_bytes_(max_bytes) {}

  // Returns the tensor; packed elements get a byte each. `where` names the tensor in messages. Throws
  // UNIMPLEMENTED for element types that Mete lacks, INVALID_ARGUMENT for dimensions that are negative or too
  // large and for data that does not fill them, NOT_FOUND for missing and DATA_LOSS for too short external
  // data.
  Tensor Read(const ::onnx::TensorProto& proto, const std::string& where);

 private:
  struct Bytes {
    std::span<const std::byte> bytes;
    std::shared_ptr<const void> owner;
  };
  static Tensor TensorOf(const Bytes& data, DType type, const Shape& shape);
  Bytes RawBytes(const ::onnx::TensorProto& proto, const std::string& where) const;
  Bytes ExternalBytes(const ::onnx::TensorProto& proto, size_t needed, const std::string& where);
  const std::shared_ptr<const MappedFile>& OpenBeside(const std::string& location, const std::string& where);

  std::vector<std::span<const std::byte>> raw_;
  std::shared_ptr<const void> owner_;
  std::string folder_;
  int64_t max_bytes_;
  std::map<std::string, std::shared_ptr<const MappedFile>> files_;  // by location
};

}  // namespace mete::onnx_import
