#include "costs/work.h"

#include <algorithm>
#include <bit>
#include <string>
#include <vector>

#include "costs/amounts.h"
#include "costs/bytes_since.h"
#include "costs/conv_work.h"
#include "dispatch/dispatch.h"
#include "graph/flops.h"
#include "graph/traits.h"
#include "kernels/fast/gemm/gemm.h"

namespace mete {
namespace {

// The regime of a product without a constant operand.
constexpr const char* kBothComputed = "both computed";

// A vector-matrix product reads its weights once, in the order of the model. They are prefetched so far ahead
// that the cache that has them is assumed to make no difference. This is a guess.
Work VectorWork(const NodeInRun& at, const Product& p, bool constant) {
  const double n = double(p.n), k = double(p.k);
  Amounts a(at, p.kernel());
  a.Add("byte of weights", kFloatBytes * n * k);
  if (constant) a.AddWeightsFromMemory(kFloatBytes * n * k);
  a.Add("output", n);
  a.AddEpilogue(kFloatBytes * n);
  return a.Take();
}

Work MatrixWork(const NodeInRun& at, const Product& p) {
  const Node& node = at.node;
  const bool constant = IsConstant(at.graph, node.inputs[1]);
  const double m = double(p.m), n = double(p.n), k = double(p.k), batch = double(p.batch);
  if (p.is_vector()) return VectorWork(at, p, constant);
  const GemmPlan plan = PlanGemm(p.n, p.k);
  Amounts a(at, p.kernel(), constant ? "" : kBothComputed);
  a.AddTiles(plan.split, batch, m, double(plan.row_step), double(plan.steps));
  const double weights = kFloatBytes * k * double(plan.packed_columns()), out = kFloatBytes * batch * m * n;
  if (constant) {
    a.AddWeights(weights, m);
    a.AddColdWeights(plan.split, weights, m, double(plan.row_step), k);
  } else {
    a.Add(p.transposed ? "byte packed across rows" : "byte packed", kFloatBytes * n * k * batch);
    a.Add("product", batch);
  }
  a.AddData(node.inputs[0], kFloatBytes * batch * m * k, out, k >= double(kShortSum));
  a.AddEpilogue(out);
  return a.Take();
}

// The products as convolutions, and B as it is packed in each run.
Work HalfProductWork(const NodeInRun& at, const Product& p) {
  const double copies = p.b_step == 0 ? 1 : double(p.batch);
  Work work = HalfConvWork(at, AsConvolution(p), p.operands, double(p.batch));
  if (PacksOnce(p)) return work;
  work.amounts[p.transposed ? "byte packed across rows" : "byte packed"] +=
      kFloatBytes * double(p.n * p.k) * copies;
  work.regime = kBothComputed;
  work.stand_in = p.kernel() + ", " + kBothComputed;
  return work;
}

// A product with weights of fewer bits: for each row the time of one in f32 that reads as many bytes.
Work FewBitsWork(const NodeInRun& at, const Product& p, int bits) {
  Product row = p;
  row.m = 1;
  row.few_bits = 0;
  Work work = VectorWork(at, row, p.constant);
  for (auto& [unit, amount] : work.amounts) {
    if (unit.starts_with("byte of weights")) amount *= double(bits) / (8 * kFloatBytes);
    // Further rows read what the first one has brought into a cache.
    if (unit != "byte of weights, from memory") amount *= double(p.m);
  }
  work.stand_in = work.key();
  work.kernel = p.kernels().back();
  return work;
}

double BytesOf(const Value& value) { return double(value.shape.Elements()) * double(SizeOf(value.type)); }

const Value& InputOf(const NodeInRun& at) { return at.graph.value(at.node.inputs[0]); }

// Returns the first output that is wanted; null if there is none.
const Value* OutputOf(const NodeInRun& at) {
  const std::vector<ValueId>& outputs = at.node.outputs;
  const auto first = std::find_if(outputs.begin(), outputs.end(), [](ValueId id) { return id != kNoValue; });
  return first == outputs.end() ? nullptr : &at.graph.value(*first);
}

// A pooling reads a vector of channels for each tap of each output pixel; a global pooling writes one pixel
// and has no window.
Work PoolWork(const NodeInRun& at, int64_t lanes, const ConvShape* window) {
  const Value &in = InputOf(at), &out = *OutputOf(at);
  Amounts a(at, at.node.op);
  const double channels = double(in.shape.back()), vectors = CeilDiv(channels, double(lanes));
  if (!window) {
    a.Add("vector x tap", vectors * double(in.shape.Elements()) / channels);
    a.AddData(at.node.inputs[0], BytesOf(in), 0);
    return a.Take();
  }
  const double taps = double(window->kernel_height * window->kernel_width);
  const double pixels = double(out.shape.Elements()) / channels;
  a.Add("vector x tap", pixels * vectors * taps);
  a.Add("pixel", pixels);
  a.AddData(at.node.inputs[0], BytesOf(in), BytesOf(out));
  return a.Take();
}

// The maxima of a window's columns come first, in vectors of all bytes of a row, then those of their rows in
// vectors of channels, which are the widest that the channels fill, from 8 channels on.
Work ByteMaxWork(const NodeInRun& at, const ConvShape& window, int64_t lanes) {
  const Value &in = InputOf(at), &out = *OutputOf(at);
  constexpr int64_t kNarrowest = 8;  // fewer channels are computed one by one (byte_pool.cc)
  const int64_t channels = in.shape.back();
  const int64_t filled =
      channels < kNarrowest ? 1 : int64_t(std::bit_floor(uint64_t(std::min(channels, lanes))));
  const double pixels = double(out.shape.Elements() / channels),
               rows = double(window.batch * window.out_height * window.kernel_height);
  Amounts a(at, at.node.op, "of bytes");
  a.Add("vector of a row", rows * CeilDiv(double(window.in_width * channels), double(lanes)));
  a.Add("vector x column", pixels * CeilDiv(double(channels), double(filled)) * double(window.kernel_width));
  a.Add("pixel", pixels);
  a.AddData(at.node.inputs[0], BytesOf(in), BytesOf(out));
  return a.Take();
}

// The units depend on how processor/cpu transposes the tensor: rows that are copied unchanged, matrices with
// few rows or columns, which kernels/fast/layout interleaves (Few), and larger matrices in tiles.
Work TransposeWork(const NodeInRun& at, const Transposition& t) {
  constexpr int64_t kFew = 4;
  const bool matrices = t.way == TransposeWay::kMatrices,
             few = matrices && std::min(t.rows(), t.columns()) <= kFew;
  Amounts a(at, at.node.op, few ? "of few columns" : matrices ? "in tiles" : "in rows");
  if (matrices) a.Add("matrix", double(t.matrices()));
  a.AddData(at.node.inputs[0], BytesOf(InputOf(at)), BytesOf(*OutputOf(at)));
  Work work = a.Take();
  if (at.node.op != "Transpose") work.stand_in = "Transpose, " + work.regime;  // blocks, moved as a Transpose
  return work;
}

// Both forms of a GRU have the same operator, and each precision has units of its own.
std::string RecurrentRegime(const Recurrence& r, Precision precision) {
  const std::string form = r.cell == RecurrentCell::kGruResetFirst ? "reset gate first" : "";
  if (precision == Precision::kF32) return form;
  return form + (form.empty() ? "" : " ") + Name(precision);
}

// A recurrent node reads its recurrent weights in each step, from the cache that has them. The time of a step
// has a part that does not depend on its size, and a GRU whose reset gate comes first has two such steps for
// one. The probes have LSTMs, whose units GRUs and RNNs share. Packing computed weights in each run is left
// out: it takes about the time of one step.
Work RecurrentWork(const NodeInRun& at, const Recurrence& r) {
  const double steps = double(r.directions * r.length), columns = double(GatesOf(r.cell) * r.hidden),
               rows = steps * double(r.batch);
  const RecurrentPrecisions precisions = PrecisionsOf(r);
  Amounts a(at, at.node.op, RecurrentRegime(r, precisions.lower()));
  a.Add("multiply-add of inputs", rows * columns * double(r.inputs));
  a.AddNearFar("multiply-add of states", rows * columns * double(r.hidden),
               double(BitsOf(precisions.states)) / 8 * columns * double(r.hidden));
  a.Add("gate", rows * columns);
  a.Add("step", r.cell == RecurrentCell::kGruResetFirst ? 2 * steps : steps);
  Work work = a.Take();
  if (work.key() != "LSTM") work.stand_in = "LSTM";
  return work;
}

// The time of any other node depends on its operator and on the bytes that it reads and writes.
Work AnyWork(const NodeInRun& at, const std::string& regime = "") {
  const double bytes = double(BytesMoved(at.graph, at.node));
  Amounts a(at, at.node.op, regime);
  a.AddNearFar("byte", bytes, bytes);
  a.Add(kOutputs, double(OutputOf(at)->shape.Elements()));
  if (ArithmeticOf(at.node.op) == Arithmetic::kRecurrent)
    a.Add("multiply-add", double(Flops(at.graph, at.node)) / 2);
  return a.Take();
}

bool IsEmpty(const Graph& graph, const Node& node) {
  const auto empty = [&](ValueId id) { return id != kNoValue && graph.value(id).shape.Elements() == 0; };
  return empty(node.input(0)) || empty(node.input(1)) || empty(node.outputs[0]);
}

// Counts the work of each type of kernel.
struct Counter {
  const NodeInRun& at;

  static constexpr int64_t kBytesOfLane = 4;
  static int64_t Lanes() { return int64_t(PlanGemm(1, 1).split.lanes()); }

  std::vector<Work> operator()(const Convolution& conv) const { return ConvWorks(at, conv); }
  std::vector<Work> operator()(const TransposedConvolution& conv) const {
    return {TransposedConvWork(at, conv)};
  }
  std::vector<Work> operator()(const QuantizedConvolution& conv) const {
    return QuantizedConvWorks(at, conv);
  }
  std::vector<Work> operator()(const Product& product) const {
    if (product.few_bits != 0) return {FewBitsWork(at, product, product.few_bits)};
    switch (PrecisionOf(product)) {
      case Precision::kF32: return {MatrixWork(at, product)};
      case Precision::kBf16:
      case Precision::kF16: return {HalfProductWork(at, product)};
      case Precision::kW8: return {FewBitsWork(at, product, 8)};
      case Precision::kW4: return {FewBitsWork(at, product, 4)};
      case Precision::kI32: break;  // of bytes alone
    }
    return {};
  }
  std::vector<Work> operator()(const Pooling& p) const {
    return {PoolWork(at, Lanes(), p.whole_image ? nullptr : &p.shape.window)};
  }
  // An average widens bytes to numbers of 32 bits.
  std::vector<Work> operator()(const BytePooling& p) const {
    if (p.kind == BytePooling::Kind::kMax) return {ByteMaxWork(at, p.shape.window, Lanes() * kBytesOfLane)};
    const bool global = p.kind == BytePooling::Kind::kGlobalAverage;
    return {PoolWork(at, Lanes(), global ? nullptr : &p.shape.window)};
  }
  std::vector<Work> operator()(const Transposition& t) const { return {TransposeWork(at, t)}; }
  std::vector<Work> operator()(const Recurrence& r) const { return {RecurrentWork(at, r)}; }
  template <class Kernel>
  std::vector<Work> operator()(const Kernel&) const {
    return {AnyWork(at)};
  }
};

}  // namespace

RepeatedRun RunOf(const Graph& graph) { return {BytesOfRun(graph), OptionsFor(graph)}; }

bool IsProduct(const Node& node) {
  const Arithmetic arithmetic = ArithmeticOf(node.op);
  return arithmetic == Arithmetic::kConvolution || arithmetic == Arithmetic::kTransposedConvolution ||
         arithmetic == Arithmetic::kMatrix;
}

std::vector<Work> WorksOf(const NodeInRun& at) {
  const Node& node = at.node;
  if (IsViewOperator(node.op) || BytesMoved(at.graph, node) <= 0 || !OutputOf(at)) return {};
  if (IsProduct(node) && IsEmpty(at.graph, node)) return {};
  std::string why;
  const auto fast = FastKernelOf(at.graph, node, at.run.dispatch, &why);
  if (!fast) return {AnyWork(at, FamilyOf(node.op) ? kReferenceRegime : "")};
  return std::visit(Counter{at}, *fast);
}

}  // namespace mete
