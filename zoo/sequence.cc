// Transformers, and a recurrent network.
#include <cmath>

#include "zoo/architectures.h"

namespace mete::zoo {
namespace {

// Reorders 1 x tokens x features to 1 x heads x tokens x (features / heads).
Tensor Heads(GraphBuilder& b, const Tensor& x, int heads) {
  const int64_t tokens = x.dims[1], size = x.dims[2] / heads;
  return b.Transpose(b.Reshape(x, {1, tokens, heads, size}), {0, 2, 1, 3});
}

Tensor FeedForward(GraphBuilder& b, const Tensor& x) {
  const int features = int(x.dims[2]);
  return b.Linear(b.Gelu(b.Linear(x, 4 * features)), features);
}

}  // namespace

Tensor Attention(GraphBuilder& b, const Tensor& x, int heads) {
  const int64_t tokens = x.dims[1], features = x.dims[2], size = features / heads;
  const Tensor query = Heads(b, b.Linear(x, int(features)), heads);
  const Tensor key =
      b.Transpose(b.Reshape(b.Linear(x, int(features)), {1, tokens, heads, size}), {0, 2, 3, 1});
  const Tensor value = Heads(b, b.Linear(x, int(features)), heads);
  const Tensor scores = b.Scaled(b.MatMul(query, key), float(1 / std::sqrt(double(size))));
  const Tensor mixed = b.Transpose(b.MatMul(b.Softmax(scores), value), {0, 2, 1, 3});
  return b.Linear(b.Reshape(mixed, x.dims), int(features));
}

// Dosovitskiy et al. 2020, in the tiny size of Touvron et al.: 12 layers with 192 features, normalised before
// each half.
void VitTiny16(GraphBuilder& b) {
  constexpr int kFeatures = 192, kPatches = 14 * 14;
  Tensor x = b.Conv(b.Image(3, 224, 224), kFeatures, 16, {.stride = 16, .pad = 0, .bias = true});
  x = b.Transpose(b.Reshape(x, {1, kFeatures, kPatches}), {0, 2, 1});
  const Tensor parts[] = {b.Parameter({1, 1, kFeatures}, 1), x};
  x = b.Add(b.Concat(parts, 1), b.Parameter({1, kPatches + 1, kFeatures}, 0.3));
  for (int layer = 0; layer < 12; ++layer) {
    x = b.Add(x, Attention(b, b.LayerNorm(x), 3));
    x = b.Add(x, FeedForward(b, b.LayerNorm(x)));
  }
  b.Output(b.Dense(b.Row(b.LayerNorm(x), 1, 0), 1000), "logits");
}

// The encoder of Devlin et al. 2018 in the size of MiniLM-L6-H384: normalised after each half, in primitive
// operators, with a pooled two-class head. The input is the numbers of 128 word pieces.
void Bert6(GraphBuilder& b) {
  constexpr int kFeatures = 384, kTokens = 128, kVocabulary = 30522;
  Tensor x = b.Embedding(b.Tokens("input_ids", {1, kTokens}), kVocabulary, kFeatures);
  x = b.LayerNormParts(b.Add(x, b.Parameter({1, kTokens, kFeatures}, 0.3)));
  for (int layer = 0; layer < 6; ++layer) {
    x = b.LayerNormParts(b.Add(x, Attention(b, x, 12)));
    x = b.LayerNormParts(b.Add(x, FeedForward(b, x)));
  }
  b.Output(b.Dense(b.Tanh(b.Dense(b.Row(x, 1, 0), kFeatures)), 2), "logits");
}

// Karpathy 2015: one-hot characters, two LSTM layers of 512, and the scores of the next character, for 64
// steps.
void CharRnn(GraphBuilder& b) {
  constexpr int kSteps = 64, kCharacters = 128, kHidden = 512;
  Tensor x = b.OneHot(b.Tokens("characters", {kSteps, 1}), kCharacters);
  for (int layer = 0; layer < 2; ++layer) x = b.Lstm(x, kHidden);
  b.Output(b.Linear(x, kCharacters), "logits");
}

}  // namespace mete::zoo
