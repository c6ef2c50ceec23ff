#include "engine/memory_model.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "base/error.h"
#include "base/file_kind.h"
#include "import/caffe/caffe.h"
#include "import/onnx/onnx.h"
#include "import/tflite/tflite.h"

namespace mete {
namespace {

std::string_view TextOf(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Returns whether the bytes begin as a FlatBuffer of TensorFlow Lite: the offset of its root, which lies
// within it, and the identifier. The first bytes of an ONNX model are no such offset, whatever follows them.
bool IsTflite(std::span<const std::byte> bytes) {
  constexpr size_t kOffset = 4;
  const std::string_view text = TextOf(bytes);
  if (text.substr(std::min(kOffset, text.size()), 4) != "TFL3") return false;
  uint32_t root;
  std::memcpy(&root, bytes.data(), sizeof(root));
  return root < bytes.size();
}

// Returns whether the bytes are a text, which a Caffe network is. The first field of an ONNX model, its
// version, has a control character for its tag.
bool IsText(std::span<const std::byte> bytes) {
  constexpr size_t kLooked = 256;  // a guess: a binary format has a control character earlier
  const std::string_view begin = TextOf(bytes).substr(0, kLooked);
  return std::all_of(begin.begin(), begin.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= ' ' || byte == '\t' || byte == '\n' || byte == '\r';
  });
}

bool IsCaffe(const MemoryModel& model) {
  if (!model.weights.empty()) return true;
  return IsText(model.bytes) && !KindOfFile(model.bytes);  // a web page is told as what it is
}

// Returns the bytes with an owner: those of the caller, or a copy.
Tensor Owned(const MemoryModel& model) {
  const Shape size{int64_t(model.bytes.size())};
  if (model.owner) return Tensor(DType::kU8, size, model.bytes.data(), model.owner);
  Tensor copy(DType::kU8, size);
  std::memcpy(copy.mutable_view().data, model.bytes.data(), model.bytes.size());
  return copy;
}

}  // namespace

Imported ImportMemory(const MemoryModel& model, const ImportOptions& options) {
  if (model.bytes.empty())
    Invalid(model.name,
            "the model has no bytes; got 0, expected an ONNX or TensorFlow Lite model, or the "
            "text of a Caffe network");
  if (IsCaffe(model)) return ImportCaffe(TextOf(model.bytes), model.weights, model.name, options);
  const Tensor owned = Owned(model);
  const std::span bytes(owned.as<std::byte>(), model.bytes.size());
  if (IsTflite(model.bytes)) return ImportTflite(bytes, owned.owner(), model.name, options);
  return ImportOnnx(bytes, owned.owner(), model.name, model.folder, options);
}

}  // namespace mete
