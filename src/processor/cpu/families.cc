#include "processor/cpu/families.h"

namespace mete {
namespace {

// More blocks than threads, so that a later policy has something to deal out; few enough that a block's
// start-up costs nothing. Guess.
constexpr int64_t kBlocksPerThread = 4;

int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

}  // namespace

std::unique_ptr<Prepared> PrepareFast(const Graph& graph, const Node& node, Pool& pool, std::string* why) {
  for (PrepareFn prepare : {PrepareConv, PrepareMatrix})
    if (auto prepared = prepare(graph, node, pool, why)) return prepared;
  return nullptr;
}

Grid MakeGrid(int64_t rows, int64_t row_step, int64_t columns, int threads) {
  Grid grid{rows, columns, rows, columns, 1, 1};
  if (threads <= 1) return grid;
  const int64_t wanted = threads * kBlocksPerThread;
  const int64_t steps = CeilDiv(rows, row_step);
  grid.row_size = CeilDiv(steps, std::min(steps, wanted)) * row_step;
  grid.row_blocks = CeilDiv(rows, grid.row_size);
  const int64_t more = std::min(columns, CeilDiv(wanted, grid.row_blocks));
  grid.column_size = CeilDiv(columns, more);
  grid.column_blocks = CeilDiv(columns, grid.column_size);
  return grid;
}

int64_t BlocksOf(int64_t units, int64_t least, int threads) {
  return threads <= 1 ? 1 : std::clamp<int64_t>(units / std::max<int64_t>(least, 1), 1, threads * kBlocksPerThread);
}

std::optional<Epilogue> EpilogueOf(const Node& node) {
  EpilogueSpec spec;
  if (!ParseEpilogue(node.attributes, spec).empty()) return std::nullopt;
  Epilogue epilogue;
  epilogue.activation = spec.activation;
  return epilogue;
}

}  // namespace mete
