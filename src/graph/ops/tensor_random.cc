// Operators that give random numbers, which follow from attribute `seed` and the place of the element
// (base/random_stream.h).
#include <cmath>

#include "graph/ops/tensor_rules.h"

namespace mete {
namespace {

DType TypeOr(const InferContext& c, DType otherwise, TypeSet allowed) {
  const auto name = c.attributes.String("dtype", "");
  const DType type = name.empty() ? otherwise : DTypeOf(name);
  if (type == DType::kUnknown || !(allowed & TypeBit(type)))
    c.Bad("dtype; got {}, expected a type of its numbers", name.empty() ? Name(otherwise) : name);
  return type;
}

void NeedFinite(const InferContext& c, const char* name, float fallback) {
  if (const float value = c.attributes.Float(name, fallback); !std::isfinite(value))
    c.Bad("{}; got {}, expected a finite number", name, value);
}

void CheckRange(const InferContext& c) {
  NeedFinite(c, "low", 0);
  NeedFinite(c, "high", 1);
  NeedFinite(c, "mean", 0);
  NeedFinite(c, "scale", 1);
}

}  // namespace

void InferRandom(InferContext& c) {
  CheckRange(c);
  if (!c.attributes.Has("shape")) c.Bad("shape is missing; expected the dimensions of the output");
  c.Output(0, TypeOr(c, DType::kF32, kFloatTypes), ShapeFrom(c, c.attributes.IntList("shape")));
}

void InferRandomLike(InferContext& c) {
  CheckRange(c);
  c.Output(0, TypeOr(c, c.type(0), kFloatTypes), c.shape(0));
}

void InferBernoulli(InferContext& c) {
  NeedType(c, 0, kFloatTypes);
  c.Output(0, TypeOr(c, c.type(0), kAllTypes), c.shape(0));
}

void InferMultinomial(InferContext& c) {
  NeedType(c, 0, kFloatTypes);
  c.NeedRank(0, 2, 2);
  const int64_t samples = c.attributes.Int("sample_size", 1);
  if (samples < 0) c.Bad("sample_size; got {}, expected 0 or more", samples);
  if (c.shape(0)[1] == 0 && c.shape(0)[0] > 0 && samples > 0)
    c.Bad("there is no class to choose; got {}, expected rows x classes", ToString(c.shape(0)));
  c.Output(0, TypeOr(c, DType::kI32, kIndexTypes), {c.shape(0)[0], samples});
}

}  // namespace mete
