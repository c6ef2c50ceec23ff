#include <algorithm>
#include <cmath>
#include <limits>

#include "base/heads.h"
#include "kernels/reference/iterate.h"
#include "kernels/reference/number.h"
#include "kernels/reference/sequence.h"

namespace mete {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// FlexAttention has no inputs and attributes for a bias, and none for keys and values of the past.
enum class Kind { kFull, kFlex };

// The bias that is added to the scores: -infinity for keys that a query must not see, otherwise the mask's
// value or 0.
class Bias {
 public:
  Bias(const RefArgs& args, Kind kind, int64_t queries, int64_t past) : queries_(queries) {
    if (kind == Kind::kFlex) return;
    causal_ = args.attributes.Int("is_causal", 0) != 0;
    left_ = args.attributes.Int("left_window_size", -1);
    right_ = args.attributes.Int("right_window_size", -1);
    offset_ = past;
    if (args.has(6)) lengths_ = &args.in[6];
    if (!args.has(3)) return;
    mask_ = &args.in[3];
    mask_length_ = mask_->shape.back();
    const Steps own = RowMajorSteps(mask_->shape);
    for (int i = 0; i + 1 < mask_->shape.rank(); ++i)
      steps_[size_t(i + 4 - mask_->shape.rank())] = mask_->shape[i] == 1 ? 0 : own[size_t(i)];
  }

  template <class T>
  double At(int64_t b, int64_t h, int64_t i, int64_t j) const {
    if (Hidden(b, i, j)) return -kInfinity;
    if (!mask_) return 0;
    if (j >= mask_length_) return -kInfinity;
    const int64_t at = b * steps_[0] + h * steps_[1] + i * steps_[2] + j;
    if (mask_->type == DType::kBool) return mask_->as<uint8_t>()[at] ? 0 : -kInfinity;
    return double(mask_->as<T>()[at]);
  }

 private:
  int64_t LengthOf(int64_t b) const {
    return lengths_->type == DType::kI32 ? lengths_->as<int32_t>()[b] : lengths_->as<int64_t>()[b];
  }

  bool Hidden(int64_t b, int64_t i, int64_t j) const {
    // A length beyond all keys hides no key; a negative length hides all keys.
    const int64_t length = lengths_ ? std::clamp<int64_t>(LengthOf(b), 0, int64_t(1) << 40) : 0;
    if (lengths_ && j >= length) return true;
    const int64_t place = i + (lengths_ ? length - queries_ : offset_);
    return (causal_ && j > place) || (left_ >= 0 && place - j > left_) || (right_ >= 0 && j - place > right_);
  }

  int64_t queries_, left_ = -1, right_ = -1, offset_ = 0, mask_length_ = 0;
  bool causal_ = false;
  const ConstView *mask_ = nullptr, *lengths_ = nullptr;
  std::array<int64_t, 3> steps_{};
};

// Returns the past and the new keys (or values) concatenated, as batch x heads x total x size.
template <class T>
const T* Joined(RefArgs& args, size_t past_input, const ConstView& fresh, const Heads& heads, int64_t past,
                size_t output) {
  const int64_t total = past + heads.length;
  T* joined = args.wants(output)
                  ? args.out[output].as<T>()
                  : args.scratch.Get<T>(size_t(heads.batch * heads.heads * total * heads.size));
  T* to = joined;
  for (int64_t b = 0; b < heads.batch; ++b)
    for (int64_t h = 0; h < heads.heads; ++h) {
      if (past > 0)
        to = std::copy_n(args.in[past_input].as<T>() + (b * heads.heads + h) * past * heads.size,
                         past * heads.size, to);
      for (int64_t i = 0; i < heads.length; ++i)
        to = std::copy_n(fresh.as<T>() + heads.At(b, h, i), heads.size, to);
    }
  return joined;
}

// Computes the softmax in place. A row whose bias is -infinity throughout becomes 0; the plain formula would
// give NaN.
void SoftmaxRow(double* row, int64_t count, bool all_hidden) {
  double most = -kInfinity, sum = 0;
  for (int64_t j = 0; j < count; ++j) most = Most(row[j], most);
  if (all_hidden || most == -kInfinity) return (void)std::fill_n(row, count, 0.0);
  for (int64_t j = 0; j < count; ++j) sum += row[j] = std::exp(row[j] - most);
  for (int64_t j = 0; j < count; ++j) row[j] /= sum;
}

template <class T>
class AttentionCall {
 public:
  AttentionCall(RefArgs& args, Kind kind)
      : q_(args.in[0].shape, args.attributes.Int("q_num_heads", 1)),
        k_(args.in[1].shape, args.attributes.Int("kv_num_heads", 1)),
        v_(args.in[2].shape, args.attributes.Int("kv_num_heads", 1)),
        past_(kind == Kind::kFull && args.has(4) ? args.in[4].shape[2] : 0),
        total_(past_ + k_.length),
        group_(q_.heads / k_.heads),
        bias_(args, kind, q_.length, past_),
        query_(args.in[0].as<T>()),
        y_(args.out[0].shape, q_.heads),
        out_(args.out[0].as<T>()) {
    keys_ = Joined<T>(args, 4, args.in[1], k_, past_, 1);
    values_ = Joined<T>(args, 5, args.in[2], v_, past_, 2);
    scale_ = args.attributes.Float("scale", 0);
    if (!args.attributes.Has("scale")) scale_ = 1 / std::sqrt(double(q_.size));
    softcap_ = args.attributes.Float("softcap", 0);
    if (args.wants(3)) {
      scores_out_ = args.out[3].as<T>();
      mode_ = args.attributes.Int("qk_matmul_output_mode", 0);
    }
    row_ = args.scratch.Get<double>(size_t(total_));
    sums_ = args.scratch.Get<double>(size_t(v_.size));
  }

  void Run() {
    for (int64_t b = 0; b < q_.batch; ++b)
      for (int64_t h = 0; h < q_.heads; ++h)
        for (int64_t i = 0; i < q_.length; ++i) {
          const bool all_hidden = Scores(b, h, i);
          SoftmaxRow(row_, total_, all_hidden);
          Show(3, b, h, i);
          WeighValues(b, h, i);
        }
  }

 private:
  // Computes the scores of one query into row_. Returns whether every key is hidden.
  bool Scores(int64_t b, int64_t h, int64_t i) {
    const T* q = query_ + q_.At(b, h, i);
    const T* k = keys_ + (b * k_.heads + h / group_) * total_ * k_.size;
    for (int64_t j = 0; j < total_; ++j, k += k_.size) {
      double sum = 0;
      for (int64_t d = 0; d < q_.size; ++d) sum += double(q[d]) * double(k[d]);
      row_[j] = sum * scale_;
    }
    Show(0, b, h, i);
    if (softcap_ > 0)
      for (int64_t j = 0; j < total_; ++j) row_[j] = softcap_ * std::tanh(row_[j] / softcap_);
    Show(1, b, h, i);
    bool all_hidden = true;
    for (int64_t j = 0; j < total_; ++j) {
      const double bias = bias_.template At<T>(b, h, i, j);
      all_hidden &= bias == -kInfinity;
      row_[j] += bias;
    }
    Show(2, b, h, i);
    return all_hidden;
  }

  void Show(int64_t mode, int64_t b, int64_t h, int64_t i) {
    if (!scores_out_ || mode != mode_) return;
    T* to = scores_out_ + ((b * q_.heads + h) * q_.length + i) * total_;
    for (int64_t j = 0; j < total_; ++j) to[j] = FromDouble<T>(row_[j]);
  }

  void WeighValues(int64_t b, int64_t h, int64_t i) {
    std::fill_n(sums_, v_.size, 0.0);
    const T* v = values_ + (b * v_.heads + h / group_) * total_ * v_.size;
    for (int64_t j = 0; j < total_; ++j, v += v_.size)
      for (int64_t d = 0; d < v_.size; ++d) sums_[d] += row_[j] * double(v[d]);
    T* y = out_ + y_.At(b, h, i);
    for (int64_t d = 0; d < v_.size; ++d) y[d] = FromDouble<T>(sums_[d]);
  }

  const Heads q_, k_, v_;
  const int64_t past_, total_, group_;
  const Bias bias_;
  const T *query_, *keys_, *values_;
  const Heads y_;
  T *out_, *scores_out_ = nullptr;
  double scale_, softcap_, *row_, *sums_;
  int64_t mode_ = 0;
};

}  // namespace

void AttentionReference(RefArgs& args) {
  VisitFloat(args.in[0].type, [&]<class T>() { AttentionCall<T>(args, Kind::kFull).Run(); });
}

void FlexAttentionReference(RefArgs& args) {
  VisitFloat(args.in[0].type, [&]<class T>() { AttentionCall<T>(args, Kind::kFlex).Run(); });
}

}  // namespace mete
