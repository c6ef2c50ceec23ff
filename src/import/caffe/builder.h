// Builder holds the Graph while it is built; Layer is the view of one layer's conversion on it.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "graph/graph.h"
#include "graph/node_names.h"
#include "import/caffe/parse.h"
#include "import/import.h"

namespace mete::caffe_import {

class Builder {
 public:
  // `inputs` is the number of the net's inputs.
  Builder(std::string model, const ImportOptions& options, Weights weights, size_t inputs);

  Imported Finish();  // throws one Error that lists all problems

  // Records a problem. The import goes on, so that one Error can list all problems.
  void Problem(const Error& error);
  // Records a layer of an unsupported type. The Error has one line for each type.
  void UnsupportedType(const std::string& type, const std::string& layer);
  // Records a problem of a layer's weights. Many of them are reported as one problem: the .caffemodel belongs
  // to another net.
  void WeightProblem(const std::string& layer, const std::string& what);
  void Note(std::string text) { result_.notes.push_back(std::move(text)); }

  void AddInput(const std::string& blob, const Shape& declared);
  bool HasShapeFor(const std::string& blob) const { return Given(blob) || OfTensor(blob); }

  // Returns the blob's current value, or kNoValue if the layer that makes it failed. Throws if no earlier
  // layer makes a blob of that name.
  ValueId Read(const std::string& layer, const std::string& blob);
  void Consume(const std::string& blob);
  // Gives the blob a new value, or kNoValue if an earlier problem makes the value unknown.
  void Write(const std::string& layer, const std::string& blob, ValueId id, bool in_place = false);

  Graph& graph() { return result_.graph; }
  const ImportOptions& options() const { return options_; }
  const Weights& weights() const { return weights_; }
  void CountWeight() { ++weights_read_; }  // counts the weights that layers ask for
  std::string UniqueNodeName(const std::string& base) { return node_names_.Unique(base); }
  // Return false if what layers make of a few numbers of the net is more than any known network needs: bytes
  // of constants, and steps that become nodes of their own.
  bool TakeBytes(int64_t bytes) { return (made_bytes_ += bytes) <= kMostMadeBytes; }
  bool TakeSteps(int64_t steps) { return (made_steps_ += steps) <= kMostMadeSteps; }
  static constexpr int64_t kMostMadeBytes = 1 << 28;  // a guess: the boxes of SSD at 512 pixels have 768 KiB
  static constexpr int64_t kMostMadeSteps =
      1 << 14;  // a guess: the columns of a line of text are some hundreds

 private:
  struct Blob {
    ValueId id = kNoValue;
    std::string maker;  // the layer that made the current value; empty for a graph input
    bool read = false;
    size_t order = 0;  // position among all values in the order of their making
  };
  const Shape* Given(const std::string& blob) const {
    return ShapeGiven(options_.input_shapes, blob, inputs_);
  }
  const Shape* OfTensor(const std::string& blob) const {
    return ShapeGiven(options_.tensor_shapes, blob, inputs_);
  }
  struct TypeCount {
    int times = 0;
    std::string first;  // name of the first layer of the type
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
  NodeNames node_names_;
  int64_t made_bytes_ = 0, made_steps_ = 0;
  std::set<std::string> used_shapes_;
  size_t made_ = 0;
  std::string problems_;
  size_t problem_lines_ = 0, weights_read_ = 0;
  std::vector<std::string> weight_problems_;
  std::map<std::string, TypeCount> unsupported_types_;
  bool bad_ = false, unsupported_ = false;  // if both are false, only the caller's request can be wrong
};

// The view that the conversion of one layer has on the Builder. A layer is converted only if the shapes of
// all bottoms are known.
class Layer {
 public:
  Layer(Builder& builder, const caffe::LayerParameter& p);

  const caffe::LayerParameter& p;

  int bottoms() const { return int(bottoms_.size()); }
  int tops() const { return p.top_size(); }
  ValueId in(int i = 0) const { return bottoms_[size_t(i)]; }
  const Shape& shape(int i = 0) const { return ShapeOf(in(i)); }
  const Shape& ShapeOf(ValueId id) const { return builder_.graph().value(id).shape; }
  int Axis(int64_t axis, int i = 0) const;  // an axis of bottom i; throws unless `axis` is in [-rank, rank)

  // Appends a node, infers the types and shapes of its outputs and returns the outputs. Throws if a shape
  // does not follow from the shapes of the inputs.
  std::vector<ValueId> EmitAll(const std::string& op, std::vector<ValueId> inputs, Attributes attributes,
                               int outputs);
  ValueId Emit(const std::string& op, std::vector<ValueId> inputs, Attributes attributes = {}) {
    return EmitAll(op, std::move(inputs), std::move(attributes), 1)[0];
  }
  // The first dimensions are copied from `x` as far as they are the same, so that a session may take another
  // batch.
  ValueId EmitReshape(ValueId x, const Shape& shape);
  // Same as Emit(), for an operator the shape of whose output depends on data. No layer can read the output.
  ValueId EmitLast(const std::string& op, std::vector<ValueId> inputs, Attributes attributes);
  void SetTop(int i, ValueId id);

  ValueId Floats(const std::string& what, const Shape& shape, std::span<const float> values);
  ValueId Scalar(const std::string& what, float value) { return Floats(what, Shape{}, std::span(&value, 1)); }
  ValueId Ints(const std::string& what, std::span<const int64_t> values);
  // Throws if a constant of floats is larger than the options allow.
  void NeedRoom(const std::string& what, const Shape& shape) const;
  // Throws, too, if all constants that are made of a few numbers of the net are too large together.
  void TakeRoom(const std::string& what, const Shape& shape);
  // Throws if the steps that become nodes are too many together with those of other layers.
  void TakeSteps(int64_t steps);

  // Returns blob i of the weights as a constant of `shape`. If the blob is missing or does not fit, this
  // function records a problem and returns a value without data, so that the following layers can be checked
  // too.
  ValueId Weight(int i, const Shape& shape, const std::string& what) { return Weight(i, shape, shape, what); }
  // Same as above, but the blob's shape in the file is `stored`, and the constant's `shape` has the same
  // elements with ones in other places (for example 64 and 64x1x1).
  ValueId Weight(int i, const Shape& stored, const Shape& shape, const std::string& what);
  const Blobs& blobs() const { return *blobs_; }  // valid if Weight() returned a constant
  int blob_count() const { return blobs_ ? blobs_->size() : 0; }
  // Records a problem if the weights have more blobs than the layer reads: they are those of another form of
  // the layer, for which `instead` is to be tried.
  void NeedAtMostBlobs(int most, const std::string& instead);
  const Tensor& ConstantOf(ValueId id) const { return builder_.graph().value(id).constant; }
  bool IsConstant(ValueId id) const { return builder_.graph().value(id).is_constant(); }

  // Returns the input shape of the MAX pooling whose second top is `mask`. Throws if `mask` is another value.
  Shape PooledFrom(ValueId mask) const;

  template <class... A>
  [[noreturn]] void Bad(fmt::format_string<A...> format, A&&... args) const {
    Invalid(p.name(), format, std::forward<A>(args)...);
  }

 private:
  std::vector<ValueId> Append(const std::string& op, std::vector<ValueId> inputs, Attributes attributes,
                              int outputs);
  std::string WhatIsWrong(int i, const Shape& shape, const std::string& what);
  Tensor TensorOf(const caffe::BlobProto& blob, const Shape& shape) const;

  Builder& builder_;
  const Blobs* blobs_ = nullptr;
  std::vector<ValueId> bottoms_;
};

// The conversion of one type of layer.
struct LayerType {
  const char* type;
  int min_bottoms, max_bottoms;  // a max_bottoms of -1 allows any number
  int max_tops;                  // -1 allows any number
  void (*convert)(Layer&);
};

std::span<const LayerType> WeightLayers();       // layers_weights.cc
std::span<const LayerType> NormalizeLayers();    // layers_normalize.cc
std::span<const LayerType> ElementwiseLayers();  // layers_elementwise.cc
std::span<const LayerType> ShapeLayers();        // layers_shape.cc
std::span<const LayerType> RearrangeLayers();    // layers_rearrange.cc
std::span<const LayerType> ResizeLayers();       // layers_resize.cc
std::span<const LayerType> DetectionLayers();    // layers_detection.cc
std::span<const LayerType> RecurrentLayers();    // layers_recurrent.cc

}  // namespace mete::caffe_import
