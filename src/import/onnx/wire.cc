#include "import/onnx/wire.h"

#include <algorithm>

#include "import/onnx/proto.h"

namespace mete::onnx_import {
namespace {

enum WireType : uint32_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

// A field of a message that is a tensor or a message that contains tensors. For example the path node ->
// attribute -> t of a GraphProto leads to a tensor.
struct Path {
  uint32_t field;
  const Path* inside;  // the paths within the field; null if the field is a tensor
  size_t count;        // number of paths in `inside`
};
constexpr uint32_t kFunctionAttributeDefault = 11;  // FunctionProto.attribute_proto, since IR version 9
// Members of a class, since graphs and the attributes of their nodes are within each other.
struct Paths {
  static const Path kAttribute[4], kNode[1], kGraph[2], kFunction[2], kModel[2];
};
const Path Paths::kAttribute[] = {{::onnx::AttributeProto::kTFieldNumber, nullptr, 0},
                                  {::onnx::AttributeProto::kTensorsFieldNumber, nullptr, 0},
                                  {::onnx::AttributeProto::kGFieldNumber, Paths::kGraph, 2},
                                  {::onnx::AttributeProto::kGraphsFieldNumber, Paths::kGraph, 2}};
const Path Paths::kNode[] = {{::onnx::NodeProto::kAttributeFieldNumber, Paths::kAttribute, 4}};
const Path Paths::kGraph[] = {{::onnx::GraphProto::kNodeFieldNumber, Paths::kNode, 1},
                              {::onnx::GraphProto::kInitializerFieldNumber, nullptr, 0}};
const Path Paths::kFunction[] = {{::onnx::FunctionProto::kNodeFieldNumber, Paths::kNode, 1},
                                 {kFunctionAttributeDefault, Paths::kAttribute, 4}};
const Path Paths::kModel[] = {{::onnx::ModelProto::kGraphFieldNumber, Paths::kGraph, 2},
                              {::onnx::ModelProto::kFunctionsFieldNumber, Paths::kFunction, 2}};

// Messages within messages, each level of a subgraph being three of them: as many as protobuf parses.
constexpr int kMostLevels = 100;

void AppendVarint(uint64_t value, std::string& out) {
  for (; value >= 128; value >>= 7) out.push_back(char(value | 128));
  out.push_back(char(value));
}

void AppendMessage(uint32_t field, const std::string& payload, std::string& out) {
  AppendVarint(field << 3 | kBytes, out);
  AppendVarint(payload.size(), out);
  out += payload;
}

void AppendSpan(std::span<const std::byte> bytes, std::string& out) {
  if (!bytes.empty()) out.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

bool StripTensor(std::span<const std::byte> tensor, std::string& out,
                 std::vector<std::span<const std::byte>>& raw) {
  WireReader reader(tensor);
  for (WireField f; reader.Next(f);) {
    if (f.is_message && f.number == ::onnx::TensorProto::kRawDataFieldNumber) {
      AppendMessage(f.number, std::to_string(raw.size()), out);
      raw.push_back(f.payload);
    } else if (f.number != ::onnx::TensorProto::kDocStringFieldNumber) {
      AppendSpan(f.whole, out);
    }
  }
  return reader.ok();
}

bool StripMessage(std::span<const std::byte> message, std::span<const Path> paths, int levels,
                  std::string& out, std::vector<std::span<const std::byte>>& raw) {
  if (levels == 0) return false;
  WireReader reader(message);
  for (WireField f; reader.Next(f);) {
    const auto path = std::find_if(paths.begin(), paths.end(),
                                   [&](const Path& p) { return f.is_message && p.field == f.number; });
    if (path == paths.end()) {
      AppendSpan(f.whole, out);
      continue;
    }
    std::string inner;
    const bool good = path->inside
                          ? StripMessage(f.payload, {path->inside, path->count}, levels - 1, inner, raw)
                          : StripTensor(f.payload, inner, raw);
    if (!good) return false;
    AppendMessage(f.number, inner, out);
  }
  return reader.ok();
}

}  // namespace

bool WireReader::ReadVarint(uint64_t& value) {
  value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    if (rest_.empty()) return Stop();
    const uint64_t byte = uint64_t(rest_[0]);
    rest_ = rest_.subspan(1);
    value |= (byte & 127) << shift;
    if (byte < 128) return true;
  }
  return Stop();
}

bool WireReader::Skip(uint64_t bytes) {
  if (bytes > rest_.size()) return Stop();
  rest_ = rest_.subspan(size_t(bytes));
  return true;
}

bool WireReader::Next(WireField& field) {
  if (rest_.empty() || !ok_) return false;
  const std::span<const std::byte> start = rest_;
  uint64_t tag = 0, value = 0;
  if (!ReadVarint(tag)) return false;
  if (tag >> 32 || tag >> 3 == 0) return Stop();
  field.number = uint32_t(tag >> 3);
  field.is_message = (tag & 7) == kBytes;
  field.payload = {};
  switch (tag & 7) {
    case kVarint:
      if (!ReadVarint(value)) return false;
      break;
    case kFixed64:
      if (!Skip(8)) return false;
      break;
    case kFixed32:
      if (!Skip(4)) return false;
      break;
    case kBytes:
      if (!ReadVarint(value)) return false;
      field.payload = rest_;
      if (!Skip(value)) return false;
      field.payload = field.payload.first(size_t(value));
      break;
    default: return Stop();  // for example a group, which ONNX does not use
  }
  field.whole = start.first(start.size() - rest_.size());
  return true;
}

bool StripRawData(std::span<const std::byte> model, StrippedModel& out) {
  return StripMessage(model, Paths::kModel, kMostLevels, out.message, out.raw);
}

}  // namespace mete::onnx_import
