// Which files of a folder are models, and which belong to a model.
#pragma once

#include <string>
#include <vector>

#include "serve/repository/listing.h"
#include "serve/repository/repository.h"

namespace mete::serve {

bool IsModelFile(const Entry& entry);           // .onnx, .tflite or .prototxt
std::string StemOf(const std::string& name);    // without the ending
std::string EndingOf(const std::string& name);  // ".onnx"

// The version whose model file is `model`, with the files that are named as it. Error if its weights are
// missing.
ModelVersion VersionOf(const std::vector<Entry>& folder, const Entry& model, int64_t number);

// The model file of a folder with one version. Error if there is none, or none of several is called "model".
const Entry& OnlyModelOf(const std::vector<Entry>& folder, const std::string& path);

// The settings of pictures and the weights that belong to no model file of the folder: a problem for each.
std::vector<std::string> OrphansOf(const std::vector<Entry>& folder);

}  // namespace mete::serve
