// The Graph while it is made, and one layer's view of it.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "graph/graph.h"
#include "import/caffe/parse.h"
#include "import/import.h"

namespace mete::caffe_import {

class Builder {
 public:
  // `inputs`: how many the net has.
  Builder(std::string model, const ImportOptions& options, Weights weights, size_t inputs);

  Imported Finish();  // throws all problems as one Error

  // Problems do not stop the import, so that one Error can tell all of them.
  void Problem(const Error& error);
  // told in the end, a line for each type
  void UnsupportedType(const std::string& type, const std::string& layer);
  // Of a layer's weights; many are one problem: a .caffemodel of another net.
  void WeightProblem(const std::string& layer, const std::string& what);
  void Note(std::string text) { result_.notes.push_back(std::move(text)); }

  void AddInput(const std::string& blob, const Shape& declared);
  bool HasShapeFor(const std::string& blob) const { return Given(blob) || OfTensor(blob); }

  // The blob's present value; kNoValue where the layer that makes it failed. Error where there is none of
  // that name.
  ValueId Read(const std::string& layer, const std::string& blob);
  void Consume(const std::string& blob);
  // Gives the blob a new value (kNoValue: unknown because of an earlier problem).
  void Write(const std::string& layer, const std::string& blob, ValueId id, bool in_place);

  Graph& graph() { return result_.graph; }
  const ImportOptions& options() const { return options_; }
  const Weights& weights() const { return weights_; }
  void CountWeight() { ++weights_read_; }  // each that a layer asks for
  std::string UniqueNodeName(const std::string& base);

 private:
  struct Blob {
    ValueId id = kNoValue;
    std::string maker;  // empty: a graph input
    bool read = false;
    size_t order = 0;  // of making
  };
  const Shape* Given(const std::string& blob) const {
    return ShapeGiven(options_.input_shapes, blob, inputs_);
  }
  const Shape* OfTensor(const std::string& blob) const {
    return ShapeGiven(options_.tensor_shapes, blob, inputs_);
  }
  struct TypeCount {
    int times = 0;
    std::string first;  // layer of that type
  };
  void TellUnsupportedTypes();
  void TellWeightProblems();
  Shape ShapeOfInput(const std::string& blob, const Shape& declared) const;

  std::string model_;
  const ImportOptions& options_;
  Weights weights_;
  const size_t inputs_;
  Imported result_;
  std::map<std::string, Blob> blobs_;
  std::set<std::string> node_names_;
  std::set<std::string> used_shapes_;
  size_t made_ = 0;
  std::string problems_;
  size_t problem_lines_ = 0, weights_read_ = 0;
  std::vector<std::string> weight_problems_;
  std::map<std::string, TypeCount> unsupported_types_;
  bool bad_ = false, unsupported_ = false;  // neither: what the caller asks for does not fit
};

// What a layer's conversion works with. Shapes of all bottoms are known.
class Layer {
 public:
  Layer(Builder& builder, const caffe::LayerParameter& p);

  const caffe::LayerParameter& p;

  int bottoms() const { return int(bottoms_.size()); }
  int tops() const { return p.top_size(); }
  ValueId in(int i = 0) const { return bottoms_[size_t(i)]; }
  const Shape& shape(int i = 0) const { return ShapeOf(in(i)); }
  const Shape& ShapeOf(ValueId id) const { return builder_.graph().value(id).shape; }
  int Axis(int64_t axis, int i = 0) const;  // of bottom i, from [-rank, rank)

  // Appends a node and infers its outputs, whose shapes must follow from the bottoms' shapes.
  std::vector<ValueId> EmitAll(const std::string& op, std::vector<ValueId> inputs, Attributes attributes,
                               int outputs);
  ValueId Emit(const std::string& op, std::vector<ValueId> inputs, Attributes attributes = {}) {
    return EmitAll(op, std::move(inputs), std::move(attributes), 1)[0];
  }
  ValueId EmitReshape(ValueId x, const Shape& shape);
  void SetTop(int i, ValueId id);

  ValueId Floats(const std::string& what, const Shape& shape, std::span<const float> values);
  ValueId Scalar(const std::string& what, float value) { return Floats(what, Shape{}, std::span(&value, 1)); }
  ValueId Ints(const std::string& what, std::span<const int64_t> values);

  // Blob i of the weights as a constant of `shape`. What is missing or does not fit is noted as a problem,
  // and gives a value without data, so that the layers behind can be checked too.
  ValueId Weight(int i, const Shape& shape, const std::string& what) { return Weight(i, shape, shape, what); }
  // The same where the blob's shape in the file is `stored` and the constant's `shape` has ones in other
  // places.
  ValueId Weight(int i, const Shape& stored, const Shape& shape, const std::string& what);
  const Blobs& blobs() const { return *blobs_; }  // where Weight() gave a constant
  bool IsConstant(ValueId id) const { return builder_.graph().value(id).is_constant(); }

  // The shape of what was pooled where `mask` is the second top of a MAX pooling, otherwise an error.
  Shape PooledFrom(ValueId mask) const;

  template <class... A>
  [[noreturn]] void Bad(fmt::format_string<A...> format, A&&... args) const {
    Invalid(p.name(), format, std::forward<A>(args)...);
  }

 private:
  std::string WhatIsWrong(int i, const Shape& shape, const std::string& what);
  Tensor TensorOf(const caffe::BlobProto& blob, const Shape& shape) const;

  Builder& builder_;
  const Blobs* blobs_ = nullptr;
  std::vector<ValueId> bottoms_;
};

// What Mete does with one type of layer.
struct LayerType {
  const char* type;
  int min_bottoms, max_bottoms;  // max -1: any number
  int max_tops;                  // -1: any number
  void (*convert)(Layer&);
};

std::span<const LayerType> WeightLayers();       // layers_weights.cc
std::span<const LayerType> NormalizeLayers();    // layers_normalize.cc
std::span<const LayerType> ElementwiseLayers();  // layers_elementwise.cc
std::span<const LayerType> ShapeLayers();        // layers_shape.cc
std::span<const LayerType> ResizeLayers();       // layers_resize.cc

}  // namespace mete::caffe_import
