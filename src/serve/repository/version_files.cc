#include "serve/repository/version_files.h"

#include <algorithm>
#include <filesystem>

#include "base/error.h"

namespace mete::serve {
namespace {

const Entry* FileNamed(const std::vector<Entry>& folder, const std::string& name) {
  const auto found = std::find_if(folder.begin(), folder.end(), [&](const Entry& entry) {
    return entry.kind == Entry::kFile && entry.name == name;
  });
  return found == folder.end() ? nullptr : &*found;
}

// Whether a file is the model's or a part of it: its weights, its settings of pictures, or data that an ONNX
// file keeps beside itself under its own name with something behind it ("net.onnx.data", "net.onnx_data").
bool BelongsTo(const Entry& model, const std::string& name) {
  const std::string stem = StemOf(model.name);
  if (name == model.name || name == stem + ".toml") return true;
  if (EndingOf(model.name) == ".prototxt") return name == stem + ".caffemodel";
  return name.starts_with(model.name + ".") || name.starts_with(model.name + "_");
}

}  // namespace

std::string StemOf(const std::string& name) { return std::filesystem::path(name).stem().string(); }
std::string EndingOf(const std::string& name) { return std::filesystem::path(name).extension().string(); }

bool IsModelFile(const Entry& entry) {
  const std::string ending = EndingOf(entry.name);
  return entry.kind == Entry::kFile && (ending == ".onnx" || ending == ".tflite" || ending == ".prototxt");
}

ModelVersion VersionOf(const std::vector<Entry>& folder, const Entry& model, int64_t number) {
  const std::string weights = StemOf(model.name) + ".caffemodel";
  if (EndingOf(model.name) == ".prototxt" && !FileNamed(folder, weights))
    Fail(Code::kNotFound, Printable(model.path), "a Caffe model without weights; expected '{}' beside it",
         Printable(weights));
  ModelVersion version{.version = number, .path = model.path};
  for (const Entry& entry : folder)
    if (entry.kind == Entry::kFile && BelongsTo(model, entry.name))
      version.files.push_back({entry.path, entry.bytes, entry.changed_ns});
  return version;
}

const Entry& OnlyModelOf(const std::vector<Entry>& folder, const std::string& path) {
  std::vector<const Entry*> models, named;
  for (const Entry& entry : folder) {
    if (!IsModelFile(entry)) continue;
    models.push_back(&entry);
    if (StemOf(entry.name) == "model") named.push_back(&entry);
  }
  const auto& of = named.empty() ? models : named;
  if (of.empty())
    Fail(Code::kNotFound, Printable(path),
         "a version without a model; expected model.onnx, model.tflite, or model.prototxt with "
         "model.caffemodel");
  if (of.size() > 1)
    Invalid(Printable(path), "a version with {} models; got '{}' and '{}', expected one; try model.onnx",
            of.size(), Printable(of[0]->name), Printable(of[1]->name));
  return *of[0];
}

std::vector<std::string> OrphansOf(const std::vector<Entry>& folder) {
  std::vector<std::string> problems;
  for (const Entry& entry : folder) {
    const std::string stem = StemOf(entry.name), ending = EndingOf(entry.name);
    const bool caffe = FileNamed(folder, stem + ".prototxt");
    const bool model = caffe || FileNamed(folder, stem + ".onnx") || FileNamed(folder, stem + ".tflite");
    if (ending == ".toml" && !model)
      problems.push_back(
          fmt::format("[{}] the settings of pictures of no model; expected '{}.onnx' beside it",
                      Printable(entry.path), Printable(stem)));
    if (ending == ".caffemodel" && !caffe)
      problems.push_back(fmt::format("[{}] weights of no model; expected '{}.prototxt' beside it",
                                     Printable(entry.path), Printable(stem)));
  }
  return problems;
}

}  // namespace mete::serve
