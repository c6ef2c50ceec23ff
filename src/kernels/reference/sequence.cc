#include "kernels/reference/sequence.h"

#include <algorithm>
#include <cmath>

#include "base/recurrent.h"
#include "kernels/reference/epilogue.h"

namespace mete {
namespace {

using enum RecurrentKind;

double Apply(const RecurrentFunction& f, double x) {
  switch (f.kind) {
    case kTanh: return std::tanh(x);
    case kRelu: return x < 0 ? 0 : x;
    case kSigmoid: return Logistic(x);
    case kAffine: return f.alpha * x + f.beta;
    case kLeakyRelu: return x < 0 ? f.alpha * x : x;
    case kThresholdedRelu: return x > f.alpha ? x : 0;
    case kScaledTanh: return f.alpha * std::tanh(f.beta * x);
    case kHardSigmoid: return Clamp(f.alpha * x + f.beta, 0, 1);
    case kElu: return x < 0 ? f.alpha * std::expm1(x) : x;
    case kSoftsign: return x / (1 + std::fabs(x));
    case kSoftplus: return SoftplusOf(x);
  }
  return x;
}

// The weights and functions of one direction.
template <class T>
struct Cell {
  int64_t inputs, hidden, gates;
  const T *w, *r, *w_bias, *r_bias, *peepholes;  // biases and peepholes may be null
  std::array<RecurrentFunction, RecurrentSpec::kMaxFunctions> f;
  double clip;
  bool linear_before_reset, input_forget;

  double Gate(int function, double x) const {
    return Apply(f[size_t(function)], clip > 0 ? Clamp(x, -clip, clip) : x);
  }
  double FromInput(int64_t row, const T* x) const {
    return Dot(w + row * inputs, x, inputs) + (w_bias ? double(w_bias[row]) : 0);
  }
  double FromState(int64_t row, const double* h) const {
    return Dot(r + row * hidden, h, hidden) + (r_bias ? double(r_bias[row]) : 0);
  }

 private:
  template <class V>
  static double Dot(const T* weights, const V* x, int64_t count) {
    double sum = 0;
    for (int64_t i = 0; i < count; ++i) sum += double(weights[i]) * double(x[i]);
    return sum;
  }
};

// The state of one sequence: h and, for LSTM, c. `next` and `gates` are working memory.
struct CellState {
  double *h, *c, *next, *gates;
};

// Runs one step of an LSTM. The order of the gates is input, output, forget, cell; that of the peepholes is
// input, output, forget.
template <class T>
void StepLstm(const Cell<T>& cell, const T* x, CellState& s) {
  const int64_t n = cell.hidden;
  for (int64_t i = 0; i < 4 * n; ++i) s.gates[i] = cell.FromInput(i, x) + cell.FromState(i, s.h);
  auto peep = [&](int64_t which, int64_t i, double c) {
    return cell.peepholes ? double(cell.peepholes[which * n + i]) * c : 0;
  };
  for (int64_t i = 0; i < n; ++i) {
    const double in = cell.Gate(0, s.gates[i] + peep(0, i, s.c[i]));
    const double forget = cell.input_forget ? 1 - in : cell.Gate(0, s.gates[2 * n + i] + peep(2, i, s.c[i]));
    s.c[i] = forget * s.c[i] + in * cell.Gate(1, s.gates[3 * n + i]);
    s.h[i] = cell.Gate(0, s.gates[n + i] + peep(1, i, s.c[i])) * Apply(cell.f[2], s.c[i]);
  }
}

// Runs one step of a GRU. The order of the gates is update, reset, hidden.
template <class T>
void StepGru(const Cell<T>& cell, const T* x, CellState& s) {
  const int64_t n = cell.hidden;
  for (int64_t i = 0; i < 2 * n; ++i)
    s.gates[i] = cell.Gate(0, cell.FromInput(i, x) + cell.FromState(i, s.h));
  double* reset_h = s.gates + 2 * n;
  for (int64_t i = 0; i < n; ++i) reset_h[i] = s.gates[n + i] * s.h[i];
  for (int64_t i = 0; i < n; ++i) {
    const double recurrent = cell.linear_before_reset ? s.gates[n + i] * cell.FromState(2 * n + i, s.h)
                                                      : cell.FromState(2 * n + i, reset_h);
    const double update = s.gates[i];
    s.next[i] = (1 - update) * cell.Gate(1, cell.FromInput(2 * n + i, x) + recurrent) + update * s.h[i];
  }
  std::swap(s.h, s.next);
}

template <class T>
void StepRnn(const Cell<T>& cell, const T* x, CellState& s) {
  for (int64_t i = 0; i < cell.hidden; ++i)
    s.next[i] = cell.Gate(0, cell.FromInput(i, x) + cell.FromState(i, s.h));
  std::swap(s.h, s.next);
}

template <class T>
void Step(const Cell<T>& cell, const T* x, CellState& s) {
  if (cell.gates == 4) StepLstm(cell, x, s);
  else if (cell.gates == 3) StepGru(cell, x, s);
  else StepRnn(cell, x, s);
}

template <class T>
class Recurrence {
 public:
  Recurrence(RefArgs& args, int64_t gates, const RecurrentSpec& spec)
      : args_(args),
        spec_(spec),
        gates_(gates),
        hidden_(args.in[2].shape[2]),
        inputs_(args.in[0].shape[2]),
        length_(args.in[0].shape[spec.batch_first ? 1 : 0]),
        batch_(args.in[0].shape[spec.batch_first ? 0 : 1]) {
    state_.h = args.scratch.Get<double>(size_t(hidden_));
    state_.c = args.scratch.Get<double>(size_t(hidden_));
    state_.next = args.scratch.Get<double>(size_t(hidden_));
    state_.gates = args.scratch.Get<double>(size_t(gates_ * hidden_));
  }

  void Run() {
    for (int64_t d = 0; d < spec_.directions; ++d) {
      const Cell<T> cell = CellOf(d);
      for (int64_t n = 0; n < batch_; ++n) RunSequence(cell, d, n);
    }
  }

 private:
  const T* Optional(size_t input, int64_t offset) const {
    return args_.has(input) ? args_.in[input].as<T>() + offset : nullptr;
  }

  Cell<T> CellOf(int64_t d) const {
    const int64_t rows = gates_ * hidden_;
    const T* bias = Optional(3, d * 2 * rows);
    return {inputs_,
            hidden_,
            gates_,
            args_.in[1].as<T>() + d * rows * inputs_,
            args_.in[2].as<T>() + d * rows * hidden_,
            bias,
            bias ? bias + rows : nullptr,
            Optional(7, d * 3 * hidden_),
            spec_.functions[size_t(d)],
            spec_.clip,
            args_.attributes.Int("linear_before_reset", 0) != 0,
            args_.attributes.Int("input_forget", 0) != 0};
  }

  int64_t LengthOf(int64_t n) const {
    if (!args_.has(4)) return length_;
    const int64_t length =
        args_.in[4].type == DType::kI32 ? args_.in[4].as<int32_t>()[n] : args_.in[4].as<int64_t>()[n];
    if (length < 0 || length > length_)
      Fail(Code::kOutOfRange, "kernel", "sequence_lens[{}] is out of range; got {}, expected 0 to {}", n,
           length, length_);
    return length;
  }

  int64_t StateOffset(int64_t d, int64_t n) const {
    return (spec_.batch_first ? n * spec_.directions + d : d * batch_ + n) * hidden_;
  }

  void Load(double* to, const T* from) const {
    for (int64_t i = 0; i < hidden_; ++i) to[i] = from ? double(from[i]) : 0;
  }

  void Store(size_t output, int64_t offset, const double* from) const {
    if (!args_.wants(output)) return;
    T* to = args_.out[output].template as<T>() + offset;
    for (int64_t i = 0; i < hidden_; ++i) to[i] = from ? FromDouble<T>(from[i]) : T(0.f);
  }

  // Runs one sequence in one direction. A backward direction starts at the sequence's own end. Outputs behind
  // that end are zero.
  void RunSequence(const Cell<T>& cell, int64_t d, int64_t n) {
    const int64_t length = LengthOf(n);
    const bool backward = spec_.reverse || d == 1;
    Load(state_.h, Optional(5, StateOffset(d, n)));
    Load(state_.c, Optional(6, StateOffset(d, n)));
    for (int64_t s = 0; s < length_; ++s) {
      const int64_t t = backward && s < length ? length - 1 - s : s;
      const int64_t step = spec_.batch_first ? n * length_ + t : t * batch_ + n;
      if (s < length) Step(cell, args_.in[0].as<T>() + step * inputs_, state_);
      const int64_t y =
          spec_.batch_first ? step * spec_.directions + d : (t * spec_.directions + d) * batch_ + n;
      Store(0, y * hidden_, s < length ? state_.h : nullptr);
    }
    Store(1, StateOffset(d, n), state_.h);
    if (gates_ == 4) Store(2, StateOffset(d, n), state_.c);
  }

  RefArgs& args_;
  const RecurrentSpec& spec_;
  int64_t gates_, hidden_, inputs_, length_, batch_;
  CellState state_;
};

void RunRecurrent(RefArgs& args, int64_t gates, std::span<const RecurrentKind> functions) {
  RecurrentSpec spec;
  if (const std::string problem = ParseRecurrent(args.attributes, functions, spec); !problem.empty())
    Invalid("kernel", "{}", problem);
  VisitFloat(args.in[0].type, [&]<class T>() { Recurrence<T>(args, gates, spec).Run(); });
}

void Lstm(RefArgs& args) { RunRecurrent(args, 4, std::array{kSigmoid, kTanh, kTanh}); }
void Gru(RefArgs& args) { RunRecurrent(args, 3, std::array{kSigmoid, kTanh}); }
void Rnn(RefArgs& args) { RunRecurrent(args, 1, std::array{kTanh}); }

}  // namespace

std::span<const RefEntry> SequenceReferences() {
  static constexpr RefEntry kSequenceEntries[] = {
      {"Attention", AttentionReference},
      {"FlexAttention", FlexAttentionReference},
      {"GRU", Gru},
      {"LSTM", Lstm},
      {"LinearAttention", LinearAttentionReference},
      {"RNN", Rnn},
      {"RotaryEmbedding", RotaryEmbeddingReference},
  };
  return kSequenceEntries;
}

}  // namespace mete
