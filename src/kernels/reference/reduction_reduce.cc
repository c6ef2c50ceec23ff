// Kernels of ReduceSum and the other Reduce operators. Floats are accumulated in double, integers modulo
// 2^64.
#include <cmath>
#include <limits>

#include "kernels/reference/iterate.h"
#include "kernels/reference/number.h"
#include "kernels/reference/reduction.h"

namespace mete {
namespace {

AxisMask ReducedAxes(const RefArgs& args) {
  const int rank = args.in[0].shape.rank();
  AxisMask mask{};
  const int64_t count = args.has(1) ? args.in[1].elements() : 0;
  if (count == 0) {
    if (args.attributes.Int("noop_with_empty_axes", 0) == 0) mask.fill(true);
    return mask;
  }
  VisitInt(args.in[1].type, [&]<class T>() {
    for (int64_t i = 0; i < count; ++i) mask[size_t(WrapAxis(int64_t(args.in[1].as<T>()[i]), rank))] = true;
  });
  return mask;
}

// The elements that are reduced to one output element.
template <class T>
class Group {
 public:
  Group(const T* start, const PartedShape& parted) : start_(start), parted_(parted) {}
  int64_t size() const { return parted_.reduced.Elements(); }

  // Calls f(x) for every element in row-major order, with x converted to Compute<T>.
  template <class F>
  void Each(F&& f) const {
    ForEach<1>(parted_.reduced, {parted_.reduced_steps},
               [&](const auto& at) { f(Compute<T>(start_[at[0]])); });
  }

  // Returns f(...f(f(start, x0), x1)...) over all elements, in Wide<T>.
  template <class F>
  Wide<T> Fold(Wide<T> start, F&& f) const {
    Each([&](auto x) { start = f(start, Wide<T>(x)); });
    return start;
  }

  Wide<T> Sum() const {
    return Fold(0, [](auto sum, auto x) { return WrapAdd(sum, x); });
  }
  Wide<T> SumSquare() const {
    return Fold(0, [](auto sum, auto x) { return WrapAdd(sum, WrapMul(x, x)); });
  }

 private:
  const T* start_;
  const PartedShape& parted_;
};

template <class In, class F>
void ReduceGroups(RefArgs& args, F f) {
  const PartedShape parted(args.in[0].shape, ReducedAxes(args));
  const In* in = args.in[0].as<In>();
  In* out = args.out[0].as<In>();
  ForEach<1>(parted.kept, {parted.kept_steps},
             [&](const auto& at) { *out++ = f(Group<In>(in + at[0], parted)); });
}

// Stores f(group) for every output element; f returns Wide<T>.
template <class F>
void ReduceWide(RefArgs& args, F f) {
  VisitNumeric(args.in[0].type, [&]<class T>() {
    ReduceGroups<T>(args, [&](const Group<T>& group) { return FromWide<T>(f(group)); });
  });
}

// Stores f(group) for every output element; f returns double, also for integers.
template <class F>
void ReduceDouble(RefArgs& args, F f) {
  VisitNumeric(args.in[0].type, [&]<class T>() {
    ReduceGroups<T>(args, [&](const Group<T>& group) { return FromDouble<T>(f(group)); });
  });
}

void ReduceMean(RefArgs& args) {
  ReduceWide(args, []<class T>(const Group<T>& group) -> Wide<T> {
    if constexpr (!kIsFloat<T>)
      if (group.size() == 0) return 0;
    return group.Sum() / Wide<T>(group.size());
  });
}

void ReduceL1(RefArgs& args) {
  ReduceWide(args, []<class T>(const Group<T>& group) {
    return group.Fold(0, [](auto sum, auto x) {
      if constexpr (kIsFloat<T>) return sum + std::abs(x);
      else return x < 0 ? WrapSub(sum, x) : WrapAdd(sum, x);
    });
  });
}

// Returns the logarithm of the sum of exponentials. The largest element is subtracted first, so that no
// exponential overflows.
template <class T>
double LogSumExp(const Group<T>& group) {
  double most = -INFINITY, sum = 0;
  group.Each([&](auto x) { most = Most(most, double(x)); });
  if (!std::isfinite(most)) return most;
  group.Each([&](auto x) { sum += std::exp(double(x) - most); });
  return most + std::log(sum);
}

// Lowest() is the maximum of no elements, and Highest() is the minimum of no elements.
template <class T>
Compute<T> Lowest() {
  if constexpr (std::is_same_v<T, BoolByte>) return false;
  else if constexpr (kIsFloat<T>) return -std::numeric_limits<Compute<T>>::infinity();
  else return std::numeric_limits<T>::lowest();
}

template <class T>
Compute<T> Highest() {
  if constexpr (std::is_same_v<T, BoolByte>) return true;
  else if constexpr (kIsFloat<T>) return std::numeric_limits<Compute<T>>::infinity();
  else return std::numeric_limits<T>::max();
}

void ReduceMax(RefArgs& args) {
  VisitElement(args.in[0].type, [&]<class T>() {
    ReduceGroups<T>(args, [](const Group<T>& group) {
      Compute<T> most = Lowest<T>();
      group.Each([&](Compute<T> x) { most = Most(most, x); });
      return T(most);
    });
  });
}

void ReduceMin(RefArgs& args) {
  VisitElement(args.in[0].type, [&]<class T>() {
    ReduceGroups<T>(args, [](const Group<T>& group) {
      Compute<T> least = Highest<T>();
      group.Each([&](Compute<T> x) { least = Least(least, x); });
      return T(least);
    });
  });
}

constexpr RefEntry kReductionReduceEntries[] = {
    {"ReduceL1", ReduceL1},
    {"ReduceL2",
     [](RefArgs& args) {
       ReduceDouble(args, [](const auto& group) { return std::sqrt(double(group.SumSquare())); });
     }},
    {"ReduceLogSum",
     [](RefArgs& args) {
       ReduceDouble(args, [](const auto& group) { return std::log(double(group.Sum())); });
     }},
    {"ReduceLogSumExp",
     [](RefArgs& args) { ReduceDouble(args, [](const auto& group) { return LogSumExp(group); }); }},
    {"ReduceMax", ReduceMax},
    {"ReduceMean", ReduceMean},
    {"ReduceMin", ReduceMin},
    {"ReduceProd",
     [](RefArgs& args) {
       ReduceWide(args, [](const auto& group) {
         return group.Fold(1, [](auto product, auto x) { return WrapMul(product, x); });
       });
     }},
    {"ReduceSum", [](RefArgs& args) { ReduceWide(args, [](const auto& group) { return group.Sum(); }); }},
    {"ReduceSumSquare",
     [](RefArgs& args) { ReduceWide(args, [](const auto& group) { return group.SumSquare(); }); }},
};

}  // namespace

std::span<const RefEntry> ReduceReferences() { return kReductionReduceEntries; }

}  // namespace mete
