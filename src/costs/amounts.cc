#include "costs/amounts.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/fused.h"
#include "costs/bytes_since.h"
#include "kernels/fast/tile/tile.h"

namespace mete {
namespace {

// The number of rows for which multiplying a weight takes as long as fetching the next weight from the
// third-level cache. This value is a guess: of 16, 24 and 40, it fitted Winograd's products best.
constexpr double kHidingRows = 40;

// No cache drops exactly its oldest bytes, so that some of them stay until kGone times its size have passed.
// This value is a guess: values from 2 to 4 fitted equally well, and better than no such rule.
constexpr double kGone = 3;

// Other cores and other programs fill the last cache too. Inputs are no longer in it after kInputsKept times
// its size has passed, weights of the previous run after kWeightsKept times; both begin to leave it at the
// share kBeginsToGo of that. These values are guesses: for inputs, 6 to 16 MiB of 32 fitted about equally on
// the only processor tried, 8 best; for weights, of half to twice the cache, twice fitted best. They were
// tried before the bytes of views and tables were left out.
constexpr double kInputsKept = 0.25, kWeightsKept = 2, kBeginsToGo = 0.25;

bool IsFree(FusedOp op) {
  return op == FusedOp::kNone || op == FusedOp::kRelu || op == FusedOp::kClip || op == FusedOp::kLeakyRelu;
}

}  // namespace

double CeilDiv(double a, double b) { return double((int64_t(a) + int64_t(b) - 1) / int64_t(b)); }

double Beyond(double bytes, double cache, double full) {
  return std::clamp((bytes / cache - full) / (1 - full), 0.0, 1.0);
}

double ShareAcross(int64_t values, int64_t lanes) {
  return 1 - double(std::gcd(values, lanes)) / double(lanes);
}

Amounts::Amounts(const NodeInRun& at, std::string kernel, std::string regime) : at_(at) {
  work_.kernel = std::move(kernel);
  work_.regime = std::move(regime);
}

void Amounts::Add(const std::string& what, double amount) {
  if (amount > 0) work_.amounts[what] += amount;
}

void Amounts::AddNearFar(const std::string& what, double amount, double volume) {
  Add(what, amount);
  Add(what + ", far", amount * FarPart(volume));
}

double Amounts::Since(ValueId id) const {
  const double enough = std::max(kGone * at_.caches.near_bytes, kInputsKept * at_.caches.last_bytes);
  return BytesSince(at_.graph, at_.node, id, at_.run.bytes, enough);
}

void Amounts::AddData(ValueId id, double in_bytes, double out_bytes, bool asked_for) {
  const double since = Since(id), near = at_.caches.near_bytes, kept = kInputsKept * at_.caches.last_bytes;
  Add("byte read", in_bytes);
  Add("byte read, far", in_bytes * GonePart(since));
  Add("byte read, farther", in_bytes * std::clamp((since / near - 1) / (kGone - 1), 0.0, 1.0));
  Add("byte read, from memory", in_bytes * Beyond(since, kept, kBeginsToGo));
  AddNearFar(asked_for ? "byte written" : "byte written behind a short sum", out_bytes, in_bytes + out_bytes);
  Add("byte written, from memory", out_bytes * Beyond(in_bytes + out_bytes, kept, kBeginsToGo));
}

void Amounts::AddWeights(double bytes, double rows, double passes) {
  const double far = FarPart(bytes);
  Add("byte of weights", bytes);
  Add("byte of weights, far", passes * bytes * far);
  Add("byte of weights that rows wait for",
      bytes * (1 + (passes - 1) * far) * std::max(0.0, 1 - rows / kHidingRows));
  AddWeightsFromMemory(bytes);
}

void Amounts::AddWeightsFromMemory(double bytes) {
  const double run = at_.run.bytes + bytes;
  Add("byte of weights, from memory", bytes * Beyond(run, kWeightsKept * at_.caches.last_bytes, kBeginsToGo));
}

void Amounts::AddColdWeights(const Panels& split, double bytes, double rows, double row_step, double k) {
  int64_t widest = 0;
  for (int64_t p = 0; p < split.count(); ++p) widest = std::max(widest, split.Width(p));
  if (widest == 0) return;
  const double first =
      std::min(bytes, kFloatBytes * double(widest) * std::min(k, double(ChunkLength(widest))));
  const double vectors = double(widest / split.lanes()), tiles = CeilDiv(rows, row_step);
  Add("byte of weights that nobody asked for", first + (bytes - first) * std::max(0.0, 1 - tiles / vectors));
}

void Amounts::AddEpilogue(double out_bytes) {
  EpilogueSpec spec;
  if (!ParseEpilogue(at_.node.attributes, spec).empty()) return;
  if (spec.residual && at_.node.input(3) != kNoValue) {
    Add("byte of residual", out_bytes);
    Add("byte of residual, far", out_bytes * GonePart(Since(at_.node.inputs[3])));
  }
  if (!IsFree(spec.activation.op)) Add(std::string("byte through ") + Name(spec.activation.op), out_bytes);
}

void Amounts::AddTiles(const Panels& split, double copies, double rows, double row_step, double k) {
  const double strips = CeilDiv(rows, row_step);
  for (int64_t p = 0; p < split.count(); ++p)
    Add("row x column panel of " + std::to_string(split.Width(p)) + " x k", copies * rows * k);
  Add("strip of rows x panel x k", copies * strips * double(split.count()) * k);
  Add("strip of rows x panel", copies * strips * double(split.count()));
}

// The far share rises from 0 at 0.25 of the near cache to 1 at its size. These values are guesses: of 0.25 to
// 1, 0.5 to 1, 0.5 to 2 and a step at 1, they fitted depthwise convolutions best and other nodes equally.
double Amounts::FarPart(double bytes) const { return Beyond(bytes, at_.caches.near_bytes, 0.25); }

// `since` counts all bytes, so that the cache is nearly full before data leave it: the share rises from 0.75
// of the near cache. This value is a guess: of 0.25, 0.5, 0.75 and 0.9, it fitted depthwise convolutions
// best.
double Amounts::GonePart(double since) const { return Beyond(since, at_.caches.near_bytes, 0.75); }

Work Amounts::Take() {
  Add("node", 1);
  return std::move(work_);
}

}  // namespace mete
