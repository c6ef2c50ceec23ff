// Kernels of operators that give the same elements another shape: reshape, transpose, concatenate, split,
// repeat.
#include "kernels/reference/indexing.h"
#include "kernels/reference/tensor_kernels.h"

namespace mete {
namespace {

void CopyAll(RefArgs& args) { CopyBytes(args.out[0].data, args.in[0].data, args.in[0].bytes()); }

void RunTranspose(RefArgs& args) {
  const Shape& in = args.in[0].shape;
  const Ints& perm = args.attributes.IntList("perm");
  std::array<int, Shape::kMaxRank> order{};
  for (int i = 0; i < in.rank(); ++i)
    order[size_t(i)] = perm.empty() ? in.rank() - 1 - i : WrapAxis(perm[size_t(i)], in.rank());
  const Shape& out = args.out[0].shape;
  CopyWalk(args.in[0].type, out, args.in[0].data, PermutedSteps(in, order), args.out[0].data,
           RowMajorSteps(out));
}

void RunExpand(RefArgs& args) {
  const Shape& out = args.out[0].shape;
  CopyWalk(args.in[0].type, out, args.in[0].data, BroadcastSteps(args.in[0].shape, out), args.out[0].data,
           RowMajorSteps(out));
}

// Copies a part of a tensor into the whole tensor, or back. Along dimension `axis` the part begins at index
// `start` of the whole.
struct PartOfAxis {
  int64_t outer, part_bytes, whole_bytes, offset_bytes;

  PartOfAxis(const Shape& whole, const Shape& part, int axis, int64_t start, DType type) {
    const AxisSplit w(whole, axis), p(part, axis);
    const int64_t size = int64_t(SizeOf(type));
    outer = p.outer;
    part_bytes = p.length * p.inner * size;
    whole_bytes = w.length * w.inner * size;
    offset_bytes = start * w.inner * size;
  }

  void Join(const void* part, void* whole) const {
    if (part_bytes == 0) return;
    for (int64_t o = 0; o < outer; ++o)
      CopyBytes(static_cast<std::byte*>(whole) + o * whole_bytes + offset_bytes,
                static_cast<const std::byte*>(part) + o * part_bytes, size_t(part_bytes));
  }

  void Cut(const void* whole, void* part) const {
    if (part_bytes == 0) return;
    for (int64_t o = 0; o < outer; ++o)
      CopyBytes(static_cast<std::byte*>(part) + o * part_bytes,
                static_cast<const std::byte*>(whole) + o * whole_bytes + offset_bytes, size_t(part_bytes));
  }
};

void RunConcat(RefArgs& args) {
  const View& out = args.out[0];
  const int axis = WrapAxis(args.attributes.Int("axis", 0), out.shape.rank());
  int64_t start = 0;
  for (const ConstView& in : args.in) {
    if (out.elements() > 0) PartOfAxis(out.shape, in.shape, axis, start, in.type).Join(in.data, out.data);
    start += in.shape[axis];
  }
}

void RunSplit(RefArgs& args) {
  const ConstView& in = args.in[0];
  const int axis = WrapAxis(args.attributes.Int("axis", 0), in.shape.rank());
  const int64_t dim = in.shape[axis], parts = int64_t(args.out.size()),
                equal = dim / parts + (dim % parts != 0);
  int64_t start = 0;
  for (int64_t i = 0; i < parts; ++i) {
    // The size does not come from the output's shape, because an output that is left out has none.
    const int64_t size = args.has(1) ? IndexReader(args.in[1])[i] : equal;
    const View& out = args.out[size_t(i)];
    if (args.wants(size_t(i)) && in.elements() > 0)
      PartOfAxis(in.shape, out.shape, axis, start, in.type).Cut(in.data, out.data);
    start += size;
  }
}

void RunTrilu(RefArgs& args) {
  const ConstView& in = args.in[0];
  const int rank = in.shape.rank();
  const int64_t rows = in.shape[rank - 2], columns = in.shape[rank - 1];
  const int64_t k = args.has(1) ? std::clamp(IndexReader(args.in[1])[0], -rows, columns) : 0;
  const bool upper = args.attributes.Int("upper", 1) != 0;
  if (in.elements() == 0) return;
  VisitSize(in.type, [&]<class T>() {
    const T* from = in.as<T>();
    T* to = args.out[0].as<T>();
    for (int64_t r = 0, n = in.elements() / columns; r < n; ++r, from += columns, to += columns) {
      const int64_t diagonal = r % rows + k;
      for (int64_t j = 0; j < columns; ++j) to[j] = (upper ? j >= diagonal : j <= diagonal) ? from[j] : T(0);
    }
  });
}

constexpr RefEntry kTensorKernels[] = {
    {"Bernoulli", RunBernoulli},
    {"CenterCropPad", RunCenterCropPad},
    {"Concat", RunConcat},
    {"Constant", RunConstant},
    {"ConstantOfShape", RunConstantOfShape},
    {"DepthToSpace", RunDepthToSpace},
    {"Expand", RunExpand},
    {"EyeLike", RunEyeLike},
    {"Flatten", CopyAll},
    {"Multinomial", RunMultinomial},
    {"NonZero", RunNonZero},
    {"OneHot", RunOneHot},
    {"Pad", RunPad},
    {"RandomNormal", RunRandomNormal},
    {"RandomNormalLike", RunRandomNormal},
    {"RandomUniform", RunRandomUniform},
    {"RandomUniformLike", RunRandomUniform},
    {"Range", RunRange},
    {"Reshape", CopyAll},
    {"ReverseSequence", RunReverseSequence},
    {"Shape", RunShape},
    {"Size", RunSize},
    {"Slice", RunSlice},
    {"SpaceToDepth", RunSpaceToDepth},
    {"Split", RunSplit},
    {"Squeeze", CopyAll},
    {"Tile", RunTile},
    {"Transpose", RunTranspose},
    {"Trilu", RunTrilu},
    {"Unsqueeze", CopyAll},
};

}  // namespace

std::span<const RefEntry> TensorReferences() { return kTensorKernels; }

}  // namespace mete
