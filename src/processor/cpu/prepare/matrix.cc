// Gemm and MatMul.
#include <fmt/format.h>

#include "base/tensor_source.h"
#include "dispatch/activations.h"
#include "kernels/fast/gemm/gemm.h"
#include "kernels/fast/matvec/matvec.h"
#include "kernels/fast/target/target.h"
#include "processor/cpu/prepare/cluster_tiles.h"
#include "processor/cpu/prepare/few_bits.h"
#include "processor/cpu/prepare/half_product.h"
#include "processor/cpu/prepare/prepare.h"
#include "processor/cpu/prepare/grid.h"
#include "processor/cpu/prepare/weight_rows.h"

namespace mete {
namespace {

// With at least this number of products per thread, products are dealt out whole, and the worker that
// computes a product packs it; fewer products are divided. This value is a guess: three, those of ViT-Ti's
// heads, are too few for two threads.
constexpr int64_t kManyProducts = 4;

// How a product is computed.
struct MatrixWay {
  int64_t tile_vectors = 0;      // as in PlanGemm()
  std::vector<Tile> tiles = {};  // ClusterTiles::tiles
};

class MatrixStep : public PreparedNode {
 public:
  MatrixStep(const Graph& graph, const Node& node, const Product& product, const Epilogue& epilogue,
             const MatrixWay& way, Packer& packer)
      : pool_(packer.pool()),
        p_(product),
        way_(way),
        plan_(PlanGemm(product.n, product.k, way.tile_vectors)),
        plans_(plan_, way.tiles, pool_),
        epilogue_(epilogue),
        constant_(IsConstant(graph, node.inputs[1])) {
    if (p_.a_stride == 0) p_.a_stride = p_.k;
    if (p_.c_stride == 0) p_.c_stride = p_.n;
    matrices_ = p_.b_step == 0 ? 1 : p_.batch;
    packed_step_ = (int64_t(PackedGemmBytes(plan_)) + 63) / 64 * 16;
    const int64_t bytes = packed_step_ * matrices_ * int64_t{sizeof(float)};
    const bool many = p_.batch >= kManyProducts * pool_.step_threads();
    by_worker_ = !constant_ && p_.b_step != 0 && many;
    if (constant_) {
      const Tensor& b = graph.value(node.inputs[1]).constant;
      packed_ = packer.Pack(PackedAs(), b, bytes, matrices_ * plan_.panels,
                            [&](Range panels, float* packed) { PackConstant(b, panels, packed); });
      ReleasePagesOf(b);
    } else if (by_worker_) {
      pool_.ReserveScratch(packed_step_ * int64_t{sizeof(float)});
    } else {
      pool_.ReserveShared(bytes);
    }
    if (p_.bias != kNoValue) epilogue_.bias = graph.value(p_.bias).constant.as<float>();
    const std::span<const double> speeds = pool_.step_speeds();
    grid_ = MakeGrid({p_.m, plan_.row_step, p_.m * (p_.k + p_.n), plan_.panels, p_.n * p_.k},
                     many ? speeds.first(1) : speeds);
  }

  void Execute(std::span<const ConstView> in, std::span<View> out) override {
    const Operands of{in[0].as<float>(), in[1].as<float>(),
                      p_.residual < 0 ? nullptr : in[size_t(p_.residual)].as<float>(), out[0].as<float>()};
    if (!constant_ && !by_worker_) {
      float* packed = reinterpret_cast<float*>(pool_.shared());
      pool_.For(matrices_ * plan_.panels, [&](int, int64_t begin, int64_t end) {
        Pack(of.b, {begin, end}, packed);
      });
    }
    pool_.For(
        p_.batch * grid_.blocks(),
        [&](int w, int64_t begin, int64_t end) {
          for (int64_t b = begin, last; b < end; b = last) {
            const int64_t product = b / grid_.blocks(), first = product * grid_.blocks();
            last = std::min(end, first + grid_.blocks());
            grid_.ForPieces(b - first, last - first,
                            [&](Range rows, Range columns) { Block(w, product, rows, columns, of); });
          }
        },
        grid_.run());
  }

  // Returns microseconds, as FloatConv::MeasureUs.
  double MeasureUs(std::span<const ConstView> in, std::span<View> out, ColdWeights* cold) {
    if (cold && constant_) cold->Evict(packed_.view(), in[0]);
    return CallUs([&] { Execute(in, out); });
  }

  Reads reads(size_t input) const override {
    return constant_ && input == 1 ? Reads::kNothing : Reads::kElements;
  }
  std::string kernel() const override { return fmt::format("{} {}", p_.kernel(), TargetOf(plan_)); }
  std::string reason() const override {
    return constant_ ? why_ : why_ + (why_.empty() ? "" : "; ") + "B is packed at each run";
  }
  const MatrixWay& way() const { return way_; }
  void set_why(std::string why) { why_ = std::move(why); }
  int64_t packed_bytes() const override { return int64_t(packed_.bytes()); }

 private:
  struct Operands {
    const float *a, *b, *residual;
    float* c;
  };

  // Returns a text with all that Pack() depends on beside the weights.
  std::string PackedAs() const {
    std::string what =
        fmt::format("{}, {}x{}, rows {}{}, times {}, columns {}, matrices at", kernel(), p_.k, p_.n,
                    p_.b_stride, p_.transposed ? ", transposed" : "", p_.alpha, plan_.split.padded_columns());
    for (int64_t i = 0; i < matrices_; ++i) what += fmt::format(" {}", Place(i).b);
    return what;
  }

  // Returns where the matrices of product i begin.
  MatMulView::Product Place(int64_t i) const {
    return p_.view ? p_.view->At(i) : MatMulView::Product{i * p_.m * p_.k, i * p_.b_step, i * p_.m * p_.n};
  }

  // The same for a constant, of which it reads the columns of one panel at a time where it has a source.
  void PackConstant(const Tensor& b, Range panels, float* packed) const {
    if (!b.source()) return Pack(b.as<float>(), panels, packed);
    WeightRows rows(b);
    for (int64_t i = panels.begin; i < panels.end; ++i) {
      const int64_t matrix = i / plan_.panels, panel = i % plan_.panels, base = Place(matrix).b;
      const GemmWeights columns = ColumnsOf(rows, base, {nullptr, p_.b_stride, p_.transposed, p_.alpha}, p_.k,
                                            plan_.split.Columns(panel));
      PackGemm(plan_, columns, {panel, panel + 1}, packed + matrix * packed_step_);
    }
  }

  // Packs panels; the panels of all matrices are numbered one after the other.
  void Pack(const float* b, Range panels, float* packed) const {
    for (int64_t i = panels.begin; i < panels.end;) {
      const int64_t matrix = i / plan_.panels, first = i % plan_.panels,
                    last = std::min(plan_.panels, first + panels.end - i);
      PackMatrix(b, matrix, {first, last}, packed + matrix * packed_step_);
      i += last - first;
    }
  }

  void PackMatrix(const float* b, int64_t matrix, Range panels, float* to) const {
    PackGemm(plan_, {b + Place(matrix).b, p_.b_stride, p_.transposed, p_.alpha}, panels, to);
  }

  // Computes some rows and panels of one product on worker w. A worker that packs for itself then has all of
  // B in its cache.
  void Block(int w, int64_t batch, Range rows, Range panels, const Operands& of) {
    const MatMulView::Product at = Place(batch);
    Epilogue epilogue = epilogue_;
    if (of.residual) epilogue.residual = of.residual + at.y;
    float* own = by_worker_ ? reinterpret_cast<float*>(pool_.scratch(w)) : nullptr;
    if (own) PackMatrix(of.b, batch, {0, plan_.panels}, own);
    const float* all = constant_ ? packed_.as<float>() : reinterpret_cast<const float*>(pool_.shared());
    const float* packed = own ? own : all + (p_.b_step == 0 ? 0 : batch * packed_step_);
    RunGemm(plans_.of(w), of.a + at.a, p_.a_stride, packed, epilogue, rows, panels, of.c + at.y, p_.c_stride);
  }

  ThreadPool& pool_;
  Product p_;
  const MatrixWay way_;
  const GemmPlan plan_;                // for everything but the tile
  const WorkerPlans<GemmPlan> plans_;  // one per worker
  Epilogue epilogue_;
  const bool constant_;
  int64_t packed_step_ = 0;  // elements between packed matrices
  int64_t matrices_ = 1;
  bool by_worker_ = false;  // B is not constant, and each worker packs what it multiplies
  Tensor packed_;           // of a constant B
  Grid grid_;
  std::string why_;  // for people: why this tile
};

// The tensors on which a product is measured.
class Sample {
 public:
  Sample(const Product& p, bool constant)
      : a_(Ones(p.batch * p.m * p.k)),
        b_(Ones(constant ? 0 : p.k * p.n * (p.b_step == 0 ? 1 : p.batch))),
        c_(Ones(p.batch * p.m * p.n)),
        residual_(Ones(p.residual < 0 ? 0 : p.batch * p.m * p.n)) {
    in_[0] = a_.view();
    in_[1] = b_.view();
    if (p.residual >= 0) in_[size_t(p.residual)] = residual_.view();
  }

  std::span<const ConstView> in() const { return in_; }
  std::span<View> out() { return out_; }

 private:
  Tensor a_, b_, c_, residual_;
  std::array<ConstView, 4> in_;
  std::array<View, 1> out_{c_.mutable_view()};
};

std::unique_ptr<PreparedNode> PrepareProductAgain(const Graph& graph, const Node& node, const Product& p,
                                                  const Epilogue& epilogue, const KernelOptions& options,
                                                  const std::vector<int64_t>& widths, Packer& packer) {
  const auto* like = dynamic_cast<const MatrixStep*>(options.like);
  const bool fits = like && std::find(widths.begin(), widths.end(), like->way().tile_vectors) != widths.end();
  packer.pool().BeginStep(0);
  auto step = std::make_unique<MatrixStep>(graph, node, p, epilogue,
                                           fits ? like->way() : MatrixWay{widths[0]}, packer);
  step->set_why(fits ? "as for other shapes" : "");
  return step;
}

std::unique_ptr<PreparedNode> PrepareProduct(const Graph& graph, const Node& node, const Product& p,
                                             const Epilogue& epilogue, const KernelOptions& options,
                                             Packer& packer) {
  const std::vector<int64_t> widths = GemmTileWidths(p.n);
  if (options.again) return PrepareProductAgain(graph, node, p, epilogue, options, widths, packer);
  std::vector<std::string> names;
  for (int64_t width : widths) names.push_back(fmt::format("tile {}", width));
  const auto plan = [&](size_t i) { return PlanGemm(p.n, p.k, widths[i]); };
  const auto prepare = [&graph, &node, p, epilogue, widths](size_t i, const std::vector<Tile>& tiles,
                                                            Packer& with) {
    return std::make_unique<MatrixStep>(graph, node, p, epilogue, MatrixWay{widths[i], tiles}, with);
  };
  const bool constant = IsConstant(graph, node.inputs[1]);
  const std::string key = fmt::format(
      "gemm {} x {}x{}x{}, B {}{}{}, activation {}{}, {}, weights {}", p.batch, p.m, p.k, p.n,
      p.transposed ? "transposed" : "as it is", p.b_step == 0 ? "" : " each", constant ? " constant" : "",
      Name(epilogue.activation.op), p.residual < 0 ? p.view ? ", in views" : "" : ", residual",
      packer.pool().settings(), options.weights_from_memory ? "far" : "near");
  const auto sample = std::make_shared<std::optional<Sample>>();  // the same for all trials
  ThreadPool& pool = packer.pool();
  const auto trial = [=, &pool, cold = options.cold_weights()](size_t i,
                                                               const std::vector<Tile>& tiles) -> Trial {
    if (!*sample) sample->emplace(p, constant);
    Packer candidates(pool);  // stores no files
    const std::shared_ptr<MatrixStep> step = prepare(i, tiles, candidates);
    const auto call_us = [=, &pool, number = pool.NewStep(), threads = pool.step_threads()] {
      pool.BeginStep(number, threads);
      return step->MeasureUs((*sample)->in(), (*sample)->out(), cold);
    };
    call_us();
    return {call_us, step->packed_bytes()};
  };
  const ThreadPool::CallerPin pin(packer.pool());
  const Choice choice = Choose(options.tuner, key, names, [trial](size_t i) { return trial(i, {}); });
  const auto tile_trial = [trial, way = choice.index, clusters = size_t(pool.threads())](const Tile& tile) {
    return trial(way, std::vector<Tile>(clusters, tile));  // more than enough; only one cluster computes
  };
  const ClusterTiles tiles = ChooseTiles(options.tuner, fmt::format("{}, {}", key, names[choice.index]),
                                         plan(choice.index), p.m, packer.pool(), tile_trial);
  packer.pool().BeginStep(0);
  auto step = prepare(choice.index, tiles.tiles, packer);
  step->set_why(choice.why.empty() || tiles.why.empty() ? choice.why + tiles.why
                                                        : choice.why + "; " + tiles.why);
  return step;
}

// A product with one row of A. Each weight is read once, in the order of the model, so packing would gain
// nothing.
class VectorStep : public PreparedNode {
 public:
  VectorStep(const Graph& graph, const Product& product, const Epilogue& epilogue, WeightsPlace place,
             ThreadPool& pool)
      : pool_(pool), p_(product), epilogue_(epilogue), place_(place), target_(ActiveTarget()) {
    if (p_.bias != kNoValue) epilogue_.bias = graph.value(p_.bias).constant.as<float>();
    // This value is a guess: a block reads at least 64 KiB of weights.
    blocks_ = std::min(p_.n, BlocksOf(p_.n * p_.k * 4, 64 * 1024, pool.step_threads()));
  }

  void Execute(std::span<const ConstView> in, std::span<View> out) override {
    Epilogue epilogue = epilogue_;
    if (p_.residual >= 0) epilogue.residual = in[size_t(p_.residual)].as<float>();
    pool_.For(blocks_, [&](int, int64_t begin, int64_t end) {
      const Range outputs{p_.n * begin / blocks_, p_.n * end / blocks_};
      if (p_.transposed)
        MatVecByRows(in[1].as<float>(), p_.b_stride, p_.k, in[0].as<float>(), epilogue, outputs,
                     out[0].as<float>());
      else
        MatVecByColumns(in[1].as<float>(), p_.b_stride, p_.k, in[0].as<float>(), epilogue, outputs,
                        out[0].as<float>(), place_);
    });
  }

  std::string kernel() const override { return fmt::format("{} {}", p_.kernel(), target_); }
  std::string reason() const override { return "one row: bound by reading the weights"; }

 private:
  ThreadPool& pool_;
  const Product p_;
  Epilogue epilogue_;
  const WeightsPlace place_;
  const std::string target_;
  int64_t blocks_ = 1;
};

}  // namespace

std::unique_ptr<PreparedNode> Prepare(const Product& product, const Preparation& of) {
  Epilogue epilogue;
  epilogue.activation = *FastActivation(of.node);
  const Precision precision = PrecisionOf(product);
  if (IsHalf(precision)) return PrepareRounded(product, of);
  if (precision != Precision::kF32 || product.few_bits != 0) return PrepareFewBits(product, of);
  if (product.is_vector()) {
    const auto place = of.options.weights_from_memory ? WeightsPlace::kMemory : WeightsPlace::kCache;
    return std::make_unique<VectorStep>(of.graph, product, epilogue, place, of.pool());
  }
  return PrepareProduct(of.graph, of.node, product, epilogue, of.options, of.packer);
}

}  // namespace mete
