// The kernel of Resize, which works on one axis at a time: nearest is a copy, linear and cubic are weighted
// sums of rows.
#include <cmath>

#include "base/resize.h"
#include "kernels/reference/image_kernels.h"
#include "kernels/reference/indexing.h"
#include "kernels/reference/number.h"

namespace mete {
namespace {

struct AxisResize : ResizedAxis {
  int axis = 0;
};

using AxisList = std::array<AxisResize, Shape::kMaxRank>;

double CommonScale(const RefArgs& args, const AxisList& axes, int count, bool least) {
  double scale = least ? INFINITY : 0;
  for (int i = 0; i < count; ++i) {
    const double own = double(IndexReader(args.in[3])[i]) / double(axes[size_t(i)].in);
    scale = least ? std::min(scale, own) : std::max(scale, own);
  }
  return scale;
}

int ReadAxes(const RefArgs& args, AxisList& axes) {
  const Shape &in = args.in[0].shape, &out = args.out[0].shape;
  const Ints& named = args.attributes.IntList("axes");
  const int count = args.attributes.Has("axes") ? int(named.size()) : in.rank();
  const bool crops =
      args.attributes.String("coordinate_transformation_mode", "half_pixel") == "tf_crop_and_resize";
  const bool scaled = args.has(2) && args.in[2].elements() > 0;
  double roi[2 * Shape::kMaxRank];
  if (crops) ReadDoubles(args.in[1], roi);
  for (int i = 0; i < count; ++i) {
    const int axis = named.empty() ? i : WrapAxis(named[size_t(i)], in.rank());
    const double scale = in[axis] == 0 ? 1 : double(out[axis]) / double(in[axis]);
    AxisResize& a = axes[size_t(i)] = {{in[axis], out[axis], scale}, axis};
    if (scaled) a.scale = args.in[2].as<float>()[i];
    if (crops) {
      a.roi_start = roi[i];
      a.roi_end = roi[count + i];
      a.crops = true;
    }
  }
  const auto policy = args.attributes.String("keep_aspect_ratio_policy", "stretch");
  if (!scaled && policy != "stretch" && count > 0) {
    const double common = CommonScale(args, axes, count, policy == "not_larger");
    for (int i = 0; i < count; ++i) axes[size_t(i)].scale = common;
  }
  return count;
}

// --- nearest ---

int64_t NearestPixel(double x, std::string_view mode, int64_t n) {
  return std::isnan(x) ? AxisMap::kNone : NearestResizePixel(x, mode, n);
}

void RunNearest(RefArgs& args, const AxisList& axes, int count) {
  const auto coordinates = args.attributes.String("coordinate_transformation_mode", "half_pixel");
  const auto nearest = args.attributes.String("nearest_mode", "round_prefer_floor");
  AxisMap map(args.in[0].shape, args.out[0].shape, args.scratch);
  for (int i = 0; i < count; ++i) {
    const AxisResize& a = axes[size_t(i)];
    if (!a.identity())
      map.Set(a.axis,
              [&](int64_t y) { return NearestPixel(ResizeCoordinate(a, coordinates, y), nearest, a.in); });
  }
  const double value = args.attributes.Float("extrapolation_value", 0);
  VisitElement(args.in[0].type, [&]<class T>() {
    const T fill = FromDouble<T>(value);
    map.Copy(args.in[0], args.out[0], &fill);
  });
}

// --- linear and cubic ---

struct Filter {
  bool cubic, antialias, exclude_outside;
  double a;  // coefficient of the cubic filter
  std::string_view mode;
  double outside;  // the extrapolation value

  explicit Filter(const Attributes& attributes)
      : cubic(attributes.String("mode", "nearest") == "cubic"),
        antialias(attributes.Int("antialias", 0) != 0),
        exclude_outside(attributes.Int("exclude_outside", 0) != 0),
        a(attributes.Float("cubic_coeff_a", -0.75f)),
        mode(attributes.String("coordinate_transformation_mode", "half_pixel")),
        outside(attributes.Float("extrapolation_value", 0)) {}

  double operator()(double x) const {
    x = std::abs(x);
    if (!cubic) return std::max(0.0, 1 - x);
    if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
    return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
  }
};

// The weights of a resize along one axis. Output row i is the sum of `taps` input rows from first[i] on,
// weighted by weights[i * taps], weights[i * taps + 1], ... Input rows outside the input are clamped to it. A
// NaN weight marks an output row of extrapolation values.
template <class W>
struct Rows {
  int64_t taps;
  int64_t* first;
  W* weights;
};

template <class W>
void SetWeights(const Filter& filter, const AxisResize& a, double x, int64_t taps, int64_t* first,
                W* weights) {
  const double stretch = filter.antialias ? std::min(a.scale, 1.0) : 1;
  *first = WholePixel(x) + 1 - taps / 2;
  double sum = 0;
  for (int64_t k = 0; k < taps; ++k) {
    const int64_t at = *first + k;
    const bool drop = filter.exclude_outside && (at < 0 || at >= a.in);
    const double w = drop ? 0 : filter((double(at) - x) * stretch);
    weights[k] = W(w);
    sum += w;
  }
  if ((filter.antialias || filter.exclude_outside) && sum != 0)
    for (int64_t k = 0; k < taps; ++k) weights[k] = W(double(weights[k]) / sum);
}

template <class W>
Rows<W> MakeRows(const Filter& filter, const AxisResize& a, Scratch& scratch) {
  const double reach = filter.cubic ? 2 : 1;  // of the filter before it is stretched, in input pixels
  const double stretch = filter.antialias ? std::min(a.scale, 1.0) : 1;
  Rows<W> rows{-2 * int64_t(std::floor(-reach / stretch)), nullptr, nullptr};
  rows.first = scratch.Get<int64_t>(size_t(a.out));
  rows.weights = scratch.Get<W>(size_t(a.out * rows.taps));
  for (int64_t i = 0; i < a.out; ++i) {
    const double x = ResizeCoordinate(a, filter.mode, i);
    if (std::isnan(x)) rows.weights[i * rows.taps] = W(NAN);
    else SetWeights(filter, a, x, rows.taps, rows.first + i, rows.weights + i * rows.taps);
  }
  return rows;
}

template <class W>
void ResizeAxis(const Filter& filter, const AxisResize& a, const Shape& shape, const W* in, W* out,
                Scratch& scratch) {
  const Rows<W> rows = MakeRows<W>(filter, a, scratch);
  const AxisSplit split(shape, a.axis);
  for (int64_t o = 0; o < split.outer; ++o, in += a.in * split.inner)
    for (int64_t i = 0; i < a.out; ++i, out += split.inner) {
      const W* weights = rows.weights + i * rows.taps;
      const bool outside = std::isnan(weights[0]);
      std::fill_n(out, split.inner, outside ? W(filter.outside) : W(0));
      for (int64_t k = 0; k < rows.taps && !outside; ++k) {
        const W* row = in + std::clamp<int64_t>(rows.first[i] + k, 0, a.in - 1) * split.inner;
        for (int64_t j = 0; j < split.inner; ++j) out[j] += weights[k] * row[j];
      }
    }
}

// Removes axes that do not change, and sorts the others so that those that shrink most come first. No
// intermediate tensor is then larger than both the input and the output. Returns the number of axes that are
// left.
int SortActive(AxisList& axes, int count) {
  const auto end =
      std::remove_if(axes.begin(), axes.begin() + count, [](const AxisResize& a) { return a.identity(); });
  const auto before = [](const AxisResize& a, const AxisResize& b) {
    return double(a.out) / double(a.in) < double(b.out) / double(b.in);
  };
  // This is an insertion sort, because GCC 12 for Arm warns that std::sort writes beyond the array.
  for (auto axis = axes.begin(); axis != end; ++axis)
    std::rotate(std::upper_bound(axes.begin(), axis, *axis, before), axis, axis + 1);
  return int(end - axes.begin());
}

// Resizes all axes. Returns the memory of the result: `out`, or scratch memory if `out` is null.
template <class W>
const W* ResizeAll(const Filter& filter, const AxisList& axes, int count, Shape shape, const W* in, W* out,
                   Scratch& scratch) {
  for (int i = 0; i < count; ++i) {
    const AxisResize& a = axes[size_t(i)];
    Shape next = shape;
    next[a.axis] = a.out;
    W* to = out && i == count - 1 ? out : scratch.Get<W>(size_t(next.Elements()));
    ResizeAxis(filter, a, shape, in, to, scratch);
    in = to;
    shape = next;
  }
  return in;
}

template <class T>
void RunWeighted(RefArgs& args, const AxisList& axes, int count) {
  using W = std::conditional_t<kIsFloat<T> ? sizeof(T) <= 4 : sizeof(T) <= 2, float, double>;
  const Filter filter(args.attributes);
  const ConstView& in = args.in[0];
  const View& out = args.out[0];
  if constexpr (std::is_same_v<T, W>) {
    ResizeAll<W>(filter, axes, count, in.shape, in.as<W>(), out.as<W>(), args.scratch);
  } else {
    W* wide = args.scratch.Get<W>(size_t(in.elements()));
    for (int64_t i = 0, n = in.elements(); i < n; ++i) wide[i] = W(in.as<T>()[i]);
    const W* made = ResizeAll<W>(filter, axes, count, in.shape, wide, nullptr, args.scratch);
    for (int64_t i = 0, n = out.elements(); i < n; ++i)
      out.as<T>()[i] = FromDouble<T>(kIsFloat<T> ? double(made[i]) : std::nearbyint(double(made[i])));
  }
}

}  // namespace

void RunResize(RefArgs& args) {
  if (args.out[0].elements() == 0) return;
  AxisList axes;
  int count = ReadAxes(args, axes);
  if (args.attributes.String("mode", "nearest") == "nearest") return RunNearest(args, axes, count);
  count = SortActive(axes, count);
  if (count == 0) return CopyBytes(args.out[0].data, args.in[0].data, args.in[0].bytes());
  VisitNumeric(args.in[0].type, [&]<class T>() { RunWeighted<T>(args, axes, count); });
}

}  // namespace mete
