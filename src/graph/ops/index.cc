// Operators that pick, drop or place elements by index.
#include "graph/ops/tensor_rules.h"

namespace mete {
namespace {

void InferGather(InferContext& c) {
  const Shape &data = c.shape(0), &indices = c.shape(1);
  NeedType(c, 1, kIndexTypes);
  const int axis = c.Axis(c.attributes.Int("axis", 0), data.rank());
  Shape out;
  for (int i = 0; i < axis; ++i) Append(c, out, data[i]);
  for (int64_t d : indices) Append(c, out, d);
  for (int i = axis + 1; i < data.rank(); ++i) Append(c, out, data[i]);
  c.Output(0, c.type(0), out);
}

// Throws an Error unless the indices have the rank of the data and are no larger in any dimension but `axis`,
// where any size is allowed.
void NeedIndicesWithin(const InferContext& c, int axis) {
  const Shape &data = c.shape(0), &indices = c.shape(1);
  NeedType(c, 1, kIndexTypes);
  c.NeedRank(1, data.rank(), data.rank());
  for (int i = 0; i < data.rank(); ++i)
    if (i != axis && indices[i] > data[i])
      c.Bad("indices pass the data in dimension {}; got {}, expected at most {}", i, ToString(indices),
            ToString(data));
}

void InferGatherElements(InferContext& c) {
  NeedIndicesWithin(c, c.Axis(c.attributes.Int("axis", 0), c.shape(0).rank()));
  c.Output(0, c.type(0), c.shape(1));
}

// Returns the length of the index tuples. Throws an Error if the data has fewer dimensions to index.
int TupleLength(const InferContext& c, int batch_dims) {
  NeedType(c, 1, kIndexTypes);
  c.NeedRank(1, batch_dims + 1);
  const int64_t length = c.shape(1).back();
  if (length < 1 || length > c.shape(0).rank() - batch_dims)
    c.Bad("index tuples have the wrong length; got {}, expected 1 to {}", length,
          c.shape(0).rank() - batch_dims);
  return int(length);
}

void InferGatherND(InferContext& c) {
  const Shape &data = c.shape(0), &indices = c.shape(1);
  const int64_t batch_dims = c.attributes.Int("batch_dims", 0);
  if (batch_dims < 0 || batch_dims >= data.rank())
    c.Bad("batch_dims is out of range; got {}, expected 0 to {}", batch_dims, data.rank() - 1);
  const int length = TupleLength(c, int(batch_dims));
  Shape out;
  for (int i = 0; i < indices.rank() - 1; ++i) {
    if (i < batch_dims && indices[i] != data[i])
      c.Bad("batch dimensions differ; got {} and {}", ToString(data), ToString(indices));
    Append(c, out, indices[i]);
  }
  for (int i = int(batch_dims) + length; i < data.rank(); ++i) Append(c, out, data[i]);
  c.Output(0, c.type(0), out);
}

void NeedReduction(const InferContext& c) {
  const auto reduction = c.attributes.String("reduction", "none");
  if (reduction == "none") return;
  if (reduction != "add" && reduction != "mul" && reduction != "min" && reduction != "max")
    c.Bad("reduction is unknown; got {}, expected none, add, mul, min or max", reduction);
  NeedType(c, 0, kNumericTypes);
}

void InferScatterND(InferContext& c) {
  const Shape &data = c.shape(0), &indices = c.shape(1);
  NeedReduction(c);
  NeedSameType(c, 0, 2);
  const int length = TupleLength(c, 0);
  Shape updates;
  for (int i = 0; i < indices.rank() - 1; ++i) Append(c, updates, indices[i]);
  for (int i = length; i < data.rank(); ++i) Append(c, updates, data[i]);
  NeedShape(c, 2, updates);
  c.Output(0, c.type(0), data);
}

void InferScatterElements(InferContext& c) {
  NeedReduction(c);
  NeedSameType(c, 0, 2);
  NeedIndicesWithin(c, c.Axis(c.attributes.Int("axis", 0), c.shape(0).rank()));
  NeedShape(c, 2, c.shape(1));
  c.Output(0, c.type(0), c.shape(0));
}

void InferCompress(InferContext& c) {
  NeedType(c, 1, kBoolType);
  c.NeedRank(1, 1, 1);
  if (c.attributes.Has("axis")) c.Axis(c.attributes.Int("axis", 0), c.shape(0).rank());
  c.OutputUnknown(0, c.type(0));
}

void InferUnique(InferContext& c) {
  if (c.attributes.Has("axis")) c.Axis(c.attributes.Int("axis", 0), c.shape(0).rank());
  c.OutputUnknown(0, c.type(0));
  for (int i = 1; i < c.outputs(); ++i) c.OutputUnknown(i, DType::kI64);
}

void InferTensorScatter(InferContext& c) {
  const Shape& cache = c.shape(0);
  NeedSameType(c, 0, 1);
  c.NeedRank(0, 2);
  const auto mode = c.attributes.String("mode", "linear");
  if (mode != "linear" && mode != "circular")
    c.Bad("mode is unknown; got {}, expected linear or circular", mode);
  const int axis = c.Axis(c.attributes.Int("axis", -2), cache.rank());
  if (axis == 0) c.Bad("axis must not be the batch's; got 0");
  c.NeedRank(1, cache.rank(), cache.rank());
  Shape update = cache;
  update[axis] = c.shape(1)[axis];
  NeedShape(c, 1, update);
  if (update[axis] > cache[axis])
    c.Bad("the update is longer than the cache; got {}, expected at most {}", update[axis], cache[axis]);
  if (c.has(2)) {
    NeedType(c, 2, kIndexTypes);
    NeedShape(c, 2, {cache[0]});
  }
  c.Output(0, c.type(0), cache);
}

void InferNonMaxSuppression(InferContext& c) {
  for (int i : {0, 1, 3, 4})
    if (c.has(i)) NeedType(c, i, TypeBit(DType::kF32));
  if (c.has(2)) NeedType(c, 2, kIndexTypes);
  for (int i = 2; i < 5; ++i)
    if (c.has(i)) NeedScalar(c, i);
  c.NeedRank(1, 3, 3);
  NeedShape(c, 0, {c.shape(1)[0], c.shape(1)[2], 4});
  c.OutputUnknown(0, DType::kI64);
}

// Caffe's layer of this name: inputs are predictions of boxes, scores, and prior boxes with their variances.
// Those of RefineDet have two more: scores of whether a prior box has an object at all, and predictions that
// first move the prior boxes. With "clip", of OpenCV, boxes end at the picture's edges before they are
// compared.
void InferDetectionOutput(InferContext& c) {
  const Attributes& a = c.attributes;
  for (int i = 0; i < 5; ++i)
    if (i < 3 || c.has(i)) NeedType(c, i, TypeBit(DType::kF32));
  c.NeedRank(1, 2, 2);
  c.NeedRank(2, 3, 3);
  const int64_t images = c.shape(1)[0], boxes = c.shape(2)[2] / 4, classes = a.Int("num_classes", 0);
  if (boxes < 1) c.Bad("input 2 has no boxes; got shape {}, expected 1x2x4 or more", ToString(c.shape(2)));
  if (classes < 1) c.Bad("num_classes must be from 1 on; got {}", classes);
  NeedShape(c, 2, {1, 2, boxes * 4});
  NeedShape(c, 1, {images, CheckedMul(c, boxes, classes)});
  const int64_t predicted = CheckedMul(c, boxes * 4, a.Int("share_location", 1) ? 1 : classes);
  NeedShape(c, 0, {images, predicted});
  if (c.has(4) && !c.has(3)) c.Bad("it has input 4 without input 3; expected both, or input 3 alone");
  if (c.has(3)) NeedShape(c, 3, {images, boxes * 2});
  if (c.has(4)) NeedShape(c, 4, {images, boxes * 4});
  if (std::isnan(a.Float("objectness_score", 0))) c.Bad("objectness_score must be a number; got nan");
  const float overlap = a.Float("nms_threshold", 0.3f), eta = a.Float("eta", 1);
  if (!(overlap >= 0)) c.Bad("nms_threshold must be from 0 on; got {}", overlap);
  if (!(eta > 0 && eta <= 1)) c.Bad("eta must be above 0 and at most 1; got {}", eta);
  if (std::isnan(a.Float("confidence_threshold", 0))) c.Bad("confidence_threshold must be a number; got nan");
  const auto code = a.String("code_type", "corner");
  if (code != "corner" && code != "center_size" && code != "corner_size")
    c.Bad("code_type is unknown; got {}, expected corner, center_size or corner_size", code);
  c.OutputUnknown(0, DType::kF32);
}

// Keys (input 1) and, behind a value for elements without a key, a value for each of them (input 2).
void InferLabelEncoder(InferContext& c) {
  NeedSameType(c, 0, 1);
  NeedType(c, 0, kNumericTypes);
  NeedType(c, 2, kNumericTypes);
  c.NeedRank(1, 1, 1);
  NeedShape(c, 2, {CheckedAdd(c, c.shape(1)[0], 1)});
  c.Output(0, c.type(2), c.shape(0));
}

int64_t SpatialAttribute(const InferContext& c, const char* name, size_t i, size_t count, int64_t fallback) {
  const Ints& list = c.attributes.IntList(name);
  if (list.empty()) return fallback;
  if (list.size() != count) c.Bad("{} has the wrong length; got {}, expected {}", name, list.size(), count);
  if (list[i] < fallback || list[i] > INT32_MAX) c.Bad("{} is impossible; got {}", name, list[i]);
  return list[i];
}

// Returns the number of blocks that fit along dimension i of the image.
int64_t Blocks(const InferContext& c, int64_t image, int64_t block, size_t i, size_t rank) {
  const int64_t before = SpatialAttribute(c, "pads", i, 2 * rank, 0),
                after = SpatialAttribute(c, "pads", rank + i, 2 * rank, 0);
  const int64_t dilation = SpatialAttribute(c, "dilations", i, rank, 1),
                stride = SpatialAttribute(c, "strides", i, rank, 1);
  if (image < 0 || block < 1)
    c.Bad("image and block are impossible; got {} and {} in dimension {}", image, block, i);
  const int64_t room = CheckedAdd(c, image, before + after) - CheckedMul(c, dilation, block - 1) - 1;
  return room < 0 ? 0 : room / stride + 1;
}

void InferCol2Im(InferContext& c) {
  c.NeedRank(0, 3, 3);
  NeedType(c, 0, kNumericTypes);
  const auto image = ShortList(c, 1), block = ShortList(c, 2);
  if (!image || !block) return c.OutputUnknown(0, c.type(0));
  const size_t rank = image->size();
  if (block->size() != rank || rank == 0)
    c.Bad("image_shape and block_shape differ in length; got {} and {}", rank, block->size());
  int64_t blocks = 1, size = 1;
  for (size_t i = 0; i < rank; ++i) {
    blocks = CheckedMul(c, blocks, Blocks(c, (*image)[i], (*block)[i], i, rank));
    size = CheckedMul(c, size, (*block)[i]);
  }
  const Shape& in = c.shape(0);
  if (in[1] % size != 0) c.Bad("channels do not divide by the block; got {}, block of {}", in[1], size);
  if (in[2] != blocks) c.Bad("input has the wrong number of blocks; got {}, expected {}", in[2], blocks);
  Shape out{in[0], in[1] / size};
  for (int64_t d : *image) Append(c, out, d);
  c.Output(0, c.type(0), out);
}

constexpr OpSchema kIndexOperators[] = {
    {"Col2Im", 3, 3, 1, InferCol2Im},
    {"Compress", 2, 2, 1, InferCompress, Narrow({})},
    {"Gather", 2, 2, 1, InferGather, Narrow({.divide_by = DivideBy::kGather})},
    {"GatherElements", 2, 2, 1, InferGatherElements, Narrow({})},
    {"GatherND", 2, 2, 1, InferGatherND, Narrow({})},
    {"NonMaxSuppression", 2, 5, 1, InferNonMaxSuppression, {.arithmetic = Arithmetic::kPairs}},
    {"ScatterElements", 3, 3, 1, InferScatterElements, Narrow({})},
    {"ScatterND", 3, 3, 1, InferScatterND, Narrow({})},
    {"TensorScatter", 2, 3, 1, InferTensorScatter, Narrow({})},
    {"TfIdfVectorizer", 1, 1, 1, InferTfIdfVectorizer, {.arithmetic = Arithmetic::kGrams}},
    {"Unique", 1, 1, 4, InferUnique},
    {"mete.DetectionOutput", 3, 5, 1, InferDetectionOutput, {.arithmetic = Arithmetic::kPairs}},
    {"mete.LabelEncoder", 3, 3, 1, InferLabelEncoder, {.arithmetic = Arithmetic::kLookUp}},
    {"mete.TreeEnsemble", 1, 1, 1, InferTreeEnsemble, {.arithmetic = Arithmetic::kTrees}},
};

}  // namespace

std::span<const OpSchema> IndexOperators() { return kIndexOperators; }

}  // namespace mete
