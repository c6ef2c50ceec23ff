// Operators between tensors of bytes: tables, sums, products and pools.
#include <fmt/format.h>

#include <array>

#include "kernels/fast/target/target.h"
#include "processor/cpu/prepare/grid.h"
#include "processor/cpu/prepare/prepare.h"

namespace mete {
namespace {

// This value is a guess: it costs more to hand out a smaller piece of work than to compute it.
constexpr int64_t kLeastBytes = 32 * 1024;

const uint8_t* Bytes(const ConstView& v) { return static_cast<const uint8_t*>(v.data); }
uint8_t* Bytes(const View& v) { return static_cast<uint8_t*>(v.data); }

class TableStep : public PreparedNode {
 public:
  TableStep(const ByteTable& of, ThreadPool& pool)
      : elements_(of.elements),
        blocks_(BlocksOf(of.elements, kLeastBytes, pool.step_threads())),
        kernel_(fmt::format("{} {}", of.kernel(), ByteTableTarget())),
        pool_(pool) {}

  void Execute(std::span<const ConstView> in, std::span<View> out) override {
    pool_.For(blocks_, [&](int, int64_t begin, int64_t end) {
      RunByteTable(Bytes(in[1]), Bytes(in[0]), {elements_ * begin / blocks_, elements_ * end / blocks_},
                   Bytes(out[0]));
    });
  }
  std::string kernel() const override { return kernel_; }

 private:
  const int64_t elements_, blocks_;
  const std::string kernel_;
  ThreadPool& pool_;
};

class OperationStep : public PreparedNode {
 public:
  OperationStep(const ByteOperation& of, ThreadPool& pool)
      : of_(of), kernel_(fmt::format("{} {}", of.kernel(), ActiveTarget())), pool_(pool) {
    // A row that is the whole image is cut into pieces of it; so is an operand of one byte, which is read
    // from as many copies.
    piece_ = of.rows > 1 ? of.length : std::min(of.length, of.a.scalar || of.b.scalar ? kCopies : kPiece);
    pieces_ = of.rows > 1 ? of.rows : (of.length + piece_ - 1) / piece_;
    blocks_ = std::min(of.images * pieces_,
                       BlocksOf(of.images * of.rows * of.length, kLeastBytes, pool.step_threads()));
  }

  void Execute(std::span<const ConstView> in, std::span<View> out) override {
    pool_.For(blocks_, [&](int, int64_t begin, int64_t end) {
      const int64_t pieces = of_.images * pieces_;
      for (int64_t p = pieces * begin / blocks_, last = pieces * end / blocks_; p < last;) {
        const int64_t image = p / pieces_, first = p % pieces_,
                      end_of_run = std::min(pieces_, first + last - p);
        Run(image, {first, end_of_run}, Bytes(in[0]), Bytes(in[3]), Bytes(out[0]));
        p += end_of_run - first;
      }
    });
  }
  std::string kernel() const override { return kernel_; }

 private:
  static constexpr int64_t kCopies = 1024, kPiece = 16 * 1024;

  // Computes pieces of an image.
  void Run(int64_t image, Range pieces, const uint8_t* a, const uint8_t* b, uint8_t* y) const {
    y += image * of_.rows * of_.length;
    std::array<uint8_t, kCopies> copies;
    const bool any = of_.a.scalar || of_.b.scalar;
    if (any) copies.fill(of_.a.scalar ? *a : *b);
    const auto place = [&](const ByteOperation::Operand& of, const uint8_t* at) {
      return of.scalar ? copies.data() : at + image * of.image_step;
    };
    ByteRows rows{place(of_.a, a), place(of_.b, b), of_.a.row_step, of_.b.row_step, of_.length};
    if (of_.rows > 1) return RunByteBinary(of_.binary, rows, pieces, y);
    rows.a_stride = of_.a.scalar ? 0 : piece_;
    rows.b_stride = of_.b.scalar ? 0 : piece_;
    rows.length = piece_;
    const Range whole{pieces.begin, std::min(pieces.end, of_.length / piece_)};
    RunByteBinary(of_.binary, rows, whole, y);
    if (whole.end == pieces.end) return;
    const int64_t from = whole.end * piece_;
    const ByteRows rest{rows.a + whole.end * rows.a_stride, rows.b + whole.end * rows.b_stride, 0, 0,
                        of_.length - from};
    RunByteBinary(of_.binary, rest, {0, 1}, y + from);
  }

  const ByteOperation of_;
  const std::string kernel_;
  ThreadPool& pool_;
  int64_t piece_ = 1, pieces_ = 1, blocks_ = 1;
};

class BytePoolStep : public PreparedNode {
 public:
  BytePoolStep(const BytePooling& of, const Shape& in, ThreadPool& pool)
      : of_(of),
        images_(in[0]),
        pixels_(in[1] * in[2]),
        channels_(in[3]),
        kernel_(fmt::format("{} {}", of.kernel(), ActiveTarget())),
        pool_(pool) {
    const ConvShape& window = of.shape.window;
    const int64_t taps = window.kernel_height * window.kernel_width;
    const bool global = of.kind == BytePooling::Kind::kGlobalAverage;
    units_ = global ? images_ * Vectors() : window.out_pixels();
    const int64_t work = global ? images_ * pixels_ * channels_ : units_ * taps * channels_;
    blocks_ = std::min(units_, BlocksOf(work, kLeastBytes, pool.step_threads()));
  }

  void Execute(std::span<const ConstView> in, std::span<View> out) override {
    pool_.For(blocks_, [&](int, int64_t begin, int64_t end) {
      Run({units_ * begin / blocks_, units_ * end / blocks_}, Bytes(in[0]), Bytes(out[0]));
    });
  }
  std::string kernel() const override { return kernel_; }

 private:
  static constexpr int64_t kChannels = 64;  // of a piece of a pool over whole images: a cache line

  int64_t Vectors() const { return (channels_ + kChannels - 1) / kChannels; }

  // Computes output pixels, or pieces of images.
  void Run(Range units, const uint8_t* x, uint8_t* y) const {
    switch (of_.kind) {
      case BytePooling::Kind::kMax: return RunByteMaxPool(of_.shape, of_.x.is_signed, x, units, y);
      case BytePooling::Kind::kAverage: return RunByteAveragePool(of_.shape, of_.x, of_.y, x, units, y);
      case BytePooling::Kind::kGlobalAverage: break;
    }
    for (int64_t u = units.begin; u < units.end; ++u) {
      const int64_t image = u / Vectors(), channel = u % Vectors() * kChannels;
      RunByteGlobalAverage(of_.x, of_.y, x + image * pixels_ * channels_, pixels_, channels_,
                           {channel, std::min(channels_, channel + kChannels)}, y + image * channels_);
    }
  }

  const BytePooling of_;
  const int64_t images_, pixels_, channels_;
  const std::string kernel_;
  ThreadPool& pool_;
  int64_t units_ = 1, blocks_ = 1;
};

}  // namespace

std::unique_ptr<PreparedNode> Prepare(const ByteTable& table, const Preparation& of) {
  return std::make_unique<TableStep>(table, of.pool());
}

std::unique_ptr<PreparedNode> Prepare(const ByteOperation& operation, const Preparation& of) {
  return std::make_unique<OperationStep>(operation, of.pool());
}

std::unique_ptr<PreparedNode> Prepare(const BytePooling& pooling, const Preparation& of) {
  return std::make_unique<BytePoolStep>(pooling, of.graph.value(of.node.inputs[0]).shape, of.pool());
}

}  // namespace mete
