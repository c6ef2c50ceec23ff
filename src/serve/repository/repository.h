// Which models lie in a folder, in which versions, and with which settings. Only looks: nothing is loaded,
// kept or watched.
//
//   FOLDER/NAME.onnx                    version 1 of NAME; NAME.toml beside it says how it takes pictures
//   FOLDER/NAME.tflite                  the same in TensorFlow Lite's format
//   FOLDER/NAME.prototxt                the same in Caffe's format, with NAME.caffemodel
//   FOLDER/NAME/VERSION/model.onnx      or model.tflite, or model.prototxt with
//                                       model.caffemodel, or the only model file there
//   FOLDER/NAME/VERSION/model.toml      how it takes pictures; has the name of the model file
//   FOLDER/NAME/serve.toml              settings (settings.h)
//
// A version is a whole number from 1 on. Names that begin with a dot are not looked at.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "serve/repository/settings.h"

namespace mete::serve {

struct VersionFile {
  std::string path;
  int64_t bytes = 0, changed_ns = 0;  // when it was last changed, since the Unix epoch

  bool operator==(const VersionFile&) const = default;
};

struct ModelVersion {
  int64_t version = 1;
  std::string path;  // the file that Model::Load() takes
  // The files that belong to it, by path. Of a version with a folder of its own all files there, else those
  // named as the model. If they are equal at two times, nothing has been changed.
  std::vector<VersionFile> files;

  bool operator==(const ModelVersion&) const = default;
};

struct RepositoryModel {
  std::string name;
  ModelSettings settings;
  std::vector<ModelVersion> versions;  // ascending; at least one

  bool operator==(const RepositoryModel&) const = default;
};

struct RepositoryProblem {
  std::string model;  // empty: of no model
  std::string text;   // "[path] what; ..."
};

struct Repository {
  std::vector<RepositoryModel> models;      // those that can be served, by name
  std::vector<RepositoryProblem> problems;  // why others, or versions of these, cannot
  std::vector<std::string> notes;           // what is served though it is unusual: links out of the folder
};

// Error NOT_FOUND and the like if the folder itself cannot be read. All else that is wrong is in `problems`,
// and concerns the model or version alone that it is about.
Repository ReadRepository(const std::string& folder);

// The versions that the model's settings choose; ascending, and none if those that are listed are not there.
std::vector<ModelVersion> ChosenVersions(const RepositoryModel& model);

// Whether a name is one that a model can have: 1 to 128 letters, digits, '.', '_' and '-' of ASCII, and no
// '.' at the beginning. Such a name is safe in paths, metrics and logs.
bool IsModelName(std::string_view name);

}  // namespace mete::serve
