// Operators that subtract a centre or divide by a norm.
#include "graph/ops/check.h"
#include "graph/operators.h"

namespace mete {
namespace {

// Returns the axis of the channels: 1, or the last axis if a pass has set layout="NHWC".
int ChannelAxis(const InferContext& c) {
  const auto layout = c.attributes.String("layout", "NCHW");
  if (layout != "NCHW" && layout != "NHWC")
    c.Bad("attribute layout is unknown; got '{}', expected NCHW or NHWC", layout);
  return layout == "NHWC" ? c.shape(0).rank() - 1 : 1;
}

void SameAsInput(InferContext& c) {
  NeedType(c, 0, kFloatTypes);
  c.Output(0, c.type(0), c.shape(0));
}

void InferBatchNormalization(InferContext& c) {
  c.NeedRank(0, 1);
  const int64_t channels = c.shape(0).rank() == 1 ? 1 : c.shape(0)[ChannelAxis(c)];
  for (int i = 1; i <= 4; ++i) {
    NeedType(c, i, kFloatTypes);
    NeedShape(c, i, Shape{channels});
  }
  SameAsInput(c);
  if (c.attributes.Int("training_mode", 0) == 0) return;
  c.Output(1, c.type(3), c.shape(3));
  c.Output(2, c.type(4), c.shape(4));
}

void InferInstanceNormalization(InferContext& c) {
  c.NeedRank(0, 2);
  for (int i = 1; i <= 2; ++i) {
    NeedType(c, i, kFloatTypes);
    NeedShape(c, i, Shape{c.shape(0)[1]});
  }
  SameAsInput(c);
}

void InferGroupNormalization(InferContext& c) {
  c.NeedRank(0, 2);
  const int64_t groups = c.attributes.Int("num_groups", 0), channels = c.shape(0)[1];
  if (groups <= 0 || channels % groups != 0)
    c.Bad("num_groups does not divide the channels; got {}, expected a divisor of {} from 1 on", groups,
          channels);
  InferInstanceNormalization(c);
}

// Throws an Error unless all other inputs can be broadcast to the shape of input 0.
void NeedFitting(const InferContext& c) {
  for (int i = 1; i < c.inputs(); ++i) {
    if (!c.has(i)) continue;
    NeedType(c, i, kFloatTypes);
    if (BroadcastShapes(c, c.shape(0), c.shape(i)) != c.shape(0))
      c.Bad("input {} cannot be broadcast to input 0; got {}, expected to fit {}", i, ToString(c.shape(i)),
            ToString(c.shape(0)));
  }
}

void InferLayerNormalization(InferContext& c) {
  c.NeedRank(0, 1);
  NeedFitting(c);
  Shape statistics = c.shape(0);
  for (int i = c.Axis(c.attributes.Int("axis", -1), statistics.rank()); i < statistics.rank(); ++i)
    statistics[i] = 1;
  SameAsInput(c);
  const int64_t stash = c.attributes.Int("stash_type", 1);  // ONNX's numbers: 1 is f32, 16 is bf16
  if (stash != 1 && stash != 16)
    c.Bad("stash_type is not supported; got {}, expected 1 (f32) or 16 (bf16)", stash);
  for (int i = 1; i <= 2; ++i) c.Output(i, stash == 1 ? DType::kF32 : DType::kBF16, statistics);
}

void InferRmsNormalization(InferContext& c) {
  c.NeedRank(0, 1);
  NeedFitting(c);
  c.Axis(c.attributes.Int("axis", -1), c.shape(0).rank());
  SameAsInput(c);
}

void InferLrn(InferContext& c) {
  c.NeedRank(0, 2);
  ChannelAxis(c);
  if (c.attributes.Int("size", 0) <= 0)
    c.Bad("attribute size must be positive; got {}", c.attributes.Int("size", 0));
  SameAsInput(c);
}

void InferLrnWithin(InferContext& c) {
  c.NeedRank(0, 2);
  const int64_t size = c.attributes.Int("size", 5);
  if (size <= 0 || size % 2 == 0) c.Bad("attribute size must be positive and odd; got {}", size);
  SameAsInput(c);
}

void InferLpNormalization(InferContext& c) {
  c.NeedRank(0, 1);
  c.Axis(c.attributes.Int("axis", -1), c.shape(0).rank());
  const int64_t p = c.attributes.Int("p", 2);
  if (p != 1 && p != 2) c.Bad("attribute p is not supported; got {}, expected 1 or 2", p);
  SameAsInput(c);
}

void InferMeanVarianceNormalization(InferContext& c) {
  if (c.attributes.Has("axes")) {
    for (int64_t axis : c.attributes.IntList("axes")) c.Axis(axis, c.shape(0).rank());
  } else {
    c.NeedRank(0, 4, 4);  // the default axes are 0, 2, 3
  }
  SameAsInput(c);
}

void InferNormalize(InferContext& c) {
  c.NeedRank(0, 2);
  const int64_t scales = c.attributes.Int("channel_shared", 1) != 0 ? 1 : c.shape(0)[1];
  NeedType(c, 1, kFloatTypes);
  if (c.shape(1).Elements() != scales)
    c.Bad("scale has the wrong number of elements; got {}, expected {}", ToString(c.shape(1)), scales);
  SameAsInput(c);
}

constexpr OpSchema kNormalizationOperators[] = {
    {"BatchNormalization",
     5,
     5,
     3,
     InferBatchNormalization,
     {.orders = Orders::kChannelsLast, .divide_by = DivideBy::kBatchNormalization}},
    {"GroupNormalization", 3, 3, 1, InferGroupNormalization},
    {"InstanceNormalization",
     3,
     3,
     1,
     InferInstanceNormalization,
     {.divide_by = DivideBy::kInstanceNormalization}},
    {"LRN",
     1,
     1,
     1,
     InferLrn,
     {.orders = Orders::kChannelsLast,
      .divide_by = DivideBy::kOverChannels,
      .arithmetic = Arithmetic::kNeighbours}},
    {"LayerNormalization", 2, 3, 3, InferLayerNormalization, {.divide_by = DivideBy::kFromAxis, .axis = -1}},
    {"LpNormalization", 1, 1, 1, InferLpNormalization, {.divide_by = DivideBy::kAlongAxis, .axis = -1}},
    {"MeanVarianceNormalization", 1, 1, 1, InferMeanVarianceNormalization},
    {"RMSNormalization", 2, 2, 1, InferRmsNormalization, {.divide_by = DivideBy::kFromAxis, .axis = -1}},
    {"mete.LRNWithin", 1, 1, 1, InferLrnWithin, {.arithmetic = Arithmetic::kSquares}},
    {"mete.Normalize", 2, 2, 1, InferNormalize},
};

}  // namespace

std::span<const OpSchema> NormalizationOperators() { return kNormalizationOperators; }

}  // namespace mete
