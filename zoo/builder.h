// Builds an ONNX graph, one call per layer, with random weights of a usual size. The builder tracks the shape
// of every value.
//
// Weights follow He's rule, variance 1 / (fan-in * E[x^2]): each value carries an estimate of its own mean
// square, which gives 2 / fan-in after a Relu and corresponding values after other activations. Therefore the
// values stay near 1 in networks of any depth, although the networks are not trained.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "zoo/random.h"

namespace onnx {
class ModelProto;
class NodeProto;
}  // namespace onnx

namespace mete::zoo {

inline constexpr const char* kProducer = "mete-zoo";  // producer name in the files

using Dims = std::vector<int64_t>;
using Attribute = std::pair<const char*, std::variant<int64_t, float, Dims, std::string>>;

struct Tensor {
  std::string name;
  Dims dims;
  double mean_square = 1;
};

// The rows and columns of a window; on values with one spatial dimension, the rows alone.
struct Window {
  Window(int side) : h(side), w(side) {}
  Window(int rows, int columns) : h(rows), w(columns) {}
  int h, w;
};

inline constexpr int kSame = -1;  // the padding that keeps the size at stride 1

struct ConvOptions {
  int stride = 1;
  int pad = kSame;
  int groups = 1;
  int dilation = 1;
  bool bias = false;
};

struct PoolOptions {
  int stride = 2;
  int pad = 0;
  bool ceil = false;
};

class GraphBuilder {
 public:
  // With `dry` the builder only counts parameters and shapes: it makes no weights, and Save() must not be
  // called.
  GraphBuilder(const std::string& name, uint64_t seed, bool dry);
  ~GraphBuilder();

  Tensor Image(int channels, int height, int width);         // input "image", f32, batch 1
  Tensor Floats(const std::string& name, const Dims& dims);  // another input of f32
  Tensor Tokens(const std::string& name, const Dims& dims);  // i64
  void Output(const Tensor& x, const std::string& name);

  // Of one or two spatial dimensions, as x has.
  Tensor Conv(const Tensor& x, int channels, Window window, const ConvOptions& options = {});
  Tensor ConvTranspose(const Tensor& x, int channels, int factor);  // windows that do not overlap, bias
  // Bytes: values of one scale and zero point, which fit values near 1. QConv is a QLinearConv with weights
  // of a scale for each channel.
  Tensor Quantize(const Tensor& x);
  Tensor Dequantize(const Tensor& x);
  Tensor QConv(const Tensor& x, int channels, Window window, const ConvOptions& options = {});
  Tensor Dense(const Tensor& x, int features);          // Gemm on 1 x features
  Tensor Linear(const Tensor& x, int features);         // MatMul and Add over the last dimension
  Tensor Weighted(const Tensor& x, int features);       // the MatMul alone
  Tensor BatchNorm(const Tensor& x, float scale = 1);   // `scale`: the mean of its gammas
  Tensor LayerNorm(const Tensor& x);                    // one LayerNormalization node
  Tensor LayerNormParts(const Tensor& x);               // primitive operators, as before opset 17
  Tensor RmsNormParts(const Tensor& x);                 // x * (1 / sqrt(mean(x^2) + epsilon)) * gamma
  Tensor LocalResponseNorm(const Tensor& x, int size);  // AlexNet's alpha, beta and bias

  Tensor Relu(const Tensor& x);
  Tensor Negative(const Tensor& x);
  Tensor Cos(const Tensor& x);
  Tensor Sin(const Tensor& x);
  Tensor LeakyRelu(const Tensor& x, float slope);
  Tensor Relu6(const Tensor& x);
  Tensor Sigmoid(const Tensor& x);
  Tensor HardSigmoid(const Tensor& x);
  Tensor Swish(const Tensor& x);      // x * sigmoid(x)
  Tensor HardSwish(const Tensor& x);  // x * clip(x + 3, 0, 6) / 6
  Tensor Gelu(const Tensor& x);       // with Erf, in five nodes
  Tensor Tanh(const Tensor& x);
  Tensor Softmax(const Tensor& x);     // over the last dimension
  Tensor LogSoftmax(const Tensor& x);  // the same

  Tensor MaxPool(const Tensor& x, int window, const PoolOptions& options = {});
  Tensor AveragePool(const Tensor& x, int window, const PoolOptions& options = {});
  Tensor GlobalAveragePool(const Tensor& x);
  Tensor Dropout(const Tensor& x);
  Tensor Flatten(const Tensor& x);

  Tensor Add(const Tensor& x, const Tensor& y);
  Tensor Mul(const Tensor& x, const Tensor& y);
  Tensor Scaled(const Tensor& x, float factor);  // Mul by a constant
  Tensor MatMul(const Tensor& x, const Tensor& y);
  Tensor Concat(std::span<const Tensor> parts, int axis);
  std::vector<Tensor> Split(const Tensor& x, int parts, int axis);  // into equal parts
  Tensor Reshape(const Tensor& x, const Dims& dims);
  Tensor Transpose(const Tensor& x, const Dims& order);
  Tensor SpaceToDepth(const Tensor& x, int block);
  Tensor Row(const Tensor& x, int axis, int64_t index);  // Gather with one index; removes the axis
  Tensor Slice(const Tensor& x, int axis, int64_t start, int64_t end, int64_t step = 1);
  Tensor Unsqueeze(const Tensor& x, int axis);
  Tensor Expand(const Tensor& x, const Dims& dims);
  Tensor Enlarge(const Tensor& x, int factor);              // Resize to the nearest pixel, by scales
  Tensor Bilinear(const Tensor& x, int height, int width);  // Resize to sizes
  Tensor ToFloat(const Tensor& x);                          // Cast

  Tensor Embedding(const Tensor& tokens, int64_t count, int64_t features);
  Tensor OneHot(const Tensor& tokens, int64_t depth);             // appends a dimension
  Tensor Lstm(const Tensor& x, int64_t hidden);                   // steps x batch x features, one direction
  Tensor Parameter(const Dims& dims, double std);                 // learnt, such as position embeddings
  Tensor Known(const Dims& dims, std::span<const float> values);  // a constant that is not learnt

  int64_t parameters() const { return parameters_; }
  void Save(const std::string& path) const;

 private:
  std::string NewName(const std::string& op);
  Tensor Node(const std::string& op, std::span<const std::string> inputs, const Dims& dims,
              double mean_square, std::span<const Attribute> attributes = {});
  onnx::NodeProto* AddNode(const std::string& op, std::span<const std::string> inputs,
                           std::span<const Attribute> attributes);
  Tensor Unary(const char* op, const Tensor& x, double mean_square,
               std::initializer_list<Attribute> attributes = {});
  Tensor Pool(const char* op, const Tensor& x, int window, const PoolOptions& options, double gain,
              std::vector<Attribute> attributes = {});

  // These functions add initialisers. Only weights count as parameters.
  std::string Weights(const std::string& name, const Dims& dims, double std, double mean = 0);
  std::string Normal(const std::string& name, const Dims& dims, double std, double mean = 0);
  std::string Uniform(const std::string& name, const Dims& dims, double low, double high);
  std::string Constant(const std::string& name, const Dims& dims, std::span<const int64_t> values);
  std::string Constant(const std::string& name, const Dims& dims, std::span<const float> values);
  std::string Scalar(float value);
  std::string Bytes(const std::string& name, const Dims& dims, double std);  // i8
  std::string Byte(uint8_t value);
  std::string Byte(int8_t value);

  // The shape of a convolution's output, and its attributes.
  struct ConvPlace {
    Dims dims;
    std::vector<Attribute> attributes;
  };
  static ConvPlace PlaceOf(const Tensor& x, int channels, Window window, const ConvOptions& options);

  std::unique_ptr<onnx::ModelProto> model_;
  Random random_;
  bool dry_;
  int64_t parameters_ = 0;
  int nodes_ = 0;
};

}  // namespace mete::zoo
