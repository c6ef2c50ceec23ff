#include "processor/cpu/families.h"

namespace mete {
namespace {

constexpr int64_t kFine = 8;  // guess: blocks of a thread, below which a policy has too little to deal out

int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

constexpr double kUneven = 0.1;  // guess: a thread with so much more than its share is as bad as reading the other side twice

// By how much the thread that gets most of `count` equal pieces has more than its share.
double Excess(int64_t count, int threads) { return double(CeilDiv(count, threads) * threads) / double(std::max<int64_t>(count, 1)) - 1; }

// Every row block reads all weights, and every column block all activations, so the larger side is divided; unless its pieces are too
// few to be even. Activations count twice: they lie in the cache of the core that computed them, and the next layer's cores want
// theirs, while weights come from a cache that all cores share. (Measured on two cores, layers alone: at a ratio of 4 or more columns
// are up to 20 % faster, between 1 and 2 there is no difference; between layers: two threads over one
// rose from 1.3 to 1.6 on ViT when its products went by rows and a thread's blocks were joined, on a busy machine.)
bool DivideColumns(const GridSides& sides, int threads) {
  const bool columns = sides.column_bytes > 2 * sides.row_bytes;
  const double own = Excess(columns ? sides.columns : sides.rows, threads), other = Excess(columns ? sides.rows : sides.columns, threads);
  return columns != (own > other + kUneven);
}

}  // namespace

std::unique_ptr<Prepared> PrepareFast(const Graph& graph, const Node& node, Packer& packer, const CpuOptions& options, std::string* why) {
  if (auto prepared = PrepareConv(graph, node, packer, options, why)) return prepared;
  if (auto prepared = PrepareMatrix(graph, node, packer, options, why)) return prepared;
  if (auto prepared = PrepareQuantized(graph, node, packer, why)) return prepared;
  for (PrepareFn prepare : {PreparePool, PrepareElementwise, PrepareNormalization, PrepareMovement})
    if (auto prepared = prepare(graph, node, packer.pool(), why)) return prepared;
  return nullptr;
}

Range Grid::Rows(int64_t row_block) const {
  const int64_t steps = CeilDiv(rows, row_step);
  return {std::min(rows, steps * row_block / row_blocks * row_step), std::min(rows, steps * (row_block + 1) / row_blocks * row_step)};
}

Range Grid::Columns(int64_t column_block) const {
  return {columns * column_block / column_blocks, columns * (column_block + 1) / column_blocks};
}

Grid MakeGrid(const GridSides& sides, int threads, bool other_side) {
  Grid grid{sides.rows, sides.row_step, sides.columns, 1, 1, false};
  if (threads <= 1) return grid;
  grid.columns_outer = DivideColumns(sides, threads) != other_side;
  // A few register tiles of rows are divided evenly rather than between tiles, 16 rows of 6 to a tile as 8 and 8, not as 12 and 4, if
  // each thread gets a tile of them.
  const int64_t most = CeilDiv(CeilDiv(sides.rows, sides.row_step), threads) * sides.row_step;  // of a thread, in whole tiles
  const bool uneven = double(most * threads) > (1 + kUneven) * double(sides.rows);
  if (!grid.columns_outer && uneven && (sides.columns == 1 || sides.rows >= threads * sides.row_step)) grid.row_step = 1;
  const int64_t wanted = threads * kBlocksPerThread, steps = CeilDiv(sides.rows, grid.row_step);
  int64_t& outer = grid.columns_outer ? grid.column_blocks : grid.row_blocks;
  int64_t& inner = grid.columns_outer ? grid.row_blocks : grid.column_blocks;
  outer = std::min(grid.columns_outer ? sides.columns : steps, wanted);
  // A run that ends within the inner dimension is computed in two or three pieces: only where the outer one is too coarse.
  if (outer < threads * kFine) inner = std::min(grid.columns_outer ? steps : sides.columns, CeilDiv(wanted, std::max<int64_t>(outer, 1)));
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
