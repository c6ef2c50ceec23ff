#include <algorithm>
#include <array>

#include "base/fused.h"
#include "base/matmul_view.h"
#include "dispatch/activations.h"
#include "processor/opencl/share/elementwise.h"
#include "processor/opencl/share/families.h"
#include "processor/opencl/share/implicit_product.h"

namespace mete::opencl {
namespace {

// Matrices within an array: the elements from one row, column and batch index to the next.
struct Matrices {
  Array array;
  int64_t row = 0, column = 0;
  std::vector<int64_t> batch;
};

// y[m x n] = activation(scale * a[m x k] b[k x n] + bias + added), for each index of `extents`.
struct Matmul {
  std::vector<int64_t> extents;
  int64_t m = 1, n = 1, k = 1;
  Matrices a, b, y;
  float scale = 1;
  std::optional<Array> bias;  // n values
  struct Term {
    Array array;  // is broadcast to y, whose matrices lie one after the other
    float factor = 1;
  };
  std::vector<Term> added;
  Activation activation;

  int64_t batch() const {
    int64_t count = 1;
    for (int64_t extent : extents) count *= extent;
    return count;
  }
  bool SharesB() const {
    for (size_t i = 0; i < extents.size(); ++i)
      if (extents[i] != 1 && b.batch[i] != 0) return false;
    return true;
  }
};

// Returns whether the matrices lie one after the other, `matrix` elements apart.
bool AreInLine(const Matrices& of, const std::vector<int64_t>& extents, int64_t matrix) {
  for (size_t i = extents.size(); i-- > 0; matrix *= extents[i])
    if (extents[i] != 1 && of.batch[i] != matrix) return false;
  return true;
}

// Returns the elements from one matrix to the next where that is the same for all; -1 where it is not.
int64_t StepOf(const Matrices& of, const std::vector<int64_t>& extents) {
  int64_t step = -1;
  for (size_t i = extents.size(); i-- > 0;)
    if (extents[i] != 1 && step < 0) step = of.batch[i];
  if (step < 0) return 0;  // one matrix
  return AreInLine(of, extents, step) ? step : -1;
}

// The copy between matrices and the same one after the other, each of rows x columns.
MapSpec CopyOf(const Matrices& of, const std::vector<int64_t>& extents, int64_t rows, int64_t columns) {
  MapSpec spec{.sizes = extents, .inputs = {{.strides = of.batch}}, .output = {}, .program = {}};
  spec.sizes.insert(spec.sizes.end(), {rows, columns});
  spec.inputs[0].strides.insert(spec.inputs[0].strides.end(), {of.row, of.column});
  spec.output.strides = DenseStrides(Shape(spec.sizes));
  return spec;
}

// Writes the matrices one after the other.
void Align(Lowering& to, Matrices& of, const std::vector<int64_t>& extents, int64_t rows, int64_t columns) {
  const MapSpec spec = CopyOf(of, extents, rows, columns);
  const Array dense = to.Derived(of.array, of.array.type, Shape(spec.sizes));
  to.Move(of.array, dense, spec);
  of.array = dense;
  of.row = columns;
  of.column = 1;
  of.batch.assign(spec.output.strides.begin(), spec.output.strides.end() - 2);
}

// Returns what is added to `like`, as one array of its form and type; nothing if there is nothing.
std::optional<Array> SumOf(Lowering& to, const std::vector<Matmul::Term>& added, const Array& like) {
  if (added.empty()) return std::nullopt;
  const bool as_it_is = added.size() == 1 && added[0].factor == 1 && added[0].array.shape == like.shape;
  if (as_it_is) return to.As(added[0].array, like.type);
  std::vector<Array> inputs;
  FusedProgram program{.inputs = int(2 * added.size()), .steps = 0, .step = {}};
  for (const Matmul::Term& term : added) {
    inputs.push_back(term.array);
    inputs.push_back(to.Constant(Tensor::Floats({}, {&term.factor, 1})));
  }
  for (int i = 0; i < int(added.size()); ++i) {
    program.step[size_t(program.steps++)] = {{FusedOp::kMul}, {2 * i, 2 * i + 1, -1}};
    if (i == 0) continue;
    const int last = program.inputs + program.steps - 1;
    program.step[size_t(program.steps++)] = {{FusedOp::kAdd}, {last - 1, last, -1}};
  }
  const Array sum = to.Temporary(like.type, like.shape);
  LowerProgram(to, program, inputs, sum);
  return sum;
}

void LowerMatmul(Lowering& to, Matmul p) {
  const bool shares = p.SharesB();
  const auto fits = [&](const Matrices& of) {  // as the images of a convolution
    const bool lie_apart = !shares && StepOf(of, p.extents) > 0;
    return of.column == 1 && (lie_apart || AreInLine(of, p.extents, p.m * of.row));
  };
  if (!fits(p.a)) Align(to, p.a, p.extents, p.m, p.k);
  if (!shares && StepOf(p.b, p.extents) < 0) Align(to, p.b, p.extents, p.k, p.n);
  Matrices y = p.y;
  const bool in_place = fits(y);
  if (!in_place) {
    y.array = to.Temporary(p.y.array.type, {p.batch(), p.m, p.n});
    y.row = p.n;
  }
  ConvSpec spec{.shape = SizedProduct(shares ? 1 : p.batch(), shares ? p.batch() * p.m : p.m, p.n, p.k),
                .activation = p.activation,
                .scale = p.scale,
                .weights_per_image = !shares};
  spec.shape.in_pixel_stride = p.a.row;
  spec.shape.out_pixel_stride = y.row;
  if (!AreInLine(p.a, p.extents, p.m * p.a.row)) spec.input_image = StepOf(p.a, p.extents);
  if (in_place && !AreInLine(y, p.extents, p.m * y.row)) spec.output_image = StepOf(y, p.extents);
  const PackSource source{
      .image = shares ? 0 : StepOf(p.b, p.extents), .output = p.b.column, .channel = p.b.row};
  LowerImplicitProduct(to, spec, source,
                       {p.a.array, p.b.array, y.array, p.bias, SumOf(to, p.added, p.y.array)});
  if (in_place) return;
  const MapSpec back = CopyOf(p.y, p.extents, p.m, p.n);
  to.Move(y.array, p.y.array,
          {.sizes = back.sizes, .inputs = {back.output}, .output = back.inputs[0], .program = {}});
}

// Returns the elements from one matrix to the next along each of `rank` batch dimensions; 0 where all see the
// same.
std::vector<int64_t> BatchSteps(const Shape& shape, size_t rank) {
  std::vector<int64_t> steps(rank, 0);
  const std::vector<int64_t> dense = DenseStrides(shape);
  const int own = shape.rank() - 2;
  for (int i = 0; i < own; ++i)
    if (shape[i] != 1) steps[rank - size_t(own) + size_t(i)] = dense[size_t(i)];
  return steps;
}

// Adds a bias or another term: what is constant, or comes with weights that change, goes with the weights.
void AddTerm(Lowering& to, Matmul& p, const Array& term, float factor) {
  const bool is_row = term.elements() == p.n && term.shape.rank() > 0 && term.shape.back() == p.n;
  if (!p.bias && is_row && factor == 1 && (to.IsConstant(term) || !to.IsConstant(p.b.array)))
    p.bias = to.As(term, DType::kF32);
  else p.added.push_back({term, factor});
}

Matmul OfGemm(Lowering& to, const Node& node) {
  const Attributes& attributes = node.attributes;
  const bool turn_a = attributes.Int("transA", 0) != 0, turn_b = attributes.Int("transB", 0) != 0;
  Matmul p;
  p.a.array = to.Of(node.inputs[0]);
  p.b.array = to.Of(node.inputs[1]);
  p.y.array = to.Of(node.outputs[0]);
  const Shape &a = p.a.array.shape, &b = p.b.array.shape;
  p.m = a[turn_a ? 1 : 0];
  p.k = a[turn_a ? 0 : 1];
  p.n = b[turn_b ? 0 : 1];
  p.a.row = turn_a ? 1 : p.k;
  p.a.column = turn_a ? p.m : 1;
  p.b.row = turn_b ? 1 : p.n;
  p.b.column = turn_b ? p.k : 1;
  p.y.row = p.n;
  p.y.column = 1;
  p.scale = attributes.Float("alpha", 1);
  const float beta = attributes.Float("beta", 1);
  if (node.input(2) != kNoValue && beta != 0) AddTerm(to, p, to.Of(node.inputs[2]), beta);
  return p;
}

Matmul OfMatMul(Lowering& to, const Node& node) {
  Matmul p;
  p.a.array = to.Of(node.inputs[0]);
  p.b.array = to.Of(node.inputs[1]);
  p.y.array = to.Of(node.outputs[0]);
  Shape a = p.a.array.shape, b = p.b.array.shape;
  if (a.rank() == 1) a = {1, a[0]};
  if (b.rank() == 1) b = {b[0], 1};
  p.m = a[a.rank() - 2];
  p.k = a.back();
  p.n = b.back();
  const size_t rank = size_t(std::max(a.rank(), b.rank())) - 2;
  p.a = {p.a.array, p.k, 1, BatchSteps(a, rank)};
  p.b = {p.b.array, p.n, 1, BatchSteps(b, rank)};
  p.y = {p.y.array, p.n, 1, std::vector<int64_t>(rank, 0)};
  int64_t step = p.m * p.n;
  p.extents.assign(rank, 1);
  for (size_t i = rank; i-- > 0; step *= p.extents[i]) {
    const int in_a = a.rank() - 2 - int(rank - i), in_b = b.rank() - 2 - int(rank - i);
    p.extents[i] = std::max(in_a >= 0 ? a[in_a] : 1, in_b >= 0 ? b[in_b] : 1);
    p.y.batch[i] = step;
  }
  if (node.input(2) != kNoValue) AddTerm(to, p, to.Of(node.inputs[2]), 1);
  return p;
}

Matmul OfView(Lowering& to, const Node& node, const MatMulView& view) {
  Matmul p;
  p.m = view.m;
  p.n = view.n;
  p.k = view.k;
  p.a = {to.Of(node.inputs[0]), view.a_row, view.a_column, {}};
  p.b = {to.Of(node.inputs[1]), view.b_row, view.b_column, {}};
  p.y = {to.Of(node.outputs[0]), view.y_row, view.y_column, {}};
  for (const MatMulView::Axis& axis : view.axes) {
    p.extents.push_back(axis.extent);
    p.a.batch.push_back(axis.step.a);
    p.b.batch.push_back(axis.step.b);
    p.y.batch.push_back(axis.step.y);
  }
  p.scale = view.scale;
  return p;
}

}  // namespace

std::string LowerProduct(Lowering& to, const Node& node) {
  if (!AreF32(to.graph(), node, {0, 1})) return "not f32";
  if (!FastActivation(node)) return "the activation has no text";
  Matmul p;
  if (node.op == "mete.MatMul") {
    MatMulView view;
    if (std::string problem = ParseMatMulView(node.attributes, to.value(node.inputs[0]).shape,
                                              to.value(node.inputs[1]).shape, view);
        !problem.empty())
      return problem;
    p = OfView(to, node, view);
  } else {
    p = node.op == "Gemm" ? OfGemm(to, node) : OfMatMul(to, node);
  }
  p.activation = *FastActivation(node);
  if (node.attributes.Has("residual")) p.added.push_back({to.Of(node.inputs[3]), 1});
  LowerMatmul(to, std::move(p));
  return "";
}

}  // namespace mete::opencl
