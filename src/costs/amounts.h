// Adds up the amounts of one Work (work.h): those that several kernels have in common.
#pragma once

#include <cstdint>
#include <string>

#include "costs/work.h"
#include "graph/graph.h"
#include "kernels/fast/tile/panels.h"

namespace mete {

constexpr double kFloatBytes = sizeof(float);

double CeilDiv(double a, double b);  // of whole numbers

// How much of so many bytes does not stay in a cache. It holds other things too, so that it begins to be too
// small before it is full: at a share of `full`.
double Beyond(double bytes, double cache, double full);

// The share of vectors that lie across two cache lines, of rows of so many values one after the other.
double ShareAcross(int64_t values, int64_t lanes);

class Amounts {
 public:
  // `at` must live as long.
  Amounts(const NodeInRun& at, std::string kernel, std::string regime = "");

  void Add(const std::string& what, double amount);  // nothing where it is none

  // Of what passes `volume` bytes through the caches: what no longer fits near costs more.
  void AddNearFar(const std::string& what, double amount, double volume);

  // What is read of `id`, and what is written.
  void AddData(ValueId id, double in_bytes, double out_bytes, bool asked_for = true);

  // `rows` are multiplied by them at a time, `passes` times.
  void AddWeights(double bytes, double rows, double passes = 1);

  // Read once in a run, and so from memory where a run is more than what the last cache holds. Of `bytes`
  // that are packed: they count beside the run's constants, of which Winograd's are several times the bytes.
  void AddWeightsFromMemory(double bytes);

  // Tiles fetch the panel that follows theirs, each a vector of a row at most: what comes before all tiles,
  // and what few tiles leave out, nobody has asked for when it is needed.
  void AddColdWeights(const Panels& split, double bytes, double rows, double row_step, double k);

  void AddEpilogue(double out_bytes);

  // Products of `rows` rows with panels of those widths, each column a sum of k.
  void AddTiles(const Panels& split, double copies, double rows, double row_step, double k);

  // Bytes that pass between when `id` was last touched and when the node reads it, as far as it makes a
  // difference.
  double Since(ValueId id) const;

  Work Take();  // with the node itself; once

 private:
  // The share of so many bytes that is not near once they have passed, each time anew; of what was made so
  // many bytes ago.
  double FarPart(double bytes) const;
  double GonePart(double since) const;

  const NodeInRun& at_;
  Work work_;
};

}  // namespace mete
