#include "processor/cpu/prepare/conv_pieces.h"

#include <fmt/format.h>

#include "kernels/fast/gemm/gemm.h"
#include "processor/cpu/prepare/grid.h"

namespace mete {
namespace {

class ConvPiecesStep : public PreparedNode {
 public:
  ConvPiecesStep(const Convolution& conv, const Preparation& of)
      : pool_(of.pool()),
        name_(conv.kernels()[0]),
        n_(conv.shape.out_channels),
        k_(conv.shape.in_channels),
        rows_(conv.shape.out_pixels()) {
    const Node& node = of.node;
    if (node.input(2) != kNoValue) bias_ = of.graph.value(node.inputs[2]).constant.as<float>();
    const int64_t piece = conv.sum_piece;
    for (int64_t k = 0; k < k_; k += piece) AddPiece({k, std::min(k_, k + piece)});
    Pack(of.graph.value(node.inputs[1]).constant.as<float>(), piece, of.packer);
    grid_ = MakeGrid({rows_, pieces_[0].plan.row_step, 1, 1, 0}, pool_.step_speeds());
    if (pieces_.size() > 1) sums_ = Tensor(DType::kF32, Shape{rows_, n_});
  }

  void Execute(std::span<const ConstView> in, std::span<View> out) override {
    pool_.For(grid_.blocks(), [&](int, int64_t begin, int64_t end) {
      grid_.ForPieces(begin, end,
                      [&](Range rows, Range) { RunRows(in[0].as<float>(), rows, out[0].as<float>()); });
    });
  }

  std::string kernel() const override { return fmt::format("{} {}", name_, TargetOf(pieces_[0].plan)); }
  std::string reason() const override { return "the order of its sums is given"; }
  int64_t packed_bytes() const override { return int64_t(packed_.bytes()); }

 private:
  struct Piece {
    Range k;
    GemmPlan plan;
    int64_t packed;  // index of its first element in packed_
  };

  void AddPiece(Range k) {
    pieces_.push_back({k, PlanGemm(n_, k.size(), 0, SumOrder::kInOrder), elements_});
    elements_ += (int64_t(PackedGemmBytes(pieces_.back().plan)) + 63) / 64 * 16;
  }

  void Pack(const float* weights, int64_t piece, Packer& packer) {
    const int64_t panels = pieces_[0].plan.panels;  // all pieces have as many
    const std::string what = fmt::format("{}, {}x{} in pieces of {}, columns {}", kernel(), n_, k_, piece,
                                         pieces_[0].plan.split.padded_columns());
    packed_ = packer.Pack(what, std::span(weights, size_t(n_ * k_)), elements_ * int64_t{sizeof(float)},
                          int64_t(pieces_.size()) * panels, [&](Range all, float* packed) {
                            for (int64_t i = all.begin; i < all.end; ++i) {
                              const Piece& p = pieces_[size_t(i / panels)];
                              PackGemm(p.plan, {.b = weights + p.k.begin, .stride = k_, .transposed = true},
                                       {i % panels, i % panels + 1}, packed + p.packed);
                            }
                          });
  }

  // The sums of the pieces alternate between `out` and sums_, so that the last ones are in `out`.
  void RunRows(const float* x, Range rows, float* out) {
    float* to = pieces_.size() % 2 ? out : sums_.mutable_view().as<float>();
    float* other = pieces_.size() % 2 ? sums_.mutable_view().as<float>() : out;
    for (const Piece& p : pieces_) {
      Epilogue epilogue;
      if (p.k.begin > 0) epilogue.residual = other;
      RunGemm(p.plan, x + p.k.begin, k_, packed_.as<float>() + p.packed, epilogue, rows, {0, p.plan.panels},
              to, n_);
      std::swap(to, other);
    }
    if (!bias_) return;
    for (int64_t r = rows.begin; r < rows.end; ++r)
      for (int64_t c = 0; c < n_; ++c) out[r * n_ + c] += bias_[c];
  }

  ThreadPool& pool_;
  const std::string name_;
  const int64_t n_, k_, rows_;
  const float* bias_ = nullptr;
  std::vector<Piece> pieces_;
  int64_t elements_ = 0;  // of all packed pieces
  Tensor packed_;
  Grid grid_;
  Tensor sums_;
};

}  // namespace

std::unique_ptr<PreparedNode> PrepareConvPieces(const Convolution& conv, const Preparation& of) {
  return std::make_unique<ConvPiecesStep>(conv, of);
}

}  // namespace mete
