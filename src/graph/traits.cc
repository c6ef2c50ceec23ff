#include "graph/traits.h"

#include "graph/operators.h"

namespace mete {
namespace {

OpKind KindOf(std::string_view op) { return TraitsOf(op).kind; }

}  // namespace

const OpTraits& TraitsOf(std::string_view op) {
  static constexpr OpTraits kUnknown;
  const OpSchema* schema = FindOperator(op);
  return schema ? schema->traits : kUnknown;
}

Arithmetic ArithmeticOf(std::string_view op) { return TraitsOf(op).arithmetic; }

bool IsElementwiseOperator(std::string_view op) {
  const OpKind kind = KindOf(op);
  return kind == OpKind::kElementwise || kind == OpKind::kElementwiseFold ||
         kind == OpKind::kElementwiseFirst || kind == OpKind::kCopy;
}

bool IsViewOperator(std::string_view op) {
  const OpKind kind = KindOf(op);
  return kind == OpKind::kView || kind == OpKind::kCopy;
}

bool FollowsOrder(std::string_view op) {
  const Orders orders = TraitsOf(op).orders;
  return orders != Orders::kPlain && orders != Orders::kChannelsLast;
}

bool MayOverwrite(const Node& node, size_t i) {
  return i == 0 ? IsElementwiseOperator(node.op) : KindOf(node.op) == OpKind::kElementwise;
}

}  // namespace mete
