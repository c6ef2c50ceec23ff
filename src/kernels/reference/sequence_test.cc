#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "kernels/reference/reference_testing.h"

namespace mete {
namespace {

using std::string;

Tensor RandomFloats(const Shape& shape, uint32_t seed) {
  std::mt19937 engine(seed);
  std::vector<float> values(size_t(shape.Elements()));
  for (float& v : values) v = std::uniform_real_distribution<float>(-1, 1)(engine);
  return F(shape, values);
}

double Sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

void ExpectNear(const Tensor& got, int64_t at, int64_t count, const Tensor& expected, int64_t expected_at,
                const string& what) {
  for (int64_t i = 0; i < count; ++i)
    EXPECT_NEAR(got.as<float>()[at + i], expected.as<float>()[expected_at + i], 1e-6)
        << what << " element " << i;
}

TEST(Lstm, OneCellByHand) {
  // The order of the gates is input, output, forget, cell; that of the peepholes is input, output, forget.
  const double x = 0.5, h = 0.25, c = -0.5;
  const Tensor w = F({1, 4, 1}, {1, 2, 3, 4}), r = F({1, 4, 1}, {0.1f, 0.2f, 0.3f, 0.4f}),
               b = F({1, 8}, {0.1f, 0, 0, 0, 0, 0, 0, 0.2f});
  const auto out = RunOp("LSTM", {},
                         {F({1, 1, 1}, {0.5f}), w, r, b, Tensor(), F({1, 1, 1}, {0.25f}),
                          F({1, 1, 1}, {-0.5f}), F({1, 3}, {1, 2, 3})},
                         3);
  const double in = Sigmoid(x + 0.1 * h + 0.1 + 1 * c), forget = Sigmoid(3 * x + 0.3 * h + 3 * c),
               cell = std::tanh(4 * x + 0.4 * h + 0.2);
  const double next = forget * c + in * cell, y = Sigmoid(2 * x + 0.2 * h + 2 * next) * std::tanh(next);
  EXPECT_NEAR(*out[0].as<float>(), y, 1e-6);
  EXPECT_NEAR(*out[1].as<float>(), y, 1e-6);
  EXPECT_NEAR(*out[2].as<float>(), next, 1e-6);
}

TEST(Gru, ResetBeforeOrAfterTheLinearPart) {
  const double x = 0.5, h = 0.25;
  const std::vector<Tensor> inputs{F({1, 1, 1}, {0.5f}),
                                   F({1, 3, 1}, {1, 2, 3}),
                                   F({1, 3, 1}, {0.1f, 0.2f, 0.3f}),
                                   F({1, 6}, {0, 0, 0.1f, 0, 0, 0.7f}),
                                   Tensor(),
                                   F({1, 1, 1}, {0.25f})};
  const double z = Sigmoid(x + 0.1 * h), r = Sigmoid(2 * x + 0.2 * h);
  EXPECT_NEAR(RunFor<float>("GRU", {}, inputs)[0],
              (1 - z) * std::tanh(3 * x + 0.1 + 0.3 * r * h + 0.7) + z * h, 1e-6);
  EXPECT_NEAR(RunFor<float>("GRU", Attrs({{"linear_before_reset", int64_t(1)}}), inputs)[0],
              (1 - z) * std::tanh(3 * x + 0.1 + r * (0.3 * h + 0.7)) + z * h, 1e-6);
}

TEST(Rnn, ActivationsTakeTheirParametersInOrder) {
  const Attributes a = Attrs({{"direction", string("bidirectional")},
                              {"activations", Strings{"Relu", "Affine"}},
                              {"activation_alpha", Floats{2}},
                              {"activation_beta", Floats{1}}});
  const Tensor y = RunOp("RNN", a, {F({1, 1, 1}, {-3}), F({2, 1, 1}, {1, 1}), F({2, 1, 1}, {0, 0})})[0];
  EXPECT_EQ(y.as<float>()[0], 0);
  EXPECT_EQ(y.as<float>()[1], -5);
}

struct Net {
  const char* op;
  int64_t gates;
};

TEST(Recurrent, BidirectionalIsForwardBesideReverse) {
  for (const Net net : {Net{"LSTM", 4}, Net{"GRU", 3}, Net{"RNN", 1}}) {
    const int64_t g = net.gates * 3;
    const Tensor x = RandomFloats({4, 2, 5}, 1), w = RandomFloats({2, g, 5}, 2),
                 r = RandomFloats({2, g, 3}, 3);
    const Tensor b = RandomFloats({2, 2 * g}, 4);
    auto half = [](const Tensor& t, int64_t d) {
      Shape shape = t.shape();
      shape[0] = 1;
      const float* from = t.as<float>() + d * shape.Elements();
      return F(shape, std::vector<float>(from, from + shape.Elements()));
    };
    const Tensor both = RunOp(net.op, Attrs({{"direction", string("bidirectional")}}), {x, w, r, b})[0];
    for (int64_t d = 0; d < 2; ++d) {
      const Tensor one = RunOp(net.op, Attrs({{"direction", string(d ? "reverse" : "forward")}}),
                               {x, half(w, d), half(r, d), half(b, d)})[0];
      for (int64_t t = 0; t < 4; ++t) ExpectNear(both, (t * 2 + d) * 6, 6, one, t * 6, net.op);
    }
  }
}

TEST(Recurrent, ShortSequencesEndEarlyInBothDirections) {
  for (const char* direction : {"forward", "reverse"}) {
    const Tensor x = RandomFloats({4, 2, 5}, 1), w = RandomFloats({1, 12, 5}, 2),
                 r = RandomFloats({1, 12, 3}, 3);
    const Attributes a = Attrs({{"direction", string(direction)}});
    const auto full = RunOp("LSTM", a, {x, w, r, Tensor(), I32({2}, {2, 4})}, 3);
    const Tensor head = F({2, 2, 5}, std::vector<float>(x.as<float>(), x.as<float>() + 20));
    const auto cut = RunOp("LSTM", a, {head, w, r}, 3);
    for (int64_t t = 0; t < 2; ++t) ExpectNear(full[0], t * 6, 3, cut[0], t * 6, direction);
    for (int64_t t = 2; t < 4; ++t) EXPECT_EQ(full[0].as<float>()[t * 6], 0);
    for (size_t i : {1, 2}) ExpectNear(full[i], 0, 3, cut[i], 0, direction);
  }
}

TEST(Recurrent, BatchFirstIsTheSameInAnotherOrder) {
  const Tensor x = RandomFloats({3, 2, 4}, 1), w = RandomFloats({1, 9, 4}, 2), r = RandomFloats({1, 9, 3}, 3);
  std::vector<float> swapped;
  for (int64_t n = 0; n < 2; ++n)
    for (int64_t t = 0; t < 3; ++t)
      for (int64_t i = 0; i < 4; ++i) swapped.push_back(x.as<float>()[(t * 2 + n) * 4 + i]);
  const auto plain = RunOp("GRU", {}, {x, w, r}, 2),
             first = RunOp("GRU", Attrs({{"layout", int64_t(1)}}), {F({2, 3, 4}, swapped), w, r}, 2);
  EXPECT_EQ(first[0].shape(), (Shape{2, 3, 1, 3}));
  for (int64_t n = 0; n < 2; ++n)
    for (int64_t t = 0; t < 3; ++t)
      ExpectNear(first[0], (n * 3 + t) * 3, 3, plain[0], (t * 2 + n) * 3, "GRU");
}

void ExpectError(const string& text, const string& part) {
  EXPECT_EQ(text.rfind("error: ", 0), 0u) << text;
  EXPECT_NE(text.find(part), string::npos) << text;
}

TEST(RecurrentInfer, BadShapesAndAttributesAreNamed) {
  const Shape x{4, 2, 5}, w{1, 12, 5}, r{1, 12, 3};
  EXPECT_EQ(InferText("LSTM", {}, {x, w, r}, 3), "f32 4x1x2x3, f32 1x2x3, f32 1x2x3");
  ExpectError(InferText("LSTM", {}, {x, Shape{1, 12, 4}, r}), "wrong shape");
  ExpectError(InferText("LSTM", Attrs({{"direction", string("up")}}), {x, w, r}), "direction is unknown");
  ExpectError(InferText("LSTM", Attrs({{"activations", Strings{"Tanh"}}}), {x, w, r}), "too few activations");
  ExpectError(
      InferText("RNN", Attrs({{"activations", Strings{"Sinh"}}}), {x, Shape{1, 3, 5}, Shape{1, 3, 3}}),
      "activation is unknown");
  ExpectError(InferText("LSTM", Attrs({{"hidden_size", int64_t(7)}}), {x, w, r}), "hidden_size does not fit");
  EXPECT_THROW(RunOp("LSTM", {},
                     {Tensor(DType::kF32, x), Tensor(DType::kF32, w), Tensor(DType::kF32, r), Tensor(),
                      I32({2}, {5, 1})}),
               Error);
}

TEST(Attention, WeighsValuesBySoftmaxOfScores) {
  const Tensor q = F({1, 1, 1, 1}, {1}), k = F({1, 1, 2, 1}, {0, 1}), v = F({1, 1, 2, 1}, {10, 20});
  const double p = Sigmoid(1);  // probability of the second key
  EXPECT_NEAR(RunFor<float>("Attention", {}, {q, k, v})[0], 10 + 10 * p, 1e-5);
  EXPECT_NEAR(RunFor<float>("Attention", Attrs({{"is_causal", int64_t(1)}}), {q, k, v})[0], 10, 1e-5);
  EXPECT_NEAR(RunFor<float>("Attention", {}, {q, k, v, Bools({1, 2}, {0, 1})})[0], 20, 1e-5);
  // A mask that is too short hides the other keys.
  EXPECT_NEAR(RunFor<float>("Attention", {}, {q, k, v, Bools({1, 1}, {1})})[0], 10, 1e-5);
  // All keys are hidden.
  EXPECT_EQ(RunFor<float>("Attention", {}, {q, k, v, Bools({1, 2}, {0, 0})})[0], 0);
}

TEST(Attention, PastKeysComeFirstAndShiftTheCausalFrontier) {
  const Tensor q = F({1, 1, 1, 1}, {0}), k = F({1, 1, 1, 1}, {3}), v = F({1, 1, 1, 1}, {30}),
               past_k = F({1, 1, 1, 1}, {1});
  const Tensor past_v = F({1, 1, 1, 1}, {10});
  const auto out =
      RunOp("Attention", Attrs({{"is_causal", int64_t(1)}}), {q, k, v, Tensor(), past_k, past_v}, 4);
  EXPECT_FLOAT_EQ(*out[0].as<float>(), 20);
  EXPECT_EQ(out[1].as<float>()[0], 1);
  EXPECT_EQ(out[2].as<float>()[1], 30);
  EXPECT_EQ(out[3].shape(), (Shape{1, 1, 1, 2}));
}

TEST(Attention, QueriesShareKeysInGroupsAndThreeDimensionsEqualFour) {
  const Tensor q = RandomFloats({1, 4, 3, 2}, 1), k = RandomFloats({1, 2, 5, 2}, 2),
               v = RandomFloats({1, 2, 5, 3}, 3);
  const Tensor grouped = RunOp("Attention", {}, {q, k, v})[0];
  auto flatten = [](const Tensor& t) {  // 1 x H x L x S to 1 x L x HS
    const Shape& s = t.shape();
    std::vector<float> out;
    for (int64_t l = 0; l < s[2]; ++l)
      for (int64_t h = 0; h < s[1]; ++h)
        for (int64_t i = 0; i < s[3]; ++i) out.push_back(t.as<float>()[(h * s[2] + l) * s[3] + i]);
    return F({1, s[2], s[1] * s[3]}, out);
  };
  const Tensor flat = RunOp("Attention", Attrs({{"q_num_heads", int64_t(4)}, {"kv_num_heads", int64_t(2)}}),
                            {flatten(q), flatten(k), flatten(v)})[0];
  ExpectNear(flat, 0, flat.elements(), flatten(grouped), 0, "3-D");
  auto repeat = [](const Tensor& t) {
    const int64_t n = t.elements() / 2;
    std::vector<float> out;
    for (int64_t h = 0; h < 4; ++h)
      out.insert(out.end(), t.as<float>() + h / 2 * n, t.as<float>() + (h / 2 + 1) * n);
    return F({1, 4, t.shape()[2], t.shape()[3]}, out);
  };
  ExpectNear(grouped, 0, grouped.elements(), RunOp("Attention", {}, {q, repeat(k), repeat(v)})[0], 0,
             "groups");
}

TEST(AttentionInfer, BadShapesAreNamed) {
  const Shape q{1, 4, 3, 2}, k{1, 2, 5, 2}, v{1, 2, 5, 3};
  EXPECT_EQ(InferText("Attention", {}, {q, k, v}, 4), "f32 1x4x3x3, f32 1x2x5x2, f32 1x2x5x3, f32 1x4x3x5");
  ExpectError(InferText("Attention", {}, {q, Shape{1, 3, 5, 2}, Shape{1, 3, 5, 2}}), "numbers of heads");
  ExpectError(InferText("Attention", {}, {q, Shape{1, 2, 5, 4}, v}), "head size");
  ExpectError(InferText("Attention", {}, {Shape{1, 3, 8}, Shape{1, 5, 4}, Shape{1, 5, 6}}), "q_num_heads");
  ExpectError(InferText("Attention", {}, {q, k, v, Shape{3, 6}}), "attn_mask does not fit");
  ExpectError(InferText("Attention", {}, {q, k, v, TestInput(), Shape{1, 2, 1, 2}}),
              "must be given together");
}

TEST(RotaryEmbedding, RotatesPairsByTheTableAtTheirPosition) {
  const Tensor x = F({1, 1, 1, 5}, {1, 2, 3, 4, 9}), c = F({2, 2}, {1, 1, 0, 1}), s = F({2, 2}, {0, 0, 1, 0});
  const Tensor at = I64({1, 1}, {1});
  EXPECT_EQ(RunFor<float>("RotaryEmbedding", Attrs({{"rotary_embedding_dim", int64_t(4)}}), {x, c, s, at}),
            (std::vector<float>{-3, 2, 1, 4, 9}));
  EXPECT_EQ(RunFor<float>("RotaryEmbedding",
                          Attrs({{"rotary_embedding_dim", int64_t(4)}, {"interleaved", int64_t(1)}}),
                          {x, c, s, at}),
            (std::vector<float>{-2, 1, 3, 4, 9}));
  EXPECT_THROW(
      RunOp("RotaryEmbedding", Attrs({{"rotary_embedding_dim", int64_t(4)}}), {x, c, s, I64({1, 1}, {2})}),
      Error);
}

TEST(LinearAttention, TheStateCarriesWhatWasWritten) {
  const Attributes a = Attrs({{"q_num_heads", int64_t(1)},
                              {"kv_num_heads", int64_t(1)},
                              {"update_rule", string("linear")},
                              {"scale", 1.f}});
  const auto out =
      RunOp("LinearAttention", a, {F({1, 2, 1}, {1, 1}), F({1, 2, 1}, {2, 3}), F({1, 2, 1}, {10, 100})}, 2);
  EXPECT_EQ(out[0].as<float>()[0], 20);
  EXPECT_EQ(out[0].as<float>()[1], 320);
  EXPECT_EQ(*out[1].as<float>(), 320);
}

}  // namespace
}  // namespace mete
