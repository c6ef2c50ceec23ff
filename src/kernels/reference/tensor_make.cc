// Kernels of operators that make new elements: from a shape, from a range, or from the positions where a
// tensor is not zero.
#include "kernels/reference/indexing.h"
#include "kernels/reference/number.h"
#include "kernels/reference/tensor_kernels.h"

namespace mete {
namespace {

double ScalarOf(const ConstView& v) {
  double value = 0;
  ReadDoubles(v, &value);
  return value;
}

template <class T>
void FillRange(const ConstView& start, const ConstView& delta, const View& out) {
  T* to = out.as<T>();
  const int64_t n = out.elements();
  if constexpr (kIsFloat<T>) {
    const double first = ScalarOf(start), step = ScalarOf(delta);
    for (int64_t i = 0; i < n; ++i) to[i] = FromDouble<T>(first + double(i) * step);
  } else {
    const uint64_t first = uint64_t(*start.as<T>()), step = uint64_t(*delta.as<T>());
    for (int64_t i = 0; i < n; ++i) to[i] = T(first + uint64_t(i) * step);
  }
}

// Sets one byte for each element: 1 if the element is not zero, otherwise 0.
void MarkNonZero(const ConstView& v, uint8_t* marks) {
  VisitElement(v.type, [&]<class T>() {
    const T* from = v.as<T>();
    for (int64_t i = 0, n = v.elements(); i < n; ++i) marks[i] = from[i] != T(0);
  });
}

}  // namespace

void RunShape(RefArgs& args) {
  const Shape& in = args.in[0].shape;
  const int64_t start = args.attributes.Int("start", 0);
  const int64_t first = std::clamp<int64_t>(start < 0 ? start + in.rank() : start, 0, in.rank());
  for (int64_t i = 0, n = args.out[0].elements(); i < n; ++i)
    args.out[0].as<int64_t>()[i] = in[int(first + i)];
}

void RunSize(RefArgs& args) { *args.out[0].as<int64_t>() = args.in[0].elements(); }

void RunRange(RefArgs& args) {
  VisitNumeric(args.in[0].type, [&]<class T>() { FillRange<T>(args.in[0], args.in[2], args.out[0]); });
}

void RunConstantOfShape(RefArgs& args) {
  const Tensor* value = args.attributes.TensorOf("value");
  VisitSize(args.out[0].type, [&]<class T>() {
    std::fill_n(args.out[0].as<T>(), args.out[0].elements(), value ? *value->as<T>() : T(0));
  });
}

void RunConstant(RefArgs& args) {
  const Tensor* value = args.attributes.TensorOf("value");
  CopyBytes(args.out[0].data, value->data(), value->bytes());
}

void RunEyeLike(RefArgs& args) {
  const View& out = args.out[0];
  if (out.elements() == 0) return;
  const int64_t rows = out.shape[0], columns = out.shape[1];
  const int64_t k = std::clamp(args.attributes.Int("k", 0), -rows, columns);
  VisitElement(out.type, [&]<class T>() {
    T* to = out.as<T>();
    std::fill_n(to, out.elements(), FromDouble<T>(0));
    for (int64_t r = std::max<int64_t>(0, -k); r < rows && r + k < columns; ++r)
      to[r * columns + r + k] = FromDouble<T>(1);
  });
}

void RunOneHot(RefArgs& args) {
  const View& out = args.out[0];
  if (out.elements() == 0) return;
  const AxisSplit split(out.shape, WrapAxis(args.attributes.Int("axis", -1), out.shape.rank()));
  double* indices = args.scratch.Get<double>(size_t(args.in[0].elements()));
  ReadDoubles(args.in[0], indices);
  VisitSize(out.type, [&]<class T>() {
    const T *values = args.in[2].as<T>(), off = values[0], on = values[1];
    T* to = out.as<T>();
    std::fill_n(to, out.elements(), off);
    const double depth = double(split.length);
    split.ForEachLine([&](int64_t line) {
      const double index = *indices++;
      if (!(index >= -depth && index < depth)) return;
      const int64_t whole = int64_t(index);  // truncated first, because -1e-20 + depth would round to depth
      to[line + (whole < 0 ? whole + split.length : whole) * split.inner] = on;
    });
  });
}

void RunNonZero(RefArgs& args) {
  const ConstView& in = args.in[0];
  const int64_t elements = in.elements();
  uint8_t* marks = args.scratch.Get<uint8_t>(size_t(elements));
  MarkNonZero(in, marks);
  const int64_t found = std::count(marks, marks + elements, uint8_t(1));
  args.allocate(0, DType::kI64, {in.shape.rank(), found});
  if (!args.wants(0)) return;
  int64_t* to = args.out[0].as<int64_t>();
  for (int64_t i = 0, k = 0; i < elements; ++i) {
    if (!marks[i]) continue;
    int64_t rest = i;
    for (int d = in.shape.rank() - 1; d >= 0; --d) {
      to[d * found + k] = rest % in.shape[d];
      rest /= in.shape[d];
    }
    ++k;
  }
}

}  // namespace mete
