// Kernels of operators that place elements by index into a copy of a tensor, or combine them with its
// elements.
#include "kernels/reference/index_kernels.h"
#include "kernels/reference/indexing.h"
#include "kernels/reference/number.h"

namespace mete {
namespace {

// Combines `count` elements at `from` with the elements at `to`, which receive the results.
using Combine = void (*)(void* to, const void* from, int64_t count);

template <class T, class F>
void CombineEach(void* to, const void* from, int64_t count, F f) {
  using C = Compute<T>;
  T* a = static_cast<T*>(to);
  const T* b = static_cast<const T*>(from);
  for (int64_t i = 0; i < count; ++i) a[i] = T(f(C(a[i]), C(b[i])));
}

template <class T>
Combine CombineOf(std::string_view reduction) {
  using C = Compute<T>;
  if (reduction == "add")
    return [](void* to, const void* from, int64_t n) { CombineEach<T>(to, from, n, WrapAdd<C>); };
  if (reduction == "mul")
    return [](void* to, const void* from, int64_t n) { CombineEach<T>(to, from, n, WrapMul<C>); };
  if (reduction == "min")
    return [](void* to, const void* from, int64_t n) { CombineEach<T>(to, from, n, Least<C>); };
  return [](void* to, const void* from, int64_t n) { CombineEach<T>(to, from, n, Most<C>); };
}

Combine CombineFor(DType type, std::string_view reduction) {
  if (reduction == "none")
    return VisitSize(type, []<class T>() -> Combine {
      return [](void* to, const void* from, int64_t n) { CopyBytes(to, from, size_t(n) * sizeof(T)); };
    });
  return VisitNumeric(type, [&]<class T>() { return CombineOf<T>(reduction); });
}

// The image and the blocks of Col2Im along one dimension: their sizes, and the number of blocks.
struct Spatial {
  int64_t image, block, blocks, stride, dilation, pad;
};

int64_t At(const Ints& list, size_t i, int64_t fallback) { return list.empty() ? fallback : list[i]; }

Spatial SpatialOf(const RefArgs& args, size_t i, size_t rank) {
  const Ints& pads = args.attributes.IntList("pads");
  Spatial s{.image = IndexReader(args.in[1])[int64_t(i)], .block = IndexReader(args.in[2])[int64_t(i)]};
  s.stride = At(args.attributes.IntList("strides"), i, 1);
  s.dilation = At(args.attributes.IntList("dilations"), i, 1);
  s.pad = At(pads, i, 0);
  s.blocks = (s.image + s.pad + At(pads, rank + i, 0) - s.dilation * (s.block - 1) - 1) / s.stride + 1;
  return s;
}

// Returns the image element to which Col2Im adds element `element` of block `column`, or -1 if it is in the
// padding.
int64_t ImageOffset(std::span<const Spatial> dims, int64_t element, int64_t column) {
  int64_t offset = 0, step = 1;
  for (size_t d = dims.size(); d-- > 0;) {
    const Spatial& s = dims[d];
    const int64_t at = column % s.blocks * s.stride - s.pad + element % s.block * s.dilation;
    if (at < 0 || at >= s.image) return -1;
    offset += at * step;
    step *= s.image;
    column /= s.blocks;
    element /= s.block;
  }
  return offset;
}

}  // namespace

void RunScatterND(RefArgs& args) {
  const ConstView &data = args.in[0], &indices = args.in[1], &updates = args.in[2];
  CopyBytes(args.out[0].data, data.data, data.bytes());
  const int length = int(indices.shape.back());
  const int64_t tuples = indices.shape.Elements(0, indices.shape.rank() - 1),
                size = int64_t(SizeOf(data.type));
  const int64_t inner = data.shape.Elements(length, data.shape.rank());
  const Steps steps = RowMajorSteps(data.shape);
  const IndexReader index(indices);
  const Combine combine = CombineFor(data.type, args.attributes.String("reduction", "none"));
  for (int64_t i = 0; i < tuples; ++i) {
    int64_t to = 0;
    for (int k = 0; k < length; ++k)
      to += CheckIndex("ScatterND", index[i * length + k], data.shape[k]) * steps[size_t(k)];
    if (inner > 0)
      combine(args.out[0].as<std::byte>() + to * size, updates.as<std::byte>() + i * inner * size, inner);
  }
}

void RunScatterElements(RefArgs& args) {
  const ConstView &data = args.in[0], &indices = args.in[1], &updates = args.in[2];
  CopyBytes(args.out[0].data, data.data, data.bytes());
  const int axis = WrapAxis(args.attributes.Int("axis", 0), data.shape.rank());
  Steps steps = RowMajorSteps(data.shape);
  const int64_t axis_step = steps[size_t(axis)], dim = data.shape[axis], size = int64_t(SizeOf(data.type));
  steps[size_t(axis)] = 0;
  const IndexReader index(indices);
  const Combine combine = CombineFor(data.type, args.attributes.String("reduction", "none"));
  ForEach<2>(indices.shape, {steps, RowMajorSteps(indices.shape)}, [&](const std::array<int64_t, 2>& at) {
    const int64_t to = at[0] + CheckIndex("ScatterElements", index[at[1]], dim) * axis_step;
    combine(args.out[0].as<std::byte>() + to * size, updates.as<std::byte>() + at[1] * size, 1);
  });
}

void RunTensorScatter(RefArgs& args) {
  const ConstView &cache = args.in[0], &update = args.in[1];
  CopyBytes(args.out[0].data, cache.data, cache.bytes());
  if (update.elements() == 0) return;
  const int axis = WrapAxis(args.attributes.Int("axis", -2), cache.shape.rank());
  const bool circular = args.attributes.String("mode", "linear") == "circular";
  const AxisSplit to(cache.shape, axis), from(update.shape, axis);
  const int64_t bytes = to.inner * int64_t(SizeOf(cache.type)), per_batch = to.outer / cache.shape[0];
  for (int64_t o = 0; o < to.outer; ++o) {
    const int64_t first = args.has(2) ? IndexReader(args.in[2])[o / per_batch] : 0,
                  most = circular ? INT32_MAX : to.length - from.length;
    if (first < 0 || first > most)
      Fail(Code::kOutOfRange, "TensorScatter", "write index is out of range; got {}, expected 0 to {}", first,
           most);
    for (int64_t i = 0; i < from.length; ++i)
      CopyBytes(args.out[0].as<std::byte>() + (o * to.length + (first + i) % to.length) * bytes,
                update.as<std::byte>() + (o * from.length + i) * bytes, size_t(bytes));
  }
}

void RunCol2Im(RefArgs& args) {
  const ConstView& in = args.in[0];
  const View& out = args.out[0];
  const size_t rank = size_t(args.in[1].elements());
  std::array<Spatial, Shape::kMaxRank> all;
  for (size_t i = 0; i < rank; ++i) all[i] = SpatialOf(args, i, rank);
  const std::span<const Spatial> dims(all.data(), rank);
  const int64_t image = out.shape.Elements(2, out.shape.rank()), columns = in.shape[2];
  if (out.elements() == 0) return;
  const int64_t block = in.shape[1] / out.shape[1];
  VisitNumeric(in.type, [&]<class T>() {
    using C = Compute<T>;
    const T* from = in.as<T>();
    T* to = out.as<T>();
    std::fill_n(to, out.elements(), T(0));
    for (int64_t plane = 0, n = out.shape[0] * out.shape[1]; plane < n; ++plane, to += image)
      for (int64_t element = 0; element < block; ++element)
        for (int64_t column = 0; column < columns; ++column, ++from)
          if (const int64_t at = ImageOffset(dims, element, column); at >= 0)
            to[at] = T(WrapAdd<C>(C(to[at]), C(*from)));
  });
}

}  // namespace mete
