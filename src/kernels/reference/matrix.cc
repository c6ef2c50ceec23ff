// Kernels of matrix products and Einsum. Floats of every size are summed in double, integers modulo 2^64. A
// is M x K and B is K x N.
#include <algorithm>
#include <cmath>

#include "base/einsum.h"
#include "base/matmul_view.h"
#include "kernels/reference/elementwise.h"
#include "kernels/reference/epilogue.h"
#include "kernels/reference/iterate.h"
#include "kernels/reference/matmul.h"
#include "kernels/reference/number.h"
#include "kernels/reference/reference.h"

namespace mete {
namespace {

// A matrix in memory with any steps between its elements, which also describes a transposed matrix.
template <class T>
struct Matrix {
  const T* data;
  int64_t row_step, column_step;
};

// Computes sums[0, N) = row m of A * B. The outer loop is over the rows of B, so that A and B are both read
// in order.
template <class T>
void RowTimesMatrix(const Matrix<T>& a, const Matrix<T>& b, int64_t m, int64_t n, int64_t k, Wide<T>* sums) {
  std::fill(sums, sums + n, Wide<T>(0));
  for (int64_t p = 0; p < k; ++p) {
    const Wide<T> factor = Wide<T>(Compute<T>(a.data[m * a.row_step + p * a.column_step]));
    const T* row = b.data + p * b.row_step;
    for (int64_t j = 0; j < n; ++j)
      sums[j] = WrapAdd(sums[j], WrapMul(factor, Wide<T>(Compute<T>(row[j * b.column_step]))));
  }
}

// Returns the output element for a sum. Floats pass through the epilogue; integers have no epilogue.
template <class T>
T Finished(const ReferenceEpilogue<T>& epilogue, Wide<T> sum, int64_t at) {
  if constexpr (kIsFloat<T>) return epilogue.Apply(sum, at);
  else return FromWide<T>(sum);
}

void MatMul(RefArgs& args) {
  const MatMulDims d(args.in[0].shape, args.in[1].shape);
  VisitNumeric(args.out[0].type, [&]<class T>() {
    const ReferenceEpilogue<T> epilogue(args);
    const T* bias = args.has(2) ? args.in[2].as<T>() : nullptr;
    Wide<T>* sums = args.scratch.Get<Wide<T>>(size_t(d.n));
    T* to = args.out[0].as<T>();
    int64_t at = 0;
    d.ForEachMatrix([&](int64_t at_a, int64_t at_b) {
      const Matrix<T> left{args.in[0].as<T>() + at_a, d.k, 1}, right{args.in[1].as<T>() + at_b, d.n, 1};
      for (int64_t row = 0; row < d.m; ++row) {
        RowTimesMatrix(left, right, row, d.n, d.k, sums);
        for (int64_t j = 0; j < d.n; ++j, ++at)
          to[at] = Finished(epilogue, bias ? WrapAdd(sums[j], Wide<T>(Compute<T>(bias[j]))) : sums[j], at);
      }
    });
  });
}

// Runs mete.MatMul, which reads and writes its tensors through permutations (graph/fused.h, section 8).
void MatMulOfViews(RefArgs& args) {
  MatMulView view;
  ParseMatMulView(args.attributes, args.in[0].shape, args.in[1].shape, view);
  double* sums = args.scratch.Get<double>(size_t(view.n));
  for (int64_t i = 0; i < view.batch; ++i) {
    const MatMulView::Product p = view.At(i);
    const Matrix<float> left{args.in[0].as<float>() + p.a, view.a_row, view.a_column},
        right{args.in[1].as<float>() + p.b, view.b_row, view.b_column};
    for (int64_t row = 0; row < view.m; ++row) {
      RowTimesMatrix(left, right, row, view.n, view.k, sums);
      float* to = args.out[0].as<float>() + p.y + row * view.y_row;
      for (int64_t j = 0; j < view.n; ++j) to[j * view.y_column] = float(double(view.scale) * sums[j]);
    }
  }
}

// Returns the element of alpha * A * B + beta * C. alpha and beta are floats even for integer matrices.
template <class T>
T Scaled(const ReferenceEpilogue<T>& epilogue, Wide<T> product, Wide<T> c, double alpha, double beta,
         int64_t at) {
  if constexpr (!kIsFloat<T>)
    if (alpha == 1 && beta == 1) return FromWide<T>(WrapAdd(product, c));
  const double value = alpha * double(product) + (beta == 0 ? 0 : beta * double(c));
  if constexpr (kIsFloat<T>) return epilogue.Apply(value, at);
  else return FromDouble<T>(value);
}

void Gemm(RefArgs& args) {
  const double alpha = args.attributes.Float("alpha", 1), beta = args.attributes.Float("beta", 1);
  const bool ta = args.attributes.Int("transA", 0) != 0, tb = args.attributes.Int("transB", 0) != 0;
  const Shape &a = args.in[0].shape, &b = args.in[1].shape, &out = args.out[0].shape;
  const int64_t m = out[0], n = out[1], k = a[ta ? 0 : 1];
  const Steps c_steps = args.has(2) ? BroadcastSteps(args.in[2].shape, out) : Steps{};
  VisitNumeric(args.out[0].type, [&]<class T>() {
    const Matrix<T> left{args.in[0].as<T>(), ta ? 1 : a[1], ta ? a[1] : 1},
        right{args.in[1].as<T>(), tb ? 1 : b[1], tb ? b[1] : 1};
    const ReferenceEpilogue<T> epilogue(args);
    const T* c = args.has(2) ? args.in[2].as<T>() : nullptr;
    Wide<T>* sums = args.scratch.Get<Wide<T>>(size_t(n));
    for (int64_t row = 0; row < m; ++row) {
      RowTimesMatrix(left, right, row, n, k, sums);
      for (int64_t j = 0; j < n; ++j) {
        const Wide<T> added = c ? Wide<T>(Compute<T>(c[row * c_steps[0] + j * c_steps[1]])) : Wide<T>(0);
        const int64_t at = row * n + j;
        args.out[0].as<T>()[at] = Scaled(epilogue, sums[j], added, alpha, beta, at);
      }
    }
  });
}

// Iterates over all combinations of some indices of an Einsum, like an odometer, and keeps every operand's
// offset.
class EinsumWalk {
 public:
  EinsumWalk(const Einsum& einsum, size_t first, size_t last)
      : einsum_(einsum), first_(first), last_(last), index_(last) {}

  // Calls f() for every combination. `offsets` follows the combination and at the end has its first values
  // again.
  template <class F>
  void Run(std::vector<int64_t>& offsets, F&& f) {
    for (size_t i = first_; i < last_; ++i)
      if (einsum_.extents[i] == 0) return;
    do f();
    while (Next(offsets));
  }

 private:
  bool Next(std::vector<int64_t>& offsets) {
    for (size_t i = last_; i-- > first_;) {
      const bool wraps = ++index_[i] == einsum_.extents[i];
      const int64_t moves = wraps ? 1 - einsum_.extents[i] : 1;
      for (size_t k = 0; k < offsets.size(); ++k) offsets[k] += moves * einsum_.steps[k][i];
      if (!wraps) return true;
      index_[i] = 0;
    }
    return false;
  }

  const Einsum& einsum_;
  size_t first_, last_;
  std::vector<int64_t> index_;
};

void RunEinsum(RefArgs& args) {
  std::vector<Shape> shapes;
  for (const ConstView& in : args.in) shapes.push_back(in.shape);
  const Einsum einsum("Einsum", args.attributes.String("equation", ""), shapes);
  EinsumWalk outer(einsum, 0, size_t(einsum.output_indices)),
      inner(einsum, size_t(einsum.output_indices), einsum.extents.size());
  std::vector<int64_t> offsets(args.in.size(), 0);
  VisitNumeric(args.out[0].type, [&]<class T>() {
    T* out = args.out[0].as<T>();
    outer.Run(offsets, [&] {
      Wide<T> sum = 0;
      inner.Run(offsets, [&] {
        Wide<T> product = 1;
        for (size_t k = 0; k < offsets.size(); ++k)
          product = WrapMul(product, Wide<T>(Compute<T>(args.in[k].as<T>()[offsets[k]])));
        sum = WrapAdd(sum, product);
      });
      *out++ = FromWide<T>(sum);
    });
  });
}

// Returns the determinant of a matrix of n rows, which it changes: the product of the diagonal that
// elimination leaves, with the largest element of each column brought there.
double Determinant(double* a, int64_t n) {
  double product = 1;
  for (int64_t k = 0; k < n; ++k) {
    int64_t pivot = k;
    for (int64_t i = k + 1; i < n; ++i)
      if (std::abs(a[i * n + k]) > std::abs(a[pivot * n + k])) pivot = i;
    if (pivot != k) {
      std::swap_ranges(a + k * n, a + (k + 1) * n, a + pivot * n);
      product = -product;
    }
    product *= a[k * n + k];
    if (a[k * n + k] == 0) return product;  // 0, with what was not a number before
    for (int64_t i = k + 1; i < n; ++i) {
      const double factor = a[i * n + k] / a[k * n + k];
      for (int64_t j = k; j < n; ++j) a[i * n + j] -= factor * a[k * n + j];
    }
  }
  return product;
}

void RunDet(RefArgs& args) {
  const ConstView& in = args.in[0];
  const int64_t n = in.shape.back();
  double* matrices = args.scratch.Get<double>(size_t(in.elements()));
  double* results = args.scratch.Get<double>(size_t(args.out[0].elements()));
  ReadDoubles(in, matrices);
  for (int64_t i = 0, count = args.out[0].elements(); i < count; ++i)
    results[i] = Determinant(matrices + i * n * n, n);
  WriteDoubles(results, args.out[0]);
}

constexpr RefEntry kMatrixEntries[] = {
    {"Det", RunDet},    {"Einsum", RunEinsum},          {"Gemm", Gemm},
    {"MatMul", MatMul}, {"mete.MatMul", MatMulOfViews},
};

}  // namespace

std::span<const RefEntry> MatrixReferences() { return kMatrixEntries; }

}  // namespace mete
