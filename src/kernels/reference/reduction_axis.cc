// Kernels of operators that work on one line along an axis at a time.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "kernels/reference/iterate.h"
#include "kernels/reference/number.h"
#include "kernels/reference/reduction.h"

namespace mete {
namespace {

// Splits the shape at `axis`. A scalar counts as one line of one element.
AxisSplit SplitAt(const Shape& shape, int64_t axis) {
  return shape.rank() == 0 ? AxisSplit(Shape{1}, 0) : AxisSplit(shape, WrapAxis(axis, shape.rank()));
}

// Finds the index of the best element of each line. better(a, b) says whether a replaces the earlier element
// b. A NaN replaces every number.
template <class Better>
void ChooseIndex(RefArgs& args, Better better) {
  const AxisSplit split = SplitAt(args.in[0].shape, args.attributes.Int("axis", 0));
  const bool last = args.attributes.Int("select_last_index", 0) != 0;
  int64_t* out = args.out[0].as<int64_t>();
  VisitNumeric(args.in[0].type, [&]<class T>() {
    const T* in = args.in[0].as<T>();
    split.ForEachLine([&](int64_t start) {
      int64_t best = 0;
      for (int64_t j = 1; j < split.length; ++j) {
        const Compute<T> x = in[start + j * split.inner], old = in[start + best * split.inner];
        const bool equal = x == old || (IsNotANumber(x) && IsNotANumber(old));
        if (equal ? last : !IsNotANumber(old) && (IsNotANumber(x) || better(x, old))) best = j;
      }
      *out++ = best;
    });
  });
}

// Returns whether a comes before b in a total order, in which NaN is above all numbers and equal values are
// ordered by index.
template <class T>
bool ComesFirst(Compute<T> a, Compute<T> b, int64_t index_a, int64_t index_b, bool largest) {
  const bool nan_a = IsNotANumber(a), nan_b = IsNotANumber(b);
  if (nan_a != nan_b) return nan_a == largest;
  if (!nan_a && a != b) return (a > b) == largest;
  return index_a < index_b;
}

void TopK(RefArgs& args) {
  const AxisSplit split = SplitAt(args.in[0].shape, args.attributes.Int("axis", -1));
  const View& shaped = args.wants(0) ? args.out[0] : args.out[1];
  const int64_t k = SplitAt(shaped.shape, args.attributes.Int("axis", -1)).length;
  const bool largest = args.attributes.Int("largest", 1) != 0;
  int64_t* order = args.scratch.Get<int64_t>(size_t(split.length));
  VisitNumeric(args.in[0].type, [&]<class T>() {
    const T* in = args.in[0].as<T>();
    for (int64_t line = 0; line < split.outer * split.inner; ++line) {
      const int64_t outer = line / split.inner, inner = line % split.inner;
      const T* from = in + outer * split.length * split.inner + inner;
      std::iota(order, order + split.length, int64_t(0));
      std::partial_sort(order, order + k, order + split.length, [&](int64_t a, int64_t b) {
        return ComesFirst<T>(from[a * split.inner], from[b * split.inner], a, b, largest);
      });
      for (int64_t j = 0; j < k; ++j) {
        const int64_t to = (outer * k + j) * split.inner + inner;
        if (args.wants(0)) args.out[0].as<T>()[to] = from[order[j] * split.inner];
        if (args.wants(1)) args.out[1].as<int64_t>()[to] = order[j];
      }
    }
  });
}

int64_t AxisInput(const RefArgs& args) {
  const int rank = args.in[0].shape.rank();
  const int64_t axis = args.in[1].type == DType::kI32 ? *args.in[1].as<int32_t>() : *args.in[1].as<int64_t>();
  if (axis < -rank || axis >= rank)
    Invalid("cumulative", "axis is out of range; got {}, expected {} to {}", axis, -rank, rank - 1);
  return axis;
}

// Stores the running results f(result so far, x) of each line. With the attribute `exclusive`, the result at
// an element does not include the element itself.
template <class F>
void Accumulate(RefArgs& args, int start_value, F f) {
  const AxisSplit split = SplitAt(args.in[0].shape, AxisInput(args));
  const bool exclusive = args.attributes.Int("exclusive", 0) != 0,
             reverse = args.attributes.Int("reverse", 0) != 0;
  const int64_t first = reverse ? (split.length - 1) * split.inner : 0,
                step = reverse ? -split.inner : split.inner;
  VisitNumeric(args.in[0].type, [&]<class T>() {
    const T* in = args.in[0].as<T>();
    T* out = args.out[0].as<T>();
    split.ForEachLine([&](int64_t start) {
      Wide<T> sum = Wide<T>(start_value);
      for (int64_t j = 0, at = start + first; j < split.length; ++j, at += step) {
        const Wide<T> next = f(sum, Wide<T>(Compute<T>(in[at])));
        out[at] = FromWide<T>(exclusive ? sum : next);
        sum = next;
      }
    });
  });
}

void CumSum(RefArgs& args) {
  Accumulate(args, 0, [](auto sum, auto x) { return WrapAdd(sum, x); });
}

void CumProd(RefArgs& args) {
  Accumulate(args, 1, [](auto product, auto x) { return WrapMul(product, x); });
}

// Calls f(in, out, length, step) for every line of floats.
template <class F>
void ForEachFloatLine(RefArgs& args, F f) {
  const AxisSplit split = SplitAt(args.in[0].shape, args.attributes.Int("axis", -1));
  if (split.length == 0) return;
  VisitFloat(args.in[0].type, [&]<class T>() {
    split.ForEachLine(
        [&](int64_t at) { f(args.in[0].as<T>() + at, args.out[0].as<T>() + at, split.length, split.inner); });
  });
}

template <class T>
double Greatest(const T* x, int64_t length, int64_t step) {
  double most = -INFINITY;
  for (int64_t j = 0; j < length; ++j) most = Most(most, double(x[j * step]));
  return most;
}

template <class T>
double SumOfExp(const T* x, int64_t length, int64_t step, double most) {
  double sum = 0;
  for (int64_t j = 0; j < length; ++j) sum += std::exp(double(x[j * step]) - most);
  return sum;
}

void Softmax(RefArgs& args) {
  ForEachFloatLine(args, []<class T>(const T* in, T* out, int64_t length, int64_t step) {
    const double most = Greatest(in, length, step), sum = SumOfExp(in, length, step, most);
    for (int64_t j = 0; j < length; ++j)
      out[j * step] = FromDouble<T>(std::exp(double(in[j * step]) - most) / sum);
  });
}

void LogSoftmax(RefArgs& args) {
  ForEachFloatLine(args, []<class T>(const T* in, T* out, int64_t length, int64_t step) {
    const double most = Greatest(in, length, step), log_sum = std::log(SumOfExp(in, length, step, most));
    for (int64_t j = 0; j < length; ++j) out[j * step] = FromDouble<T>(double(in[j * step]) - most - log_sum);
  });
}

void Hardmax(RefArgs& args) {
  ForEachFloatLine(args, []<class T>(const T* in, T* out, int64_t length, int64_t step) {
    int64_t best = 0;
    for (int64_t j = 1; j < length; ++j)
      if (float(in[j * step]) > float(in[best * step])) best = j;
    for (int64_t j = 0; j < length; ++j) out[j * step] = T(j == best ? 1.f : 0.f);
  });
}

constexpr RefEntry kReductionAxisEntries[] = {
    {"ArgMax", [](RefArgs& args) { ChooseIndex(args, [](auto a, auto b) { return a > b; }); }},
    {"ArgMin", [](RefArgs& args) { ChooseIndex(args, [](auto a, auto b) { return a < b; }); }},
    {"CumProd", CumProd},
    {"CumSum", CumSum},
    {"Hardmax", Hardmax},
    {"LogSoftmax", LogSoftmax},
    {"Softmax", Softmax},
    {"TopK", TopK},
};

}  // namespace

std::span<const RefEntry> AlongAxisReferences() { return kReductionAxisEntries; }

}  // namespace mete
