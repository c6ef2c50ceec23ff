// A reader of protobuf's wire format. It takes the raw bytes of tensors out of a model before protobuf parses
// the model, so that weights are never copied out of the mapped file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace mete::onnx_import {

// One field of a message. `whole` holds all bytes of the field, with its tag; `payload` holds the content of
// a length-delimited field.
struct WireField {
  uint32_t number = 0;
  bool is_message = false;  // length-delimited
  std::span<const std::byte> whole, payload;
};

class WireReader {
 public:
  explicit WireReader(std::span<const std::byte> bytes) : rest_(bytes) {}
  // Reads the next field. Returns false at the end, and also where the bytes are not a message; in the second
  // case ok() is false afterwards.
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
  // The ModelProto. Each raw_data that was taken out holds its index in `raw` as decimal text, for example
  // "12".
  std::string message;
  std::vector<std::span<const std::byte>> raw;  // the raw data, as spans of the original bytes
};

// Replaces the raw_data of every tensor that the importer reads: initializers, and tensors in attributes of
// nodes, of the graph, its subgraphs and functions. Returns false if `model` is not a message, or has more
// messages within messages than protobuf parses.
bool StripRawData(std::span<const std::byte> model, StrippedModel& out);

}  // namespace mete::onnx_import
