// Kernels of attention without a softmax (LinearAttention) and of rotary position embeddings.
#include <algorithm>
#include <cmath>

#include "base/heads.h"
#include "kernels/reference/number.h"
#include "kernels/reference/sequence.h"

namespace mete {
namespace {

double* AsDoubles(RefArgs& args, size_t input) {
  if (!args.has(input)) return nullptr;
  double* values = args.scratch.Get<double>(size_t(args.in[input].elements()));
  ReadDoubles(args.in[input], values);
  return values;
}

void StoreDoubles(const View& to, const double* values) {
  VisitFloat(to.type, [&]<class T>() {
    for (int64_t i = 0, n = to.elements(); i < n; ++i) to.as<T>()[i] = FromDouble<T>(values[i]);
  });
}

// One call of LinearAttention. The state S of a head is a k.size x v.size matrix. Each token decays the
// state, adds key x value to it, and reads it with the query.
struct LinearCall {
  Heads q, k, v;
  const double *query, *key, *value, *decay, *beta;
  int64_t decay_width, beta_width;  // sizes of the last dimensions of decay and beta
  double scale;
  double *state, *update, *out;

  explicit LinearCall(RefArgs& args)
      : q(args.in[0].shape, args.attributes.Int("q_num_heads", 1)),
        k(args.in[1].shape, args.attributes.Int("kv_num_heads", 1)),
        v(args.in[2].shape, args.attributes.Int("kv_num_heads", 1)),
        query(AsDoubles(args, 0)),
        key(AsDoubles(args, 1)),
        value(AsDoubles(args, 2)),
        decay(AsDoubles(args, 4)),
        beta(AsDoubles(args, 5)),
        decay_width(decay ? args.in[4].shape[2] : 0),
        beta_width(beta ? args.in[5].shape[2] : 0),
        scale(args.attributes.Float("scale", 0)),
        state(AsDoubles(args, 3)) {
    if (scale == 0) scale = 1 / std::sqrt(double(q.size));
    const int64_t elements = k.batch * k.heads * k.size * v.size;
    if (!state) {
      state = args.scratch.Get<double>(size_t(elements));
      std::fill_n(state, elements, 0.0);
    }
    update = args.scratch.Get<double>(size_t(v.size));
    out = args.scratch.Get<double>(size_t(args.out[0].elements()));
  }

  void Run() {
    for (int64_t b = 0; b < k.batch; ++b)
      for (int64_t h = 0; h < k.heads; ++h)
        for (int64_t t = 0; t < k.length; ++t) {
          double* s = state + (b * k.heads + h) * k.size * v.size;
          Write(s, b, h, t);
          for (int64_t g = 0; g < q.heads / k.heads; ++g) Read(s, b, h * (q.heads / k.heads) + g, t);
        }
  }

 private:
  void Write(double* s, int64_t b, int64_t h, int64_t t) {
    const double* keys = key + k.At(b, h, t);
    const int64_t token = b * k.length + t;
    if (decay) {
      const bool per_head = decay_width == k.heads;
      for (int64_t i = 0; i < k.size; ++i) {
        const double factor = std::exp(decay[token * decay_width + (per_head ? h : h * k.size + i)]);
        for (int64_t j = 0; j < v.size; ++j) s[i * v.size + j] *= factor;
      }
    }
    std::copy_n(value + v.At(b, h, t), v.size, update);
    if (beta) Correct(s, keys, beta[token * beta_width + (beta_width == 1 ? 0 : h)]);
    for (int64_t i = 0; i < k.size; ++i)
      for (int64_t j = 0; j < v.size; ++j) s[i * v.size + j] += keys[i] * update[j];
  }

  // Applies the delta rule: the update becomes the difference between the value and the value that the state
  // already returns for this key, times `rate`.
  void Correct(const double* s, const double* keys, double rate) {
    for (int64_t j = 0; j < v.size; ++j) {
      double known = 0;
      for (int64_t i = 0; i < k.size; ++i) known += s[i * v.size + j] * keys[i];
      update[j] = rate * (update[j] - known);
    }
  }

  void Read(const double* s, int64_t b, int64_t h, int64_t t) {
    const double* queries = query + q.At(b, h, t);
    double* y = out + ((b * q.length + t) * q.heads + h) * v.size;
    std::fill_n(y, v.size, 0.0);
    for (int64_t i = 0; i < k.size; ++i)
      for (int64_t j = 0; j < v.size; ++j) y[j] += scale * queries[i] * s[i * v.size + j];
  }
};

// Returns the row of the cosine and sine tables for a token, numbered over batch and time.
int64_t TableRow(const RefArgs& args, int64_t token) {
  if (!args.has(3)) return token;
  const ConstView& ids = args.in[3];
  const int64_t id = ids.type == DType::kI32 ? ids.as<int32_t>()[token] : ids.as<int64_t>()[token],
                rows = args.in[1].shape[0];
  if (id < 0 || id >= rows)
    Fail(Code::kOutOfRange, "kernel", "position id is out of range; got {}, expected 0 to {}", id, rows - 1);
  return id;
}

template <class T>
void Rotate(const T* x, const T* cosines, const T* sines, int64_t half, bool interleaved, T* y) {
  for (int64_t i = 0; i < half; ++i) {
    const int64_t a = interleaved ? 2 * i : i, b = interleaved ? 2 * i + 1 : i + half;
    const double c = cosines[i], s = sines[i], xa = x[a], xb = x[b];
    y[a] = FromDouble<T>(c * xa - s * xb);
    y[b] = FromDouble<T>(s * xa + c * xb);
  }
}

template <class T>
void RotaryEmbedding(RefArgs& args) {
  const Heads x(args.in[0].shape, args.attributes.Int("num_heads", 1));
  const int64_t half = args.in[1].shape.back();
  const bool interleaved = args.attributes.Int("interleaved", 0) != 0;
  for (int64_t b = 0; b < x.batch; ++b)
    for (int64_t t = 0; t < x.length; ++t) {
      const int64_t row = TableRow(args, b * x.length + t) * half;
      for (int64_t h = 0; h < x.heads; ++h) {
        const T* from = args.in[0].as<T>() + x.At(b, h, t);
        T* to = args.out[0].as<T>() + x.At(b, h, t);
        Rotate(from, args.in[1].as<T>() + row, args.in[2].as<T>() + row, half, interleaved, to);
        std::copy(from + 2 * half, from + x.size, to + 2 * half);
      }
    }
}

}  // namespace

void LinearAttentionReference(RefArgs& args) {
  LinearCall call(args);
  call.Run();
  StoreDoubles(args.out[0], call.out);
  if (args.wants(1)) StoreDoubles(args.out[1], call.state);
}

void RotaryEmbeddingReference(RefArgs& args) {
  VisitFloat(args.in[0].type, [&]<class T>() { RotaryEmbedding<T>(args); });
}

}  // namespace mete
