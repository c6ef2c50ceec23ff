// Nets in text form and their weights, for tests of the importer and of the layers that it makes.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "graph/operators.h"
#include "import/caffe/caffe.h"
#include "src/import/caffe/caffe.pb.h"

namespace mete {

inline void AddBlob(google::protobuf::RepeatedPtrField<caffe::BlobProto>* blobs,
                    const std::vector<int64_t>& dims) {
  caffe::BlobProto& b = *blobs->Add();
  int64_t n = 1;
  for (int64_t d : dims) {
    b.mutable_shape()->add_dim(d);
    n *= d;
  }
  for (int64_t i = 0; i < n; ++i) b.add_data(float(i) + 0.5f);
}

// Returns a .caffemodel with the blobs of one layer.
inline std::string Model(const std::string& layer, const std::vector<std::vector<int64_t>>& blobs) {
  caffe::Weights w;
  w.add_layer()->set_name(layer);
  for (const auto& dims : blobs) AddBlob(w.mutable_layer(0)->mutable_blobs(), dims);
  return w.SerializeAsString();
}

inline Imported Import(const std::string& net, const std::string& weights = "",
                       const ImportOptions& options = {}) {
  return ImportCaffe(net, std::as_bytes(std::span(weights.data(), weights.size())), "net", options);
}

inline constexpr char kInput[] =
    "layer { name: 'data' type: 'Input' top: 'data' input_param { shape { dim: 2 dim: 4 dim: 6 dim: 5 } } } ";

inline std::string InputLayer(const std::string& name, const std::vector<int64_t>& dims) {
  return fmt::format(
      "layer {{ name: '{0}' type: 'Input' top: '{0}' input_param {{ shape {{ dim: {1} }} }} }} ", name,
      fmt::join(dims, " dim: "));
}

inline std::string Single(const std::string& type, const std::string& rest) {
  return kInput + ("layer { name: 'l' type: '" + type + "' bottom: 'data' top: 'y' ") + rest + " }";
}

// Returns the operators, and the outputs with their shapes, for example "Flatten Gemm -> y 2x4".
inline std::string Summary(const Graph& g) {
  Verify(g);
  std::string s;
  for (const Node& n : g.nodes) s += n.op + " ";
  s += "->";
  for (ValueId id : g.outputs) s += " " + g.value(id).name + " " + ToString(g.value(id).shape);
  return s;
}

inline std::string MessageOf(const std::string& net, const std::string& weights, Code code,
                             const ImportOptions& options = {}) {
  try {
    Import(net, weights, options);
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), code) << e.what();
    return e.what();
  }
  ADD_FAILURE() << "imported without an error";
  return "";
}

inline void ExpectHas(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << text;
}

}  // namespace mete
