// Operators that reduce elements along axes, or normalize, sort or accumulate them.
#include <set>

#include "graph/ops/check.h"
#include "graph/operators.h"

namespace mete {
namespace {

// Input 1 has the axes. If it is omitted or empty, all axes are reduced, or none if noop_with_empty_axes is
// set.
template <TypeSet kTypes>
void InferReduce(InferContext& c) {
  NeedType(c, 0, kTypes);
  const Shape& in = c.shape(0);
  const bool keep = c.attributes.Int("keepdims", 1) != 0;
  Ints axes;
  if (c.has(1)) {
    NeedType(c, 1, kIndexTypes);
    const auto known = c.ints(1);
    if (!known) return c.OutputUnknown(0, c.type(0));
    axes = *known;
  }
  std::set<int> reduced;
  for (int64_t axis : axes) reduced.insert(c.Axis(axis, in.rank()));
  const bool all = axes.empty() && c.attributes.Int("noop_with_empty_axes", 0) == 0;
  Shape out;
  for (int i = 0; i < in.rank(); ++i) {
    if (!all && !reduced.count(i)) out.push_back(in[i]);
    else if (keep) out.push_back(1);
  }
  c.Output(0, c.type(0), out);
}

void InferArg(InferContext& c) {
  NeedType(c, 0, kNumericTypes);
  Shape in = c.shape(0);
  if (in.rank() == 0) in = Shape{1};
  const int axis = c.Axis(c.attributes.Int("axis", 0), in.rank());
  if (in[axis] == 0) c.Bad("axis {} has no elements to choose from; got {}", axis, ToString(in));
  Shape out;
  for (int i = 0; i < c.shape(0).rank(); ++i) {
    if (i != axis) out.push_back(in[i]);
    else if (c.attributes.Int("keepdims", 1) != 0) out.push_back(1);
  }
  c.Output(0, DType::kI64, out);
}

void InferTopK(InferContext& c) {
  NeedType(c, 0, kNumericTypes);
  NeedType(c, 1, kIndexTypes);
  NeedShape(c, 1, c.shape(1).rank() == 0 ? Shape{} : Shape{1});
  c.NeedRank(0, 1);
  Shape shape = c.shape(0);
  const int axis = c.Axis(c.attributes.Int("axis", -1), shape.rank());
  const auto k = c.ints(1);
  if (k && (k->front() < 0 || k->front() > shape[axis]))
    c.Bad("K is out of range for axis {} of {}; got {}, expected 0 to {}", axis, ToString(shape), k->front(),
          shape[axis]);
  if (k) shape[axis] = k->front();
  else shape = Shape::Unknown();
  c.Output(0, c.type(0), shape);
  c.Output(1, DType::kI64, shape);
}

void InferCumulative(InferContext& c) {
  NeedType(c, 0, kNumericTypes);
  NeedType(c, 1, kIndexTypes);
  c.NeedRank(0, 1);
  if (c.shape(1).Elements() != 1) c.Bad("axis must be one number; got input 1 as {}", ToString(c.shape(1)));
  if (const auto axis = c.ints(1)) c.Axis(axis->front(), c.shape(0).rank());
  c.Output(0, c.type(0), c.shape(0));
}

void InferAlongAxis(InferContext& c) {
  NeedType(c, 0, kFloatTypes);
  const int rank = c.shape(0).rank();
  if (rank > 0) c.Axis(c.attributes.Int("axis", -1), rank);
  c.Output(0, c.type(0), c.shape(0));
}

constexpr InferFn kReduce = InferReduce<kNumericTypes>;

constexpr OpTraits kAlong{.orders = Orders::kAxis, .divide_by = DivideBy::kAlongAxis, .axis = -1};
constexpr OpTraits kReduces{.orders = Orders::kReducedAxes, .divide_by = DivideBy::kReduce};

constexpr OpSchema kReductionOperators[] = {
    {"ArgMax", 1, 1, 1, InferArg},
    {"ArgMin", 1, 1, 1, InferArg},
    {"CumProd", 2, 2, 1, InferCumulative},
    {"CumSum", 2, 2, 1, InferCumulative},
    {"Hardmax", 1, 1, 1, InferAlongAxis, kAlong},
    {"LogSoftmax", 1, 1, 1, InferAlongAxis, kAlong},
    {"ReduceL1", 1, 2, 1, kReduce, kReduces},
    {"ReduceL2", 1, 2, 1, kReduce, kReduces},
    {"ReduceLogSum", 1, 2, 1, kReduce, kReduces},
    {"ReduceLogSumExp", 1, 2, 1, kReduce, kReduces},
    {"ReduceMax", 1, 2, 1, InferReduce<kAllTypes>, kReduces},
    {"ReduceMean", 1, 2, 1, kReduce, kReduces},
    {"ReduceMin", 1, 2, 1, InferReduce<kAllTypes>, kReduces},
    {"ReduceProd", 1, 2, 1, kReduce, kReduces},
    {"ReduceSum", 1, 2, 1, kReduce, kReduces},
    {"ReduceSumSquare", 1, 2, 1, kReduce, kReduces},
    {"Softmax", 1, 1, 1, InferAlongAxis, kAlong},
    {"TopK", 2, 2, 2, InferTopK},
};

}  // namespace

std::span<const OpSchema> ReductionOperators() { return kReductionOperators; }

}  // namespace mete
