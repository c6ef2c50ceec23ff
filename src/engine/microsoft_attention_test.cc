// Tests that attention of com.microsoft computes what it means, beside plain loops.
#include <gtest/gtest.h>

#include <array>

#include "engine/one_node_testing.h"

namespace mete {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Those of `past` for the first `count` places, then those of `fresh`.
ByHead Behind(const ByHead& past, const std::function<int64_t(int64_t)>& count, const ByHead& fresh) {
  return [=](int64_t b, int64_t h, int64_t i, int64_t e) {
    return i < count(b) ? past(b, h, i, e) : fresh(b, h, i - count(b), e);
  };
}

struct Expected {
  int64_t batch = 2, heads = 2, kv_heads = 2, queries = 3, keys = 3, size = 4, value_size = 4;
  ByHead q, k, v;
  double scale = 0, softcap = 0, sink = -kInfinity;
  std::function<double(int64_t, int64_t, int64_t, int64_t)> bias;  // by batch, head, query and key

  double Output(int64_t element) const {
    const int64_t e = element % value_size, h = element / value_size % heads,
                  i = element / (value_size * heads) % queries, b = element / (value_size * heads * queries);
    const int64_t shared = h / (heads / kv_heads);
    std::vector<double> scores;
    double most = sink, sum = 0, y = 0;
    for (int64_t j = 0; j < keys; ++j) {
      double score = 0;
      for (int64_t d = 0; d < size; ++d) score += q(b, h, i, d) * k(b, shared, j, d);
      score *= scale == 0 ? 1 / std::sqrt(double(size)) : scale;
      if (softcap > 0) score = softcap * std::tanh(score / softcap);
      if (bias) score += bias(b, h, i, j);
      scores.push_back(score);
      most = std::max(most, score);
    }
    for (const double score : scores) sum += std::exp(score - most);
    sum += std::exp(sink - most);
    for (int64_t j = 0; j < keys; ++j)
      if (scores[size_t(j)] != -kInfinity) y += std::exp(scores[size_t(j)] - most) / sum * v(b, shared, j, e);
    return y;
  }
  void Check(const Tensor& got) const {
    ExpectNear(got, {batch, queries, heads * value_size}, [&](int64_t i) { return Output(i); });
  }
};

// The product of x (2x3x5), weights (5 x columns) and a bias, as com.microsoft's Attention has them.
Tensor Projected(const OneNodeModel& n) {
  const Tensor &x = n["x"], &w = n["c_w"], &b = n["c_bias"];
  const int64_t columns = w.shape()[1];
  std::vector<float> y;
  for (int64_t r = 0; r < 6; ++r)
    for (int64_t c = 0; c < columns; ++c) {
      double sum = b.as<float>()[c];
      for (int64_t i = 0; i < 5; ++i)
        sum += double(x.as<float>()[r * 5 + i]) * double(w.as<float>()[i * columns + c]);
      y.push_back(float(sum));
    }
  return Tensor::Floats({2, 3, columns}, y);
}

// Queries, keys and values side by side: 24 columns are 2 heads of 4.
Expected OfProjected(const Tensor& rows) {
  Expected want;
  want.q = InRows(rows, 2, 0, 6);
  want.k = InRows(rows, 2, 2, 6);
  want.v = InRows(rows, 2, 4, 6);
  return want;
}

OneNodeModel Attention() {
  OneNodeModel n("Attention");
  n.Int("num_heads", 2).Floats("x", {2, 3, 5}, 0.05f).Floats("c_w", {5, 24}, 0.03f).Floats("c_bias", {24});
  return n;
}

TEST(MicrosoftAttention, ProjectsItsInput) {
  OneNodeModel n = Attention();
  const Tensor y = n.Run().at(0);
  OfProjected(Projected(n)).Check(y);
}

TEST(MicrosoftAttention, MasksOfAllForms) {
  struct Form {
    std::vector<int64_t> shape;
    std::vector<int32_t> values;
    std::function<bool(int64_t, int64_t, int64_t)> visible;  // by batch, query and key
  };
  const std::vector<int32_t> of_keys{1, 0, 1, 1, 1, 0};
  const std::vector<int32_t> of_queries{1, 0, 0, 1, 1, 0, 1, 0, 1, 0, 0, 1, 1, 1, 1, 0, 1, 1};
  const std::vector<int64_t> lengths{2, 3}, starts{1, 0};
  const Form forms[] = {
      {{2}, {2, 3}, [&](int64_t b, int64_t, int64_t j) { return j < lengths[size_t(b)]; }},
      {{4},
       {2, 3, 1, 0},
       [&](int64_t b, int64_t, int64_t j) { return j < lengths[size_t(b)] && j >= starts[size_t(b)]; }},
      {{8}, {2, 3, 0, 0, 0, 0, 0, 0}, [&](int64_t b, int64_t, int64_t j) { return j < lengths[size_t(b)]; }},
      {{2, 3}, of_keys, [&](int64_t b, int64_t, int64_t j) { return of_keys[size_t(b * 3 + j)] != 0; }},
      {{2, 3, 3}, of_queries, [&](int64_t b, int64_t i, int64_t j) {
         return of_queries[size_t((b * 3 + i) * 3 + j)] != 0;
       }}};
  for (const Form& form : forms)
    for (const int64_t causal : {0, 1}) {
      SCOPED_TRACE(ToString(Shape(std::span(form.shape))) + (causal ? " causal" : ""));
      OneNodeModel n = Attention();
      const Tensor y = n.I32("mask", form.shape, form.values).Int("unidirectional", causal).Run().at(0);
      Expected want = OfProjected(Projected(n));
      want.bias = [&](int64_t b, int64_t, int64_t i, int64_t j) {
        if (causal && j > i) return -kInfinity;
        return form.visible(b, i, j) ? 0 : -10000.0;
      };
      want.Check(y);
    }
}

TEST(MicrosoftAttention, PastIsBeforeTheNewKeys) {
  OneNodeModel n = Attention();
  n.None().Floats("past", {2, 2, 2, 4, 4}).Floats("scores", {1, 2, 3, 7}, 0.04f).Int("unidirectional", 1);
  const std::vector<Tensor> y = n.Float("scale", 0.7f).Run(2);
  const Tensor rows = Projected(n);
  Expected want = OfProjected(rows);
  const Tensor &past = n["past"], &scores = n["scores"];
  const auto of_past = [&](int64_t which) -> ByHead {
    return [=](int64_t b, int64_t h, int64_t i, int64_t e) {
      return double(past.as<float>()[(((which * 2 + b) * 2 + h) * 4 + i) * 4 + e]);
    };
  };
  const auto four = [](int64_t) { return int64_t{4}; };
  want.keys = 7;
  want.scale = double(0.7f);
  want.k = Behind(of_past(0), four, want.k);
  want.v = Behind(of_past(1), four, want.v);
  want.bias = [&](int64_t, int64_t h, int64_t i, int64_t j) {
    return j > i + 4 ? -kInfinity : double(scores.as<float>()[(h * 3 + i) * 7 + j]);
  };
  want.Check(y[0]);
  ExpectNear(y[1], {2, 2, 2, 7, 4}, [&](int64_t at) {
    const int64_t e = at % 4, i = at / 4 % 7, h = at / 28 % 2, b = at / 56 % 2;
    return (at / 112 == 0 ? want.k : want.v)(b, h, i, e);
  });
}

TEST(MicrosoftAttention, ValuesMayHaveAnotherSize) {
  OneNodeModel n("Attention");
  n.Int("num_heads", 2).Floats("x", {2, 3, 5}, 0.05f).Floats("c_w", {5, 22}, 0.03f).Floats("c_bias", {22});
  const Tensor y = n.IntList("qkv_hidden_sizes", {8, 8, 6}).Run().at(0);
  const Tensor rows = Projected(n);
  const auto part = [&](int64_t from, int64_t size) -> ByHead {
    return [=](int64_t b, int64_t h, int64_t i, int64_t e) {
      return double(rows.as<float>()[(b * 3 + i) * 22 + from + h * size + e]);
    };
  };
  Expected want;
  want.q = part(0, 4), want.k = part(8, 4), want.v = part(16, 3);
  want.value_size = 3;
  want.Check(y);
}

TEST(MicrosoftQAttention, ProjectsBytesExactly) {
  OneNodeModel n("QAttention");
  std::vector<uint8_t> x(30), w(120);
  for (size_t i = 0; i < x.size(); ++i) x[i] = uint8_t(i * 73 + 29);
  for (size_t i = 0; i < w.size(); ++i) w[i] = uint8_t(i * 57 + 11);
  n.Int("num_heads", 2).Numbers("x", DType::kU8, {2, 3, 5}, x).Numbers("c_w", DType::kU8, {5, 24}, w);
  n.Floats("c_bias", {24}).Numbers("c_xs", DType::kF32, {}, std::vector{0.01f});
  n.Numbers("c_ws", DType::kF32, {}, std::vector{0.002f}).I32("mask", {2}, {2, 3});
  n.Numbers("c_xz", DType::kU8, {}, std::vector<uint8_t>{120})
      .Numbers("c_wz", DType::kU8, {}, std::vector<uint8_t>{130});
  const Tensor y = n.Run().at(0);
  std::vector<float> rows;
  for (int64_t r = 0; r < 6; ++r)
    for (int64_t c = 0; c < 24; ++c) {
      int sum = 0;
      for (int64_t i = 0; i < 5; ++i) sum += (x[size_t(r * 5 + i)] - 120) * (w[size_t(i * 24 + c)] - 130);
      rows.push_back(float(sum * 0.01 * 0.002 + double(n["c_bias"].as<float>()[c])));
    }
  const Tensor projected = Tensor::Floats({2, 3, 24}, rows);
  Expected want = OfProjected(projected);
  want.bias = [](int64_t b, int64_t, int64_t, int64_t j) { return b == 0 && j == 2 ? -10000.0 : 0; };
  want.Check(y);
}

ByHead Plus(const ByHead& x, const Tensor& bias, int64_t from, int64_t size) {
  return [=](int64_t b, int64_t h, int64_t i, int64_t e) {
    return x(b, h, i, e) + double(bias.as<float>()[from + h * size + e]);
  };
}

TEST(MicrosoftMultiHeadAttention, KeysOfAnotherLengthWithABiasAndAMask) {
  OneNodeModel n("MultiHeadAttention");
  n.Int("num_heads", 2).Floats("q", {2, 3, 8}, 0.05f).Floats("key", {2, 5, 8}).Floats("value", {2, 5, 6});
  n.Floats("c_bias", {22})
      .I32("mask", {2, 5}, {1, 1, 0, 1, 1, 0, 1, 1, 0, 1})
      .Floats("s", {2, 1, 3, 5}, 0.03f);
  const Tensor y = n.Run().at(0);
  Expected want;
  want.keys = 5;
  want.value_size = 3;
  want.q = Plus(InRows(n["q"], 2), n["c_bias"], 0, 4);
  want.k = Plus(InRows(n["key"], 2), n["c_bias"], 8, 4);
  want.v = Plus(InRows(n["value"], 2), n["c_bias"], 16, 3);
  want.bias = [&](int64_t b, int64_t, int64_t i, int64_t j) {
    return double(n["s"].as<float>()[(b * 3 + i) * 5 + j]) +
           (n["mask"].as<int32_t>()[b * 5 + j] ? 0 : -10000);
  };
  want.Check(y);
}

TEST(MicrosoftMultiHeadAttention, PackedForms) {
  const auto packed = [](const Tensor& t, int64_t which) -> ByHead {
    const Shape s = t.shape();  // batch, length, heads, parts, size
    return [=](int64_t b, int64_t h, int64_t i, int64_t e) {
      return double(t.as<float>()[(((b * s[1] + i) * s[2] + h) * s[3] + which) * s[4] + e]);
    };
  };
  OneNodeModel all("MultiHeadAttention");
  all.Int("num_heads", 2).Floats("q", {2, 3, 2, 3, 4}, 0.05f).None().None().Floats("c_bias", {24});
  Tensor y = all.Run().at(0);
  Expected want;
  want.q = Plus(packed(all["q"], 0), all["c_bias"], 0, 4);
  want.k = Plus(packed(all["q"], 1), all["c_bias"], 8, 4);
  want.v = Plus(packed(all["q"], 2), all["c_bias"], 16, 4);
  want.Check(y);

  OneNodeModel pair("MultiHeadAttention");
  pair.Int("num_heads", 2).Floats("q", {2, 3, 8}, 0.05f).Floats("kv", {2, 5, 2, 2, 4});
  y = pair.Run().at(0);
  want = Expected();
  want.keys = 5;
  want.q = InRows(pair["q"], 2);
  want.k = packed(pair["kv"], 0);
  want.v = packed(pair["kv"], 1);
  want.Check(y);
}

TEST(MicrosoftMultiHeadAttention, KeysInHeadsAndOfThePast) {
  OneNodeModel cross("MultiHeadAttention");
  cross.Int("num_heads", 2)
      .Floats("q", {2, 3, 8}, 0.05f)
      .Floats("key", {2, 2, 5, 4})
      .Floats("value", {2, 2, 5, 4});
  Tensor y = cross.Run().at(0);
  Expected want;
  want.keys = 5;
  want.q = InRows(cross["q"], 2);
  want.k = InHeads(cross["key"]);
  want.v = InHeads(cross["value"]);
  want.Check(y);

  OneNodeModel past("MultiHeadAttention");
  past.Int("num_heads", 2).Int("unidirectional", 1).Floats("q", {2, 3, 8}, 0.05f).Floats("key", {2, 3, 8});
  past.Floats("value", {2, 3, 8})
      .None()
      .None()
      .None()
      .Floats("past_k", {2, 2, 4, 4})
      .Floats("past_v", {2, 2, 4, 4});
  const std::vector<Tensor> out = past.Run(3);
  const auto four = [](int64_t) { return int64_t{4}; };
  want = Expected();
  want.keys = 7;
  want.q = InRows(past["q"], 2);
  want.k = Behind(InHeads(past["past_k"]), four, InRows(past["key"], 2));
  want.v = Behind(InHeads(past["past_v"]), four, InRows(past["value"], 2));
  want.bias = [](int64_t, int64_t, int64_t i, int64_t j) { return j > i + 4 ? -kInfinity : 0; };
  want.Check(out[0]);
  for (const size_t i : {1, 2})
    ExpectNear(out[i], {2, 2, 7, 4}, [&](int64_t at) {
      return (i == 1 ? want.k : want.v)(at / 56, at / 28 % 2, at / 4 % 7, at % 4);
    });
}

// A decoder's step with a mask, for any lengths of the past and of what is new.
TEST(MicrosoftMultiHeadAttention, SizesMayDifferFromRunToRun) {
  const auto node = [](int64_t batch, int64_t past, int64_t fresh) {
    OneNodeModel n("MultiHeadAttention");
    n.Int("num_heads", 2).Int("unidirectional", 1).Floats("q", {batch, fresh, 8}, 0.05f);
    n.Floats("key", {batch, fresh, 8}).Floats("value", {batch, fresh, 8}).None();
    std::vector<int32_t> mask(size_t(batch * (past + fresh)), 1);
    mask[1] = 0;
    n.I32("mask", {batch, past + fresh}, mask).None();
    n.Floats("past_k", {batch, 2, past, 4}).Floats("past_v", {batch, 2, past, 4});
    return n;
  };
  OneNodeModel open = node(2, 3, 2);
  const Model model = open.Open().Load(1);
  Session session(model, SessionOptions::Estimated());
  for (const auto& [batch, past, fresh] : {std::array{2, 3, 2}, std::array{1, 5, 1}, std::array{3, 0, 4}}) {
    SCOPED_TRACE(testing::Message() << batch << " " << past << " " << fresh);
    const OneNodeModel n = node(batch, past, fresh);
    const auto begin = [before = past](int64_t) { return int64_t{before}; };
    Expected want;
    want.batch = batch;
    want.queries = fresh;
    want.keys = past + fresh;
    want.q = InRows(n["q"], 2);
    want.k = Behind(InHeads(n["past_k"]), begin, InRows(n["key"], 2));
    want.v = Behind(InHeads(n["past_v"]), begin, InRows(n["value"], 2));
    want.bias = [before = past](int64_t b, int64_t, int64_t i, int64_t j) {
      return j > i + before ? -kInfinity : b == 0 && j == 1 ? -10000.0 : 0;
    };
    want.Check(session.Run(n.Inputs(model)).at(0));
  }
}

// Four heads of queries and two of keys, of size 4. `places`: of the first new token of each row.
struct GroupQuery {
  int64_t length = 3, buffer = 6, total = 5;
  std::vector<int32_t> lasts{4, 4};

  int64_t Begin(int64_t b) const { return total == length ? 0 : lasts[size_t(b)] + 1 - length; }
  int64_t batch() const { return int64_t(lasts.size()); }

  OneNodeModel Node() const {
    OneNodeModel n("GroupQueryAttention");
    n.Int("num_heads", 4).Int("kv_num_heads", 2);
    n.Floats("q", {batch(), length, 16}, 0.05f).Floats("key", {batch(), length, 8});
    n.Floats("value", {batch(), length, 8}, 0.03f);
    if (buffer >= 0) n.Floats("past_k", {batch(), 2, buffer, 4}).Floats("past_v", {batch(), 2, buffer, 4});
    else n.None().None();
    n.I32("lasts", {batch()}, lasts).I32("total", {}, {int32_t(total)});
    return n;
  }
  Expected Want(const OneNodeModel& n) const {
    Expected want;
    want.batch = batch();
    want.heads = 4;
    want.queries = length;
    want.keys = total;
    want.q = InRows(n["q"], 4);
    want.k = InRows(n["key"], 2);
    want.v = InRows(n["value"], 2);
    if (buffer >= 0) {
      const auto begin = [*this](int64_t b) { return Begin(b); };
      want.k = Behind(InHeads(n["past_k"]), begin, want.k);
      want.v = Behind(InHeads(n["past_v"]), begin, want.v);
    }
    want.bias = [*this](int64_t b, int64_t, int64_t i, int64_t j) {
      return j > Begin(b) + i ? -kInfinity : 0;
    };
    return want;
  }
  // The buffers have the new tokens behind those of the past, and are as long as the longest.
  void CheckPresent(const OneNodeModel& n, const Expected& want, const Tensor& got, bool keys) const {
    const int64_t all = std::max(buffer, total);
    const Tensor* past = buffer < 0 ? nullptr : &n[keys ? "past_k" : "past_v"];
    ExpectNear(got, {batch(), 2, all, 4}, [&](int64_t at) {
      const int64_t e = at % 4, i = at / 4 % all, h = at / (4 * all) % 2, b = at / (8 * all);
      if (i < Begin(b) + length) return (keys ? want.k : want.v)(b, h, i, e);
      return past && i < buffer ? InHeads(*past)(b, h, i, e) : 0.0;
    });
  }
};

TEST(MicrosoftGroupQueryAttention, PromptsTokensAndBuffers) {
  const GroupQuery forms[] = {
      {.length = 5, .buffer = -1, .total = 5, .lasts = {4, 4}},  // a prompt without a buffer
      {.length = 5, .buffer = 0, .total = 5, .lasts = {4, 4}},   // and with an empty one
      {.length = 5, .buffer = 9, .total = 5, .lasts = {4, 2}},   // into a long one, and a row with padding
      {.length = 1, .buffer = 7, .total = 8, .lasts = {7, 7}},   // a token behind a full buffer
      {.length = 1, .buffer = 9, .total = 8, .lasts = {4, 7}},   // rows of several lengths
      {.length = 3, .buffer = 4, .total = 7, .lasts = {6}}};     // tokens behind a past
  for (const GroupQuery& form : forms) {
    SCOPED_TRACE(testing::Message() << form.length << " of " << form.total << " in " << form.buffer);
    OneNodeModel n = form.Node();
    const std::vector<Tensor> y = n.Run(3);
    const Expected want = form.Want(n);
    want.Check(y[0]);
    form.CheckPresent(n, want, y[1], true);
    form.CheckPresent(n, want, y[2], false);
  }
}

TEST(MicrosoftGroupQueryAttention, SizesMayDifferFromRunToRun) {
  const GroupQuery forms[] = {{.length = 5, .buffer = 0, .total = 5, .lasts = {4, 4}},
                              {.length = 1, .buffer = 5, .total = 6, .lasts = {5, 5}},
                              {.length = 1, .buffer = 9, .total = 8, .lasts = {4, 7}},
                              {.length = 3, .buffer = 4, .total = 7, .lasts = {6}}};
  OneNodeModel open = forms[0].Node();
  const Model model = open.Open().Load(3);
  Session session(model, SessionOptions::Estimated());
  for (const GroupQuery& form : forms) {
    SCOPED_TRACE(testing::Message() << form.length << " of " << form.total << " in " << form.buffer);
    const OneNodeModel n = form.Node();
    const std::vector<Tensor> y = session.Run(n.Inputs(model));
    const Expected want = form.Want(n);
    want.Check(y[0]);
    form.CheckPresent(n, want, y[1], true);
  }
}

TEST(MicrosoftGroupQueryAttention, WindowsCapsAndSinks) {
  const GroupQuery form{.length = 3, .buffer = 4, .total = 6, .lasts = {5}};
  OneNodeModel n = form.Node();
  n.Int("local_window_size", 2);
  Tensor y = n.Run().at(0);
  Expected want = form.Want(n);
  const auto causal = want.bias;
  want.bias = [&](int64_t b, int64_t h, int64_t i, int64_t j) {
    return form.Begin(b) + i - j >= 2 ? -kInfinity : causal(b, h, i, j);
  };
  want.Check(y);

  n = form.Node();
  y = n.Float("softcap", 0.25f).Float("scale", 1.5f).Int("smooth_softmax", 1).Run().at(0);
  want = form.Want(n);
  want.softcap = 0.25;
  want.scale = 1.5;
  want.sink = 0;
  want.Check(y);
}

TEST(MicrosoftGroupQueryAttention, BiasesOfScoresHaveAColumnForEachToken) {
  const GroupQuery form{.length = 1, .buffer = 9, .total = 8, .lasts = {7, 7}};
  OneNodeModel n = form.Node();
  const Tensor y = n.None().None().None().Floats("s", {1, 4, 1, 8}, 0.04f).Run().at(0);
  Expected want = form.Want(n);
  want.bias = [&](int64_t, int64_t h, int64_t, int64_t j) { return double(n["s"].as<float>()[h * 8 + j]); };
  want.Check(y);
}

TEST(MicrosoftGroupQueryAttention, TurnsQueriesAndKeysByTheirPlaces) {
  const GroupQuery form{.length = 1, .buffer = 9, .total = 8, .lasts = {4, 7}};
  OneNodeModel n = form.Node();
  n.Int("do_rotary", 1).Floats("c_cos", {12, 2}, 0.03f).Floats("c_sin", {12, 2}, 0.05f);
  const std::vector<Tensor> y = n.Run(3);
  const auto place = [&](int64_t b, int64_t i) { return form.Begin(b) + i; };
  const auto begin = [&](int64_t b) { return form.Begin(b); };
  Expected want = form.Want(n);
  want.q = Turned(want.q, n["c_cos"], n["c_sin"], place);
  want.k = Behind(InHeads(n["past_k"]), begin, Turned(InRows(n["key"], 2), n["c_cos"], n["c_sin"], place));
  want.Check(y[0]);
  form.CheckPresent(n, want, y[1], true);
}

TEST(MicrosoftGroupQueryAttention, PackedRows) {
  OneNodeModel n("GroupQueryAttention");
  n.Int("num_heads", 4).Int("kv_num_heads", 2).Floats("rows", {2, 3, 32}, 0.05f).None().None().None().None();
  const Tensor y = n.I32("lasts", {2}, {2, 2}).I32("total", {1}, {3}).Run().at(0);
  Expected want;
  want.heads = 4;
  want.q = InRows(n["rows"], 4, 0, 8);
  want.k = InRows(n["rows"], 2, 4, 8);
  want.v = InRows(n["rows"], 2, 6, 8);
  want.bias = [](int64_t, int64_t, int64_t i, int64_t j) { return j > i ? -kInfinity : 0; };
  want.Check(y);
}

}  // namespace
}  // namespace mete
