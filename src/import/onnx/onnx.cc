#include "import/onnx/onnx.h"

#include <filesystem>
#include <limits>

#include "base/file_kind.h"
#include "base/mapped_file.h"
#include "import/onnx/importer.h"
#include "import/onnx/wire.h"

namespace mete {
namespace {

[[noreturn]] void NotOnnx(std::span<const std::byte> bytes, const std::string& name) {
  if (const FileKind* kind = KindOfFile(bytes))
    Fail(Code::kDataLoss, name,
         "this is no model that can be read; got {}, expected .onnx, .tflite or .prototxt; try {}",
         kind->name, kind->instead_of_model);
  Fail(
      Code::kDataLoss, name,
      "the file is truncated or not an ONNX model; expected a whole .onnx; try to make or download it again");
}

// Parses `message`, which is the model in `bytes` without the data of its tensors. `bytes` only serves to
// find out what another kind of file is.
::onnx::ModelProto Parse(const std::string& message, std::span<const std::byte> bytes,
                         const std::string& name) {
  ::onnx::ModelProto model;
  if (message.size() > size_t(std::numeric_limits<int>::max()))
    Fail(Code::kUnimplemented, name, "the model without its weights is larger than 2 GiB; got {} bytes",
         message.size());
  google::protobuf::LogSilencer quiet;  // only the Error reports a bad file
  if (!model.ParsePartialFromArray(message.data(), int(message.size())) || !model.has_graph())
    NotOnnx(bytes, name);
  return model;
}

}  // namespace

Imported ImportOnnx(const std::string& path, const ImportOptions& options) {
  const auto file = MappedFile::Open(path);
  const std::filesystem::path at(path);
  const std::string folder = at.parent_path().empty() ? "." : at.parent_path().string();
  return ImportOnnx(file->bytes(), file, at.filename().string(), folder, options);
}

Imported ImportOnnx(std::span<const std::byte> bytes, std::shared_ptr<const void> owner,
                    const std::string& name, const std::string& folder, const ImportOptions& options) {
  if (bytes.empty())
    Fail(Code::kDataLoss, name,
         "the file is empty; expected an ONNX model; try to make or download it again");
  onnx_import::StrippedModel stripped;
  if (!onnx_import::StripRawData(bytes, stripped)) NotOnnx(bytes, name);
  ::onnx::ModelProto model = Parse(stripped.message, bytes, name);
  onnx_import::TensorReader tensors(std::move(stripped.raw), std::move(owner), folder,
                                    options.max_value_bytes);
  return onnx_import::Importer(model, name, tensors, options).Run();
}

}  // namespace mete
