// The kernel of Unique, which finds the distinct elements, or the distinct slices along an axis.
#include "kernels/reference/index_kernels.h"
#include "kernels/reference/indexing.h"
#include "kernels/reference/number.h"

namespace mete {
namespace {

// Returns a number below, equal to or above zero if slice a is below, equal to or above slice b. NaN is above
// all numbers and equals itself.
using Compare = int (*)(const void* data, const AxisSplit& split, int64_t a, int64_t b);

template <class T>
int CompareElements(T a, T b) {
  if (a < b) return -1;
  if (b < a) return 1;
  return int(IsNotANumber(a)) - int(IsNotANumber(b));
}

template <class T>
int CompareSlices(const void* data, const AxisSplit& split, int64_t a, int64_t b) {
  const T* from = static_cast<const T*>(data);
  for (int64_t o = 0; o < split.outer; ++o)
    for (int64_t i = 0; i < split.inner; ++i) {
      const T* row = from + o * split.length * split.inner + i;
      if (const int order = CompareElements<Compute<T>>(row[a * split.inner], row[b * split.inner]))
        return order;
    }
  return 0;
}

// Slices grouped by equality. `first` holds the first slice of each group, in the order of the output.
struct Groups {
  int64_t *first, *counts, *group_of_slice;
  int64_t count = 0;
};

// Sorts the slices (equal slices by position) and divides the sorted slices into groups.
Groups GroupSorted(const ConstView& data, const AxisSplit& split, Scratch& scratch) {
  const size_t n = size_t(split.length);
  Groups g{scratch.Get<int64_t>(n), scratch.Get<int64_t>(n), scratch.Get<int64_t>(n)};
  int64_t* order = scratch.Get<int64_t>(n);
  for (size_t i = 0; i < n; ++i) order[i] = int64_t(i);
  const Compare compare = VisitElement(data.type, []<class T>() -> Compare { return CompareSlices<T>; });
  std::sort(order, order + n, [&](int64_t a, int64_t b) {
    const int c = compare(data.data, split, a, b);
    return c != 0 ? c < 0 : a < b;
  });
  for (size_t i = 0; i < n; ++i) {
    if (i == 0 || compare(data.data, split, order[i - 1], order[i]) != 0) {
      g.first[g.count] = order[i];
      g.counts[g.count++] = 0;
    }
    ++g.counts[g.count - 1];
    g.group_of_slice[order[i]] = g.count - 1;
  }
  return g;
}

// Reorders groups that are sorted by value so that they are sorted by first appearance.
void SortByAppearance(Groups& g, int64_t slices, Scratch& scratch) {
  int64_t* order = scratch.Get<int64_t>(size_t(g.count));
  for (int64_t i = 0; i < g.count; ++i) order[i] = i;
  std::sort(order, order + g.count, [&](int64_t a, int64_t b) { return g.first[a] < g.first[b]; });
  Groups out{scratch.Get<int64_t>(size_t(g.count)), scratch.Get<int64_t>(size_t(g.count)), g.group_of_slice,
             g.count};
  int64_t* rank = scratch.Get<int64_t>(size_t(g.count));
  for (int64_t i = 0; i < g.count; ++i) {
    out.first[i] = g.first[order[i]];
    out.counts[i] = g.counts[order[i]];
    rank[order[i]] = i;
  }
  for (int64_t i = 0; i < slices; ++i) out.group_of_slice[i] = rank[out.group_of_slice[i]];
  g = out;
}

void Give(RefArgs& args, size_t output, const int64_t* values, int64_t count) {
  if (output >= args.out.size()) return;
  args.allocate(output, DType::kI64, {count});
  if (args.wants(output)) CopyBytes(args.out[output].data, values, size_t(count) * sizeof(int64_t));
}

}  // namespace

void RunUnique(RefArgs& args) {
  const ConstView& data = args.in[0];
  const bool flat = !args.attributes.Has("axis");
  const int axis = flat ? 0 : WrapAxis(args.attributes.Int("axis", 0), data.shape.rank());
  const Shape in = flat ? Shape{data.elements()} : data.shape;
  const AxisSplit split(in, axis);
  Groups groups = GroupSorted(data, split, args.scratch);
  if (args.attributes.Int("sorted", 1) == 0) SortByAppearance(groups, split.length, args.scratch);

  Shape out = in;
  out[axis] = groups.count;
  args.allocate(0, data.type, out);
  if (args.wants(0)) {
    AxisMap map(in, out, args.scratch);
    map.Set(axis, [&](int64_t i) { return groups.first[i]; });
    map.Copy(data, args.out[0]);
  }
  Give(args, 1, groups.first, groups.count);
  Give(args, 2, groups.group_of_slice, split.length);
  Give(args, 3, groups.counts, groups.count);
}

}  // namespace mete
