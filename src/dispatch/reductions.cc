#include "dispatch/reductions.h"

#include <algorithm>
#include <iterator>

#include "dispatch/reason.h"

namespace mete {
namespace {

struct FunctionName {
  std::string_view op;
  const char* kernel;
  ReduceFunction function;
};
constexpr FunctionName kFunctions[] = {
    {"ReduceMean", "reduce_mean_f32", ReduceFunction::kMean},
    {"ReduceSum", "reduce_sum_f32", ReduceFunction::kSum},
    {"ReduceMax", "reduce_max_f32", ReduceFunction::kMax},
    {"ReduceMin", "reduce_min_f32", ReduceFunction::kMin},
    {"ReduceProd", "reduce_prod_f32", ReduceFunction::kProd},
    {"ReduceL1", "reduce_l1_f32", ReduceFunction::kL1},
    {"ReduceL2", "reduce_l2_f32", ReduceFunction::kL2},
    {"ReduceSumSquare", "reduce_sum_square_f32", ReduceFunction::kSumSquare},
    {"ReduceLogSum", "reduce_log_sum_f32", ReduceFunction::kLogSum},
    {"ReduceLogSumExp", "reduce_log_sum_exp_f32", ReduceFunction::kLogSumExp},
};

}  // namespace

std::string Reduction::kernel() const {
  return std::find_if(std::begin(kFunctions), std::end(kFunctions),
                      [&](const FunctionName& f) { return f.function == shape.function; })
      ->kernel;
}

ReduceFunction ReduceFunctionOf(std::string_view op) {
  return std::find_if(std::begin(kFunctions), std::end(kFunctions),
                      [&](const FunctionName& f) { return f.op == op; })
      ->function;
}

std::optional<Reduction> ReductionOf(const Graph& graph, const Node& node, std::string* why) {
  if (!IsF32(graph, node.inputs[0])) return No("not f32", why);
  Ints axes;
  if (node.input(1) != kNoValue) {
    const auto given = IntsOf(graph, node.inputs[1]);
    if (!given) return No("the axes are computed", why);
    axes = *given;
  }
  const Shape& x = graph.value(node.inputs[0]).shape;
  if (x.Elements() == 0) return No("nothing to compute", why);
  const bool all = axes.empty() && node.attributes.Int("noop_with_empty_axes", 0) == 0;
  std::vector<bool> reduced(size_t(x.rank()), all);
  for (const int64_t axis : axes) reduced[size_t(axis < 0 ? axis + x.rank() : axis)] = true;
  return Reduction{MakeReduceShape(ReduceFunctionOf(node.op), {x.begin(), x.end()}, reduced)};
}

}  // namespace mete
