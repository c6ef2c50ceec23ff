// Parses Caffe's two files: the net in text form, whose layers are upgraded to the V2 form, and the weights.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/import/caffe/caffe.pb.h"

namespace mete::caffe_import {

using Blobs = google::protobuf::RepeatedPtrField<caffe::BlobProto>;

struct Net {
  caffe::NetParameter header;                 // name, inputs, state; no layers
  std::vector<caffe::LayerParameter> layers;  // the layers of the TEST phase
};

// Parses a net. Throws DATA_LOSS if `text` is not a net in text form, with line and column of the first
// syntax errors, and INVALID_ARGUMENT if a layer's parameters hold a field that Mete does not know and must
// not ignore.
Net ParseNet(std::string_view text, const std::string& name);

struct Weights {
  std::shared_ptr<const caffe::Weights> message;
  std::map<std::string, const Blobs*, std::less<>> layers;  // by layer name; the blobs are those of `message`
};

// Parses a .caffemodel. Throws DATA_LOSS if `bytes` are not a Caffe model or are truncated. Empty `bytes`
// give a result without layers.
Weights ParseWeights(std::span<const std::byte> bytes, const std::string& name);

// Returns a V0 or V1 layer in the V2 form (upgrade.cc).
caffe::LayerParameter Upgrade(const caffe::V1LayerParameter& old);

}  // namespace mete::caffe_import
