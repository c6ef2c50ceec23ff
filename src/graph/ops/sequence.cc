#include "base/recurrent.h"
#include "graph/fused.h"
#include "graph/ops/check.h"
#include "graph/ops/sequence_rules.h"

namespace mete {
namespace {

using enum RecurrentKind;

void NeedIfThere(const InferContext& c, int i, const Shape& shape) {
  if (c.has(i)) NeedShape(c, i, shape);
}

// Inputs: X, W, R, B, sequence_lens, initial_h, and for LSTM initial_c and P.
void InferRecurrent(InferContext& c, int64_t gates, std::span<const RecurrentKind> functions) {
  RecurrentSpec spec;
  if (const std::string problem = ParseRecurrent(c.attributes, functions, spec); !problem.empty())
    c.Bad("{}", problem);
  CheckOperands(c);
  NeedType(c, 0, kFloatTypes);
  for (int i : {1, 2, 3, 5, 6, 7})
    if (c.has(i) && c.type(i) != c.type(0))
      c.Bad("inputs 0 and {} differ in type; got {} and {}", i, Name(c.type(0)), Name(c.type(i)));
  for (int i = 0; i < 3; ++i) c.NeedRank(i, 3, 3);
  const int64_t length = c.shape(0)[spec.batch_first ? 1 : 0], batch = c.shape(0)[spec.batch_first ? 0 : 1],
                inputs = c.shape(0)[2];
  const int64_t hidden = c.shape(2)[2], directions = spec.directions;
  if (hidden < 1 || hidden > int64_t(1) << 32)
    c.Bad("R has the wrong shape; got {}, expected a last dimension of at least 1", ToString(c.shape(2)));
  if (c.attributes.Int("hidden_size", hidden) != hidden)
    c.Bad("hidden_size does not fit R; got {}, expected {}", c.attributes.Int("hidden_size", hidden), hidden);
  NeedShape(c, 1, Shape{directions, gates * hidden, inputs});
  NeedShape(c, 2, Shape{directions, gates * hidden, hidden});
  NeedIfThere(c, 3, Shape{directions, 2 * gates * hidden});
  if (c.has(4)) {
    NeedType(c, 4, kIndexTypes);
    NeedShape(c, 4, Shape{batch});
  }
  const Shape state = spec.batch_first ? Shape{batch, directions, hidden} : Shape{directions, batch, hidden};
  for (int i : {5, 6}) NeedIfThere(c, i, state);
  NeedIfThere(c, 7, Shape{directions, 3 * hidden});
  c.Output(
      0, c.type(0),
      spec.batch_first ? Shape{batch, length, directions, hidden} : Shape{length, directions, batch, hidden});
  c.Output(1, c.type(0), state);
  if (gates == 4) c.Output(2, c.type(0), state);
}

void InferLstm(InferContext& c) { InferRecurrent(c, 4, std::array{kSigmoid, kTanh, kTanh}); }
void InferGru(InferContext& c) { InferRecurrent(c, 3, std::array{kSigmoid, kTanh}); }
void InferRnn(InferContext& c) { InferRecurrent(c, 1, std::array{kTanh}); }

}  // namespace

std::span<const OpSchema> SequenceOperators() {
  static constexpr OpSchema kSequenceOperators[] = {
      {"Attention",
       3,
       7,
       4,
       InferAttention,
       {.divide_by = DivideBy::kAttention, .arithmetic = Arithmetic::kPairs}},
      {"FlexAttention", 3, 3, 1, InferFlexAttention, {.arithmetic = Arithmetic::kPairs}},
      {"GRU", 3, 6, 2, InferGru, {.arithmetic = Arithmetic::kRecurrent}},
      {"LSTM", 3, 8, 3, InferLstm, {.arithmetic = Arithmetic::kRecurrent}},
      {"LinearAttention", 3, 6, 2, InferLinearAttention, {.arithmetic = Arithmetic::kPairs}},
      {"RNN", 3, 6, 2, InferRnn, {.arithmetic = Arithmetic::kRecurrent}},
      {"RotaryEmbedding", 3, 4, 1, InferRotaryEmbedding},
  };
  return kSequenceOperators;
}

}  // namespace mete
