// A 1x1 convolution whose sums are added in pieces of given length (kSumPiece in graph/fused.h).
#include <fmt/format.h>

#include "kernels/fast/gemm/gemm.h"
#include "processor/cpu/families.h"

namespace mete {
namespace {

class ConvPiecesStep : public Prepared {
 public:
  ConvPiecesStep(const Graph& graph, const Node& node, Pool& pool) : pool_(pool) {
    const Shape& w = graph.value(node.inputs[1]).shape;
    n_ = w[0], k_ = w[1];
    rows_ = graph.value(node.outputs[0]).shape.Elements() / n_;
    if (node.input(2) != kNoValue) bias_ = graph.value(node.inputs[2]).constant.as<float>();
    const int64_t piece = node.attributes.Int(kSumPiece, k_);
    for (int64_t k = 0; k < k_; k += piece) AddPiece(graph.value(node.inputs[1]).constant.as<float>(), {k, std::min(k_, k + piece)});
    grid_ = MakeGrid(rows_, pieces_[0].plan.row_step, 1, 1, 0, pool.threads());
    if (pieces_.size() > 1) sums_ = Tensor(DType::kF32, Shape{rows_, n_});
  }

  void Execute(std::span<const ConstView> in, std::span<View> out) override {
    pool_.For(grid_.blocks(), [&](int, int64_t begin, int64_t end) {
      for (int64_t b = begin; b < end; ++b) RunRows(in[0].as<float>(), grid_.Rows(b), out[0].as<float>());
    });
  }

  std::string kernel() const override { return fmt::format("conv_pieces_f32 {}", TargetOf(pieces_[0].plan)); }
  std::string reason() const override { return "the order of its sums is given"; }
  int64_t packed_bytes() const override {
    int64_t bytes = 0;
    for (const Piece& p : pieces_) bytes += int64_t(p.packed.bytes());
    return bytes;
  }

 private:
  struct Piece {
    Range k;
    GemmPlan plan;
    Tensor packed;
  };

  void AddPiece(const float* weights, Range k) {
    Piece piece{k, PlanGemm(n_, k.size()), {}};
    piece.packed = Tensor(DType::kU8, Shape{int64_t(PackedGemmBytes(piece.plan))});
    PackGemm(piece.plan, weights + k.begin, k_, true, 1, {0, piece.plan.panels}, piece.packed.mutable_view().as<float>());
    pieces_.push_back(std::move(piece));
  }

  // The pieces' sums go back and forth between `out` and sums_, so that the last one ends in `out`.
  void RunRows(const float* x, Range rows, float* out) {
    float* to = pieces_.size() % 2 ? out : sums_.mutable_view().as<float>();
    float* other = pieces_.size() % 2 ? sums_.mutable_view().as<float>() : out;
    for (const Piece& p : pieces_) {
      Epilogue epilogue;
      if (p.k.begin > 0) epilogue.residual = other;
      RunGemm(p.plan, x + p.k.begin, k_, p.packed.as<float>(), epilogue, rows, {0, p.plan.panels}, to, n_);
      std::swap(to, other);
    }
    if (!bias_) return;
    for (int64_t r = rows.begin; r < rows.end; ++r)
      for (int64_t c = 0; c < n_; ++c) out[r * n_ + c] += bias_[c];
  }

  Pool& pool_;
  int64_t n_ = 0, k_ = 0, rows_ = 0;
  const float* bias_ = nullptr;
  std::vector<Piece> pieces_;
  Grid grid_;
  Tensor sums_;
};

}  // namespace

std::unique_ptr<Prepared> PrepareConvPieces(const Graph& graph, const Node& node, Pool& pool) {
  return std::make_unique<ConvPiecesStep>(graph, node, pool);
}

}  // namespace mete
