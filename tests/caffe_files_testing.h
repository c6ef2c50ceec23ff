// Caffe networks in files, for tests that run them.
#pragma once

#include <fstream>
#include <string>
#include <vector>

#include "base/temp_path_testing.h"
#include "mete/engine.h"
#include "src/import/caffe/caffe.pb.h"

namespace mete {

// Adds a layer with a blob to the weights, or a further blob to the last layer of this name.
inline void AddWeights(caffe::Weights& weights, const std::string& layer, const std::vector<int64_t>& dims,
                       const std::vector<float>& values) {
  const int last = weights.layer_size() - 1;
  auto* to =
      last >= 0 && weights.layer(last).name() == layer ? weights.mutable_layer(last) : weights.add_layer();
  to->set_name(layer);
  caffe::BlobProto& blob = *to->add_blobs();
  for (int64_t d : dims) blob.mutable_shape()->add_dim(d);
  blob.mutable_data()->Assign(values.begin(), values.end());
}

// Loads a network from its text and weights.
inline Model LoadNet(const std::string& net, caffe::Weights weights = {}, LoadOptions options = {}) {
  const TempPath prototxt(".prototxt"), caffemodel(".caffemodel");
  if (weights.layer_size() == 0) weights.add_layer()->set_name("none");  // a file without layers is refused
  std::ofstream(prototxt.str()) << net;
  std::ofstream(caffemodel.str(), std::ios::binary) << weights.SerializeAsString();
  options.weights = caffemodel.str();
  return Model::Load(prototxt.str(), options);
}

inline Tensor Floats(const Shape& shape, const std::vector<float>& values) {
  Tensor t(DType::kF32, shape);
  EXPECT_EQ(size_t(t.elements()), values.size());
  std::copy(values.begin(), values.end(), static_cast<float*>(t.mutable_view().data));
  return t;
}

}  // namespace mete
