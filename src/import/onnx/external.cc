// External data: mapped files beside the model. A model must not be able to read any other file.
#include <charconv>
#include <filesystem>

#include "base/error.h"
#include "import/onnx/tensors.h"

namespace mete::onnx_import {
namespace {

namespace fs = std::filesystem;

struct Entry {
  std::string location;
  uint64_t offset = 0;
  uint64_t length = 0;
  bool has_length = false;
};

uint64_t Number(const std::string& text, const std::string& key, const std::string& where) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    Invalid(where, "external data has a bad {}; got '{}', expected a number of bytes", key, text);
  return value;
}

Entry EntryOf(const ::onnx::TensorProto& proto, const std::string& where) {
  Entry e;
  for (const auto& item : proto.external_data()) {
    if (item.key() == "location") e.location = item.value();
    if (item.key() == "offset") e.offset = Number(item.value(), "offset", where);
    if (item.key() == "length") {
      e.length = Number(item.value(), "length", where);
      e.has_length = true;
    }
  }
  if (e.location.empty()) Invalid(where, "external data has no location");
  return e;
}

// Returns the real path of `location` in `folder`. Throws if the path leaves the folder, through `..` or a
// link.
fs::path PathInside(const std::string& folder, const std::string& location, const std::string& where) {
  const fs::path relative(location);
  const bool climbs = std::find(relative.begin(), relative.end(), "..") != relative.end();
  if (relative.is_absolute() || climbs || location.find('\0') != std::string::npos)
    Invalid(where,
            "external data is outside the model's folder; got '{}', expected a file name beside the model",
            location);
  std::error_code error;
  const fs::path root = fs::canonical(folder.empty() ? "." : folder, error);
  if (error) Fail(Code::kNotFound, where, "cannot find the model's folder '{}': {}", folder, error.message());
  const fs::path path = fs::canonical(root / relative, error);
  if (error)
    Fail(Code::kNotFound, where, "external data '{}' is missing: {}; try to put it beside the model",
         location, error.message());
  if (std::mismatch(root.begin(), root.end(), path.begin(), path.end()).first != root.end())
    Invalid(where, "external data is outside the model's folder; '{}' links to '{}'", location,
            path.string());
  if (!fs::is_regular_file(path, error)) Invalid(where, "external data '{}' is not a regular file", location);
  return path;
}

}  // namespace

const std::shared_ptr<const MappedFile>& TensorReader::OpenBeside(const std::string& location,
                                                                  const std::string& where) {
  auto& file = files_[location];
  if (!file) file = MappedFile::Open(PathInside(folder_, location, where).string());
  return file;
}

TensorReader::Bytes TensorReader::ExternalBytes(const ::onnx::TensorProto& proto, size_t needed,
                                                const std::string& where) {
  const Entry e = EntryOf(proto, where);
  if (folder_.empty())
    Invalid(
        where,
        "external data '{}' in a model that was not read from a folder; expected all weights in the model; "
        "try its folder as MemoryModel::folder, or Model::Load() of its file",
        e.location);
  const auto& file = OpenBeside(e.location, where);
  const uint64_t size = file->bytes().size();
  const uint64_t length = e.has_length ? e.length : needed;
  if (e.offset > size || length > size - e.offset)
    Fail(Code::kDataLoss, where, "external data '{}' is too short; got {} bytes, expected {} from byte {}",
         e.location, size, length, e.offset);
  return {file->bytes().subspan(size_t(e.offset), size_t(length)), file};
}

}  // namespace mete::onnx_import
