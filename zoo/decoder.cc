// A language model's step: one token, with the keys and values of the tokens before it.
#include <cmath>

#include "zoo/architectures.h"

namespace mete::zoo {
namespace {

constexpr int kFeatures = 512, kHeads = 8, kKeyHeads = 4, kSize = kFeatures / kHeads, kHidden = 1376;
constexpr int kPast = 127, kLayers = 8, kVocabulary = 32000;

// Cosine and sine of each angle of the token's position.
struct Rotation {
  Tensor cos, sin;
};

Rotation RotationOf(GraphBuilder& b, const Tensor& position) {
  std::vector<float> frequencies;
  for (int i = 0; i < kSize / 2; ++i) frequencies.push_back(float(std::pow(10000.0, -2.0 * i / kSize)));
  const Tensor inverse = b.Known({1, kSize / 2, 1}, frequencies);
  const Tensor angles = b.Transpose(b.MatMul(inverse, b.ToFloat(b.Unsqueeze(position, 1))), {0, 2, 1});
  const Tensor both[] = {angles, angles};
  const Tensor all = b.Concat(both, 2);
  return {b.Unsqueeze(b.Cos(all), 1), b.Unsqueeze(b.Sin(all), 1)};
}

// x * cos + (-second half, first half) * sin.
Tensor Rotated(GraphBuilder& b, const Tensor& x, const Rotation& r) {
  const Tensor parts[] = {b.Negative(b.Slice(x, 3, kSize / 2, kSize)), b.Slice(x, 3, 0, kSize / 2)};
  Tensor y = b.Add(b.Mul(x, r.cos), b.Mul(b.Concat(parts, 3), r.sin));
  y.mean_square = x.mean_square;
  return y;
}

Tensor Heads(GraphBuilder& b, const Tensor& x, int heads) {
  return b.Transpose(b.Reshape(x, {1, 1, heads, kSize}), {0, 2, 1, 3});
}

// Appends to the past, which is an input; the result is an output.
Tensor Cached(GraphBuilder& b, const Tensor& x, const std::string& name) {
  const Tensor parts[] = {b.Floats("past." + name, {1, kKeyHeads, kPast, kSize}), x};
  Tensor all = b.Concat(parts, 2);
  b.Output(all, "present." + name);
  all.name = "present." + name;
  return all;
}

// Several heads of queries read each head of keys.
Tensor Repeated(GraphBuilder& b, const Tensor& x) {
  constexpr int kTimes = kHeads / kKeyHeads;
  const Tensor wide = b.Expand(b.Unsqueeze(x, 2), {1, kKeyHeads, kTimes, x.dims[2], kSize});
  return b.Reshape(wide, {1, kHeads, x.dims[2], kSize});
}

Tensor CachedAttention(GraphBuilder& b, const Tensor& x, const Rotation& rotation, int layer) {
  const std::string name = std::to_string(layer);
  const Tensor query = Rotated(b, Heads(b, b.Weighted(x, kFeatures), kHeads), rotation);
  const Tensor new_key = Rotated(b, Heads(b, b.Weighted(x, kKeyHeads * kSize), kKeyHeads), rotation);
  const Tensor key = Cached(b, new_key, name + ".key");
  const Tensor value = Cached(b, Heads(b, b.Weighted(x, kKeyHeads * kSize), kKeyHeads), name + ".value");
  const Tensor scores = b.Scaled(b.MatMul(query, b.Transpose(Repeated(b, key), {0, 1, 3, 2})),
                                 float(1 / std::sqrt(double(kSize))));
  Tensor mixed = b.MatMul(b.Softmax(scores), Repeated(b, value));
  mixed.mean_square = 1;
  return b.Weighted(b.Reshape(b.Transpose(mixed, {0, 2, 1, 3}), {1, 1, kFeatures}), kFeatures);
}

}  // namespace

// Touvron et al. 2023 in the size of the public model of 42 million parameters, but with half as many heads
// of keys and values as of queries, and with an output layer of its own.
void Llama8(GraphBuilder& b) {
  Tensor x = b.Embedding(b.Tokens("input_ids", {1, 1}), kVocabulary, kFeatures);
  const Rotation rotation = RotationOf(b, b.Tokens("position_ids", {1, 1}));
  for (int layer = 0; layer < kLayers; ++layer) {
    x = b.Add(x, CachedAttention(b, b.RmsNormParts(x), rotation, layer));
    const Tensor y = b.RmsNormParts(x);
    Tensor gated = b.Mul(b.Swish(b.Weighted(y, kHidden)), b.Weighted(y, kHidden));
    x = b.Add(x, b.Weighted(gated, kFeatures));
  }
  b.Output(b.Weighted(b.RmsNormParts(x), kVocabulary), "logits");
}

}  // namespace mete::zoo
