// Operators that see the same elements in another shape: reshape, transpose, join, split, repeat.
#include "graph/ops/tensor_rules.h"

namespace mete {
namespace {

void InferReshape(InferContext& c) {
  const auto target = ShortList(c, 1);
  if (!target) return c.OutputUnknown(0, c.type(0));
  const Shape& in = c.shape(0);
  const bool allow_zero = c.attributes.Int("allowzero", 0) != 0;
  Shape out;
  int free_axis = -1;
  int64_t known = 1;
  for (size_t i = 0; i < target->size(); ++i) {
    int64_t d = (*target)[i];
    if (d == 0 && !allow_zero) {
      if (int(i) >= in.rank())
        c.Bad("dimension {} is copied from an input that has none; got {}", i, ToString(in));
      d = in[int(i)];
    }
    if (d == -1) {
      if (free_axis >= 0) c.Bad("more than one dimension is -1; got [{}]", fmt::join(*target, ", "));
      free_axis = int(i);
    } else {
      known = CheckedMul(c, known, d);
    }
    Append(c, out, d == -1 ? 1 : d);
  }
  const int64_t elements = in.Elements();
  if (free_axis >= 0) {
    if (known == 0 ? elements != 0 || allow_zero : elements % known != 0)
      c.Bad("cannot tell the dimension that is -1; got {} for [{}]", ToString(in), fmt::join(*target, ", "));
    out[free_axis] = known == 0 ? 0 : elements / known;
    known = CheckedMul(c, known, out[free_axis]);
  }
  if (known != elements)
    c.Bad("shapes have different numbers of elements; got {} for {}", ToString(out), ToString(in));
  c.Output(0, c.type(0), out);
}

void InferFlatten(InferContext& c) {
  const Shape& in = c.shape(0);
  const int64_t axis = c.attributes.Int("axis", 1);
  const int rank = in.rank();
  if (axis < -rank || axis > rank)
    c.Bad("axis is out of range; got {}, expected {} to {}", axis, -rank, rank);
  const int at = int(axis < 0 ? axis + rank : axis);
  c.Output(0, c.type(0), {in.Elements(0, at), in.Elements(at, rank)});
}

void InferTranspose(InferContext& c) {
  const Shape& in = c.shape(0);
  const Ints& perm = c.attributes.IntList("perm");
  const bool reverse = !c.attributes.Has("perm");
  if (!reverse) {
    if (int(perm.size()) != in.rank())
      c.Bad("perm has the wrong length; got {}, expected {}", perm.size(), in.rank());
    // Unlike other axes they do not count from behind, so that whatever reads them may take them as they are.
    for (const int64_t axis : perm)
      if (axis < 0) c.Bad("perm is out of range; got {}, expected 0 to {}", axis, in.rank() - 1);
    CheckAxes(c, perm, in.rank());
  }
  Shape out = in;
  for (int i = 0; i < in.rank(); ++i) out[i] = in[reverse ? in.rank() - 1 - i : int(perm[size_t(i)])];
  c.Output(0, c.type(0), out);
}

void InferConcat(InferContext& c) {
  if (!c.attributes.Has("axis")) c.Bad("attribute axis is missing");
  Shape out = c.shape(0);
  const int axis = c.Axis(c.attributes.Int("axis", 0), out.rank());
  for (int i = 1; i < c.inputs(); ++i) {
    if (!c.has(i)) c.Bad("input {} is left out", i);
    NeedSameType(c, 0, i);
    c.NeedRank(i, out.rank(), out.rank());
    for (int d = 0; d < out.rank(); ++d) {
      if (d == axis) out[d] = CheckedAdd(c, out[d], c.shape(i)[d]);
      else if (c.shape(i)[d] != out[d])
        c.Bad("inputs differ in dimension {}; got {} and {}, axis is {}", d, ToString(c.shape(0)),
              ToString(c.shape(i)), axis);
    }
  }
  c.Output(0, c.type(0), out);
}

// Returns the sizes of a Split without given sizes: all parts are equal except the last, which has the
// remaining elements.
Ints EqualParts(const InferContext& c, int64_t dim) {
  const int64_t n = c.outputs(), asked = c.attributes.Int("num_outputs", n);
  if (asked != n) c.Bad("num_outputs does not fit the outputs; got {}, expected {}", asked, n);
  const int64_t part = dim / n + (dim % n != 0);
  if (part != 0 && dim / part < n - 1) c.Bad("cannot split {} into {} parts", dim, n);
  const int64_t last = dim - part * (n - 1);
  Ints sizes(size_t(n), part);
  sizes.back() = last;
  return sizes;
}

void InferSplit(InferContext& c) {
  const Shape& in = c.shape(0);
  const int axis = c.Axis(c.attributes.Int("axis", 0), in.rank());
  if (c.outputs() == 0) c.Bad("has no outputs");
  if (c.has(1)) NeedType(c, 1, kIndexTypes);
  const auto given = c.has(1) ? c.ints(1) : EqualParts(c, in[axis]);
  if (!given) {
    for (int i = 0; i < c.outputs(); ++i) c.OutputUnknown(i, c.type(0));
    return;
  }
  if (int(given->size()) != c.outputs())
    c.Bad("sizes do not fit the outputs; got {}, expected {}", given->size(), c.outputs());
  int64_t sum = 0;
  for (int64_t size : *given) {
    if (size < 0) c.Bad("sizes must not be negative; got {}", size);
    sum = CheckedAdd(c, sum, size);
  }
  if (sum != in[axis]) c.Bad("sizes do not sum to dimension {}; got {}, expected {}", axis, sum, in[axis]);
  for (int i = 0; i < c.outputs(); ++i) {
    Shape out = in;
    out[axis] = (*given)[size_t(i)];
    c.Output(i, c.type(0), out);
  }
}

void InferSqueeze(InferContext& c) {
  const Shape& in = c.shape(0);
  unsigned drop = 0;
  if (c.has(1)) {
    const auto axes = ShortList(c, 1);
    if (!axes) return c.OutputUnknown(0, c.type(0));
    for (int64_t axis : *axes) {
      const int a = c.Axis(axis, in.rank());
      if (in[a] != 1) c.Bad("dimension {} cannot be removed; got {}, expected 1", a, in[a]);
      drop |= 1u << a;
    }
  } else {
    for (int i = 0; i < in.rank(); ++i) drop |= unsigned(in[i] == 1) << i;
  }
  Shape out;
  for (int i = 0; i < in.rank(); ++i)
    if (!(drop & 1u << i)) out.push_back(in[i]);
  c.Output(0, c.type(0), out);
}

void InferUnsqueeze(InferContext& c) {
  auto axes = ShortList(c, 1);
  if (!axes) return c.OutputUnknown(0, c.type(0));
  const int rank = c.shape(0).rank() + int(axes->size());
  if (rank > Shape::kMaxRank)
    c.Bad("too many dimensions; got {}, expected at most {}", rank, Shape::kMaxRank);
  unsigned added = 0;
  for (int64_t axis : CheckAxes(c, *axes, rank)) added |= 1u << axis;
  Shape out;
  for (int i = 0, from = 0; i < rank; ++i) out.push_back(added & 1u << i ? 1 : c.shape(0)[from++]);
  c.Output(0, c.type(0), out);
}

void InferExpand(InferContext& c) {
  const auto dims = ShortList(c, 1);
  if (!dims) return c.OutputUnknown(0, c.type(0));
  c.Output(0, c.type(0), BroadcastShapes(c, c.shape(0), ShapeFrom(c, *dims)));
}

void InferTrilu(InferContext& c) {
  c.NeedRank(0, 2);
  if (c.has(1)) {
    NeedType(c, 1, kIndexTypes);
    NeedScalar(c, 1);
  }
  c.Output(0, c.type(0), c.shape(0));
}

constexpr OpTraits kSameBytes{.kind = OpKind::kView, .divide_by = DivideBy::kSameBytes};

constexpr OpSchema kTensorOperators[] = {
    {"Bernoulli", 1, 1, 1, InferBernoulli},
    {"CenterCropPad", 2, 2, 1, InferCenterCropPad, Narrow({})},
    {"Concat", 1, -1, 1, InferConcat, Narrow({.orders = Orders::kAxis, .divide_by = DivideBy::kAlongAxis})},
    {"Constant", 0, 0, 1, InferConstant, Narrow({})},
    {"ConstantOfShape", 1, 1, 1, InferConstantOfShape, Narrow({})},
    {"DepthToSpace", 1, 1, 1, InferDepthToSpace,
     Narrow({.orders = Orders::kChannelsLast, .divide_by = DivideBy::kChannelsToBlocks})},
    {"Expand", 2, 2, 1, InferExpand, Narrow({.divide_by = DivideBy::kExpand})},
    {"EyeLike", 1, 1, 1, InferEyeLike},
    {"Flatten", 1, 1, 1, InferFlatten, Narrow(kSameBytes)},
    {"Multinomial", 1, 1, 1, InferMultinomial},
    {"NonZero", 1, 1, 1, InferNonZero},
    {"OneHot", 3, 3, 1, InferOneHot},
    {"Pad", 2, 4, 1, InferPad, Narrow({.orders = Orders::kPads, .divide_by = DivideBy::kPad})},
    {"RandomNormal", 0, 0, 1, InferRandom},
    {"RandomNormalLike", 1, 1, 1, InferRandomLike},
    {"RandomUniform", 0, 0, 1, InferRandom},
    {"RandomUniformLike", 1, 1, 1, InferRandomLike},
    {"Range", 3, 3, 1, InferRange},
    {"Reshape", 2, 2, 1, InferReshape, Narrow({.kind = OpKind::kView, .divide_by = DivideBy::kReshape})},
    {"ReverseSequence", 2, 2, 1, InferReverseSequence, Narrow({})},
    {"Shape", 1, 1, 1, InferShape, Narrow({})},
    {"Size", 1, 1, 1, InferSize, Narrow({})},
    {"Slice", 3, 5, 1, InferSlice, Narrow({.orders = Orders::kSlicedAxes, .divide_by = DivideBy::kSlice})},
    {"SpaceToDepth", 1, 1, 1, InferSpaceToDepth,
     Narrow({.orders = Orders::kChannelsLast, .divide_by = DivideBy::kBlocksToChannels})},
    {"Split", 1, 2, -1, InferSplit, Narrow({.orders = Orders::kAxis, .divide_by = DivideBy::kAlongAxis})},
    {"Squeeze", 1, 2, 1, InferSqueeze, Narrow({.kind = OpKind::kView, .divide_by = DivideBy::kSqueeze})},
    {"Tile", 2, 2, 1, InferTile, Narrow({})},
    {"Transpose", 1, 1, 1, InferTranspose, Narrow({.divide_by = DivideBy::kTranspose})},
    {"Trilu", 1, 2, 1, InferTrilu},
    {"Unsqueeze", 2, 2, 1, InferUnsqueeze, Narrow(kSameBytes)},
};

}  // namespace

std::span<const OpSchema> TensorOperators() { return kTensorOperators; }

}  // namespace mete
