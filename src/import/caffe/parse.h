// Caffe's two files as messages: the text of the net, upgraded to today's form of a layer, and the weights.
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
  std::vector<caffe::LayerParameter> layers;  // those of the TEST phase
};

// Error DATA_LOSS for what is no net in text form, with every syntax error's line and column;
// INVALID_ARGUMENT where a layer's parameters hold a field that Mete does not know and must not ignore.
Net ParseNet(std::string_view text, const std::string& name);

struct Weights {
  std::shared_ptr<const caffe::Weights> message;
  std::map<std::string, const Blobs*, std::less<>> layers;  // by layer name, into the message
};

// Error DATA_LOSS for what is no Caffe model or is cut off. Empty `bytes` give no layers.
Weights ParseWeights(std::span<const std::byte> bytes, const std::string& name);

// A V0 or V1 layer in today's form (upgrade.cc).
caffe::LayerParameter Upgrade(const caffe::V1LayerParameter& old);

}  // namespace mete::caffe_import
