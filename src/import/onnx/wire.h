// Protobuf's wire format, as far as needed to take tensors' raw bytes out of a model before it is parsed,
// so that weights are never copied out of the mapped file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace mete::onnx_import {

// One field of a message. `whole` is tag and all; `payload` is what a length-delimited field holds.
struct WireField {
  uint32_t number = 0;
  bool is_message = false;  // length-delimited
  std::span<const std::byte> whole, payload;
};

class WireReader {
 public:
  explicit WireReader(std::span<const std::byte> bytes) : rest_(bytes) {}
  // False at the end, and where the bytes are not a message: then ok() is false.
  bool Next(WireField& field);
  bool ok() const { return ok_; }

 private:
  bool ReadVarint(uint64_t& value);
  bool Skip(uint64_t bytes);
  bool Stop() { return ok_ = false; }

  std::span<const std::byte> rest_;
  bool ok_ = true;
};

struct StrippedModel {
  // the ModelProto; each raw_data that was taken out holds its index below
  std::string message;
  std::vector<std::span<const std::byte>> raw;  // the bytes themselves, in the original
};

// Every tensor that the importer reads has its raw_data replaced, or is without: initializers, and the
// tensors among the attributes of the nodes of the graph and of functions. False where `model` is not a
// message.
bool StripRawData(std::span<const std::byte> model, StrippedModel& out);

}  // namespace mete::onnx_import
