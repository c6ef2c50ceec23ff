#include "partition/row_needs.h"

#include "partition/divide.h"

namespace mete {
namespace {

// The most rows of a table, because the number comes from a model file. This value is a guess: images have
// some hundreds of rows. For more rows every call computes Divide().
constexpr int64_t kMostRows = 65536;

int64_t ExtentOf(const Graph& graph, const Node& node, int axis) {
  for (ValueId id : node.outputs) {
    if (id == kNoValue) continue;
    const Shape& shape = graph.value(id).shape;
    return shape.known() && axis < shape.rank() ? shape[axis] : 0;
  }
  return 0;
}

}  // namespace

RowNeeds::Table RowNeeds::MakeTable(const Node& node, int axis) const {
  Table table;
  const int64_t rows = ExtentOf(graph_, node, axis);
  const size_t inputs = node.inputs.size();
  table.divides = rows > 0 && Divide(graph_, node, Part::Of(axis, {0, rows})).has_value();
  if (!table.divides || rows > kMostRows) return table;
  table.axes.assign(inputs, Part::kAllAxes);
  table.begins.assign(inputs, {});
  table.ends.assign(inputs, {});
  for (int64_t r = 0; r < rows; ++r) {
    const auto d = Divide(graph_, node, Part::Of(axis, {r, r + 1}));
    if (!d) return table;
    if (d->rows) table.computes.push_back(*d->rows);
    for (size_t i = 0; i < inputs; ++i) {
      const Part& need = d->inputs[i];
      if (r == 0) table.axes[i] = need.axis;
      else if (table.axes[i] != need.axis) return table;
      if (need.all()) continue;
      table.begins[i].push_back(int32_t(need.rows.begin));
      table.ends[i].push_back(int32_t(need.rows.end));
    }
  }
  table.by_rows = true;
  return table;
}

const RowNeeds::Table& RowNeeds::TableOf(int node, int axis) {
  const auto known = tables_.find({node, axis});
  if (known != tables_.end()) return known->second;
  return tables_[{node, axis}] = MakeTable(graph_.nodes[size_t(node)], axis);
}

const std::vector<Part>& RowNeeds::Inputs(int node, Part& part) {
  const Node& n = graph_.nodes[size_t(node)];
  answer_.assign(n.inputs.size(), Part::All());
  if (part.all()) return answer_;
  const Table& table = TableOf(node, part.axis);
  if (table.by_rows) {
    for (size_t i = 0; i < answer_.size(); ++i)
      if (table.axes[i] != Part::kAllAxes)
        answer_[i] = Part::Of(table.axes[i], {table.begins[i][size_t(part.rows.begin)],
                                              table.ends[i][size_t(part.rows.end - 1)]});
    if (!table.computes.empty())
      part.rows = {table.computes[size_t(part.rows.begin)].begin,
                   table.computes[size_t(part.rows.end - 1)].end};
    return answer_;
  }
  const auto d = table.divides ? Divide(graph_, n, part) : std::nullopt;
  if (!d) part = Part::All();
  else answer_ = d->inputs;
  if (d && d->rows) part.rows = *d->rows;
  return answer_;
}

}  // namespace mete
