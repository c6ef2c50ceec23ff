// Adds up the amounts of one Work (work.h) that several kernels have in common.
#pragma once

#include <cstdint>
#include <string>

#include "costs/work.h"
#include "graph/graph.h"
#include "kernels/fast/tile/panels.h"

namespace mete {

constexpr double kFloatBytes = sizeof(float);

// A tile prefetches the memory of its outputs only if its sum is at least this long (kLeastAhead of
// kernels/fast/tile).
constexpr int64_t kShortSum = 64;

double CeilDiv(double a, double b);  // for whole numbers

// Returns the share of `bytes` that does not stay in a cache of `cache` bytes: 0 up to the share `full` of
// the cache, 1 from its whole size on. The cache holds other data too, so that `full` is less than 1.
double Beyond(double bytes, double cache, double full);

// Returns the share of vectors that cross a cache line if rows of `values` values are stored one after
// another and a vector has `lanes` lanes.
double ShareAcross(int64_t values, int64_t lanes);

class Amounts {
 public:
  // `at` must live as long as this object.
  Amounts(const NodeInRun& at, std::string kernel, std::string regime = "");

  void Add(const std::string& what, double amount);  // ignores an amount of 0 or less

  // Adds `amount`, and as "far" the share of it that does not fit into the near cache if `volume` bytes pass
  // through the caches.
  void AddNearFar(const std::string& what, double amount, double volume);

  // Adds the bytes that are read from `id` and the bytes that are written.
  void AddData(ValueId id, double in_bytes, double out_bytes, bool asked_for = true);

  // Adds weights that are multiplied by `rows` rows at a time, in `passes` passes.
  void AddWeights(double bytes, double rows, double passes = 1);

  // Adds weights that are read once per run, and therefore from memory if a run moves more bytes than the
  // last cache holds. `bytes` are those of the packed weights. They are added to the bytes of the run,
  // because Winograd's packed weights are several times larger than the model's.
  void AddWeightsFromMemory(double bytes);

  // Adds the weights that were not prefetched. Each tile prefetches at most one vector per row of the next
  // panel. Therefore no tile has prefetched the first panel, and few tiles do not prefetch a whole panel.
  void AddColdWeights(const Panels& split, double bytes, double rows, double row_step, double k);

  void AddEpilogue(double out_bytes);

  // Adds products of `rows` rows with the panels of `split`; each output is a sum of `k` products.
  void AddTiles(const Panels& split, double copies, double rows, double row_step, double k);

  // Returns the bytes that pass through the caches from the last access to `id` until the node reads it. The
  // count stops where more bytes would not change the result.
  double Since(ValueId id) const;

  Work Take();  // adds the amount "node" and moves the Work out; may be called once

 private:
  // FarPart: the share of a block of `bytes` bytes that is not in the near cache when the block is read
  // again. GonePart: the share of a value that is no longer in the near cache after `since` other bytes.
  double FarPart(double bytes) const;
  double GonePart(double since) const;

  const NodeInRun& at_;
  Work work_;
};

}  // namespace mete
