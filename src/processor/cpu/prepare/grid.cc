#include "processor/cpu/prepare/grid.h"

#include <numeric>

namespace mete {
namespace {

// guess: blocks per thread; with fewer blocks a policy cannot deal them out well
constexpr int64_t kFine = 8;

int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

// This value is a guess: a thread with so much more than its share is as bad as reading the other side twice.
constexpr double kUneven = 0.1;
// Rows are divided between tiles unless that makes the shares more uneven than this. To cut a tile costs
// little, because a tile with a row less takes less time by that row (measured with AVX-512: tiles of 5 and 6
// rows of four vectors compute alike). Measured: 33 tiles for two equal threads give one thread 4 % more than
// a half, and cutting them took 2 % off four networks; at speeds of 1 and 0.4 the excess is 2.9 %, and
// cutting gave nothing. The value is a guess between the two.
constexpr double kUnevenTiles = 0.03;

// Returns how much longer, as a fraction, `count` equal pieces take than exact shares would, when they are
// dealt out to threads of those speeds as evenly as possible.
double Excess(int64_t count, std::span<const double> speeds) {
  if (count <= 0) return 0;
  const double all = std::accumulate(speeds.begin(), speeds.end(), 0.0);
  std::vector<int64_t> pieces;
  for (const double speed : speeds) pieces.push_back(int64_t(double(count) * speed / all));
  const auto with_one_more = [&](size_t t) { return double(pieces[t] + 1) / speeds[t]; };
  for (int64_t left = count - std::accumulate(pieces.begin(), pieces.end(), int64_t{0}); left > 0; --left) {
    size_t soonest = 0;
    for (size_t t = 1; t < speeds.size(); ++t)
      if (with_one_more(t) < with_one_more(soonest)) soonest = t;
    ++pieces[soonest];
  }
  double last = 0;
  for (size_t t = 0; t < speeds.size(); ++t) last = std::max(last, double(pieces[t]) / speeds[t]);
  return last * all / double(count) - 1;
}

// Returns whether to divide columns. Every row block reads all weights, and every column block all
// activations, so the larger side is divided, unless its pieces are too few to be even. Activations count
// twice: they are in the cache of the core that computed them, and the next layer's cores need each other's
// activations, while weights come from a cache that all cores share. (Measured on two cores, layers alone: at
// a ratio of 4 or more columns are up to 20 % faster, between 1 and 2 there is no difference. Between layers:
// the speed-up of two threads over one rose from 1.3 to 1.6 on ViT when its products went by rows and a
// thread's blocks were joined, on a busy machine.)
bool DivideColumns(const GridSides& sides, std::span<const double> speeds) {
  const bool columns = sides.column_bytes > 2 * sides.row_bytes;
  const double own = Excess(columns ? sides.columns : sides.rows, speeds),
               other = Excess(columns ? sides.rows : sides.columns, speeds);
  return columns != (own > other + kUneven);
}

}  // namespace

Range Grid::Rows(int64_t row_block) const {
  const int64_t steps = CeilDiv(rows, row_step);
  return {std::min(rows, steps * row_block / row_blocks * row_step),
          std::min(rows, steps * (row_block + 1) / row_blocks * row_step)};
}

Range Grid::Columns(int64_t column_block) const {
  return {columns * column_block / column_blocks, columns * (column_block + 1) / column_blocks};
}

Grid MakeGrid(const GridSides& sides, std::span<const double> speeds, bool other_side) {
  Grid grid{sides.rows, sides.row_step, sides.columns, 1, 1, false};
  const int64_t threads = std::ssize(speeds);
  if (threads <= 1) return grid;
  grid.columns_outer = DivideColumns(sides, speeds) != other_side;
  // Where there are too few tiles of rows to be even, single rows are divided instead of tiles, if each
  // thread gets at least a tile of rows: 16 rows with tiles of 6 are divided into 8 and 8, not into 12 and 4.
  const int64_t tiles = CeilDiv(sides.rows, sides.row_step);
  const bool uneven =
      (1 + Excess(tiles, speeds)) * double(tiles * sides.row_step) > (1 + kUnevenTiles) * double(sides.rows);
  if (!grid.columns_outer && uneven && (sides.columns == 1 || sides.rows >= threads * sides.row_step))
    grid.row_step = 1;
  const int64_t wanted = threads * kBlocksPerThread, steps = CeilDiv(sides.rows, grid.row_step);
  int64_t& outer = grid.columns_outer ? grid.column_blocks : grid.row_blocks;
  int64_t& inner = grid.columns_outer ? grid.row_blocks : grid.column_blocks;
  outer = std::min(grid.columns_outer ? sides.columns : steps, wanted);
  // A range that ends within the inner dimension is computed in two or three pieces, so the inner dimension
  // is divided only where the outer one is too coarse.
  if (outer < threads * kFine)
    inner =
        std::min(grid.columns_outer ? steps : sides.columns, CeilDiv(wanted, std::max<int64_t>(outer, 1)));
  return grid;
}

int64_t BlocksOf(int64_t units, int64_t least, int threads) {
  return threads <= 1
             ? 1
             : std::clamp<int64_t>(units / std::max<int64_t>(least, 1), 1, threads * kBlocksPerThread);
}

}  // namespace mete
