// From TensorProto to Tensor: raw bytes stay where they are in the file, the rest is converted.
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

// TensorProto.data_type by its number, whatever the installed schema knows.
// kUnknown for those that Mete lacks, and for those of narrow.h
DType DTypeOfOnnx(int32_t data_type);
std::string OnnxTypeName(int32_t data_type);  // "FLOAT8E5M2", "INT4", "type 99"
bool IsComplex(int32_t data_type);

// Where the bytes of a model are: the file itself, and the files beside it that it names.
class TensorReader {
 public:
  TensorReader(std::vector<std::span<const std::byte>> raw, std::shared_ptr<const void> owner,
               std::string folder, int64_t max_bytes)
      : raw_(std::move(raw)), owner_(std::move(owner)), folder_(std::move(folder)), max_bytes_(max_bytes) {}

  // Types of narrow.h come widened. `where` names the tensor. Throws: UNIMPLEMENTED for element types that
  // Mete lacks, INVALID_ARGUMENT for dimensions that are negative or too large and data that does not fill
  // them, NOT_FOUND and DATA_LOSS for external data.
  Tensor Read(const ::onnx::TensorProto& proto, const std::string& where);

 private:
  struct Bytes {
    std::span<const std::byte> bytes;
    std::shared_ptr<const void> owner;
  };
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
