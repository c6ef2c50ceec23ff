// A small decoder with a growing cache, for tests and benchmarks of sessions whose shapes change.
#pragma once

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "engine/engine_testing.h"

namespace mete {

struct DecoderSize {
  int64_t layers = 2, heads = 4, head_size = 8, vocabulary = 32, longest = 64;
  int64_t features() const { return heads * head_size; }
};

// Writes the decoder layer by layer. `tokens` 1xT and the cache `past_k`, `past_v` of layers x heads x P x
// head_size -> `logits` 1xTxvocabulary, and the cache with T more positions, `present_k` and `present_v`. As
// exporters do, it computes positions and the mask of a token's future from the shapes of its inputs.
class DecoderNet {
 public:
  explicit DecoderNet(const DecoderSize& size = {}) : size_(size), model_(EmptyModel(17)) {}

  ModelProto Make() {
    Inputs();
    Positions();
    AddRaw(model_, "embedding", TensorProto::FLOAT, {size_.vocabulary, size_.features()},
           Weights(size_t(size_.vocabulary * size_.features())));
    std::string x = Op("Add", {Op("Gather", {"embedding", "tokens"}), Op("Gather", {"places", "positions"})});
    for (int64_t layer = 0; layer < size_.layers; ++layer) {
      x = Op("Add", {x, Attention(Normalized(x), layer)});
      const std::string wide = Op("Relu", {Linear(Normalized(x), size_.features(), 4 * size_.features())});
      x = Op("Add", {x, Linear(wide, 4 * size_.features(), size_.features())});
    }
    AddRaw(model_, "head", TensorProto::FLOAT, {size_.features(), size_.vocabulary},
           Weights(size_t(size_.vocabulary * size_.features())));
    AddOp(model_, "MatMul", {Normalized(x), "head"}, {"logits"});
    Join(keys_, "present_k");
    Join(values_, "present_v");
    for (const char* output : {"logits", "present_k", "present_v"}) AddOutput(model_, output);
    return std::move(model_);
  }

 private:
  std::string Name() { return "v" + std::to_string(next_++); }

  std::string Op(const std::string& op, const std::vector<std::string>& in) {
    const std::string out = Name();
    last_ = &AddOp(model_, op, in, {out});
    return out;
  }
  std::string Ints(const std::vector<int64_t>& values) {
    const std::string name = Name();
    AddRaw(model_, name, TensorProto::INT64, {int64_t(values.size())}, RawOf(values));
    return name;
  }
  std::string Scalar(int64_t value) {
    const std::string name = Name();
    AddRaw(model_, name, TensorProto::INT64, {}, RawOf(std::vector{value}));
    return name;
  }
  std::string Float(float value) {
    const std::string name = Name();
    AddRaw(model_, name, TensorProto::FLOAT, {}, RawOf<float>({value}));
    return name;
  }
  std::string Permuted(const std::string& x, const std::vector<int64_t>& order) {
    const std::string out = Op("Transpose", {x});
    AddInts(*last_, "perm", order);
    return out;
  }
  std::string Joined(const std::vector<std::string>& parts, int64_t axis) {
    const std::string out = Op("Concat", parts);
    AddInt(*last_, "axis", axis);
    return out;
  }

  void Inputs() {
    const std::vector<int64_t> cache{size_.layers, size_.heads, -1, size_.head_size};
    AddInput(model_, "tokens", {1, -1}, {"", "T"}, TensorProto::INT64);
    AddInput(model_, "past_k", cache, {"", "", "P", ""});
    AddInput(model_, "past_v", cache, {"", "", "P", ""});
  }

  // "positions": P to P + T - 1; "bias": 0 where a token sees a position, and very small where it does not.
  void Positions() {
    const std::string past = Op("Gather", {Op("Shape", {"past_k"}), Scalar(2)});
    const std::string all = Op("Add", {past, Op("Gather", {Op("Shape", {"tokens"}), Scalar(1)})});
    const std::string one = Scalar(1);
    AddOp(model_, "Range", {past, all, one}, {"positions"});
    const std::string seen = Op("Range", {Scalar(0), all, one});
    const std::string sees =
        Op("LessOrEqual", {Op("Unsqueeze", {seen, Ints({0})}), Op("Unsqueeze", {"positions", Ints({1})})});
    AddOp(model_, "Where", {sees, Float(0), Float(-1e9f)}, {"bias"});
    AddRaw(model_, "places", TensorProto::FLOAT, {size_.longest, size_.features()},
           Weights(size_t(size_.longest * size_.features())));
  }

  std::string Normalized(const std::string& x) {
    const std::string scale = Name(), shift = Name();
    for (const std::string& name : {scale, shift})
      AddRaw(model_, name, TensorProto::FLOAT, {size_.features()}, Weights(size_t(size_.features())));
    return Op("LayerNormalization", {x, scale, shift});
  }

  std::string Linear(const std::string& x, int64_t from, int64_t to) {
    const std::string weights = Name();
    AddRaw(model_, weights, TensorProto::FLOAT, {from, to}, Weights(size_t(from * to)));
    return Op("MatMul", {x, weights});
  }

  // 1 x T x features -> 1 x heads x T x head_size
  std::string Heads(const std::string& x) {
    const std::string features = Linear(x, size_.features(), size_.features());
    return Permuted(Op("Reshape", {features, Ints({0, 0, size_.heads, size_.head_size})}), {0, 2, 1, 3});
  }

  // The cache of this layer with the new tokens behind it: 1 x heads x (P + T) x head_size.
  std::string Cached(const char* past, int64_t layer, const std::string& x) {
    const std::string before = Op("Unsqueeze", {Op("Gather", {past, Scalar(layer)}), Ints({0})});
    return Joined({before, Heads(x)}, 2);
  }

  std::string Attention(const std::string& x, int64_t layer) {
    const std::string queries = Heads(x);
    keys_.push_back(Cached("past_k", layer, x));
    values_.push_back(Cached("past_v", layer, x));
    const std::string scores = Op("MatMul", {queries, Permuted(keys_.back(), {0, 1, 3, 2})});
    const std::string scaled = Op("Mul", {scores, Float(float(1 / std::sqrt(double(size_.head_size))))});
    const std::string mixed = Op("MatMul", {Op("Softmax", {Op("Add", {scaled, "bias"})}), values_.back()});
    const std::string rows = Op("Reshape", {Permuted(mixed, {0, 2, 1, 3}), Ints({0, 0, size_.features()})});
    return Linear(rows, size_.features(), size_.features());
  }

  void Join(const std::vector<std::string>& layers, const std::string& name) {
    NodeProto& concat = AddOp(model_, "Concat", layers, {name});
    AddInt(concat, "axis", 0);
  }

  const DecoderSize size_;
  ModelProto model_;
  NodeProto* last_ = nullptr;
  int next_ = 0;
  std::vector<std::string> keys_, values_;  // of each layer
};

// The inputs of a decoder that has seen no token yet.
inline std::vector<Tensor> DecoderInputs(const DecoderSize& size, const std::vector<int64_t>& tokens) {
  const Shape cache{size.layers, size.heads, 0, size.head_size};
  const Tensor ids = Tensor::Of<int64_t>(DType::kI64, Shape{1, int64_t(tokens.size())}, tokens);
  return {ids, Tensor(DType::kF32, cache), Tensor(DType::kF32, cache)};
}

}  // namespace mete
