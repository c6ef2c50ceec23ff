#include "partition/constant_part.h"

#include <algorithm>
#include <array>

#include "base/mapped_file.h"
#include "base/tensor_source.h"

namespace mete {
namespace {

// A part is one run of elements in each block of the whole: that of the channels 16 to 31 of a matrix of 32
// columns has 16 elements of each 32.
struct Runs {
  int64_t block = 0, first = 0, length = 0;  // elements

  Runs(const Part& part, const Shape& whole) {
    const int64_t row = whole.Elements(part.axis + 1, whole.rank());
    block = whole[part.axis] * row;
    first = part.rows.begin * row;
    length = part.rows.size() * row;
  }
};

class PartSource : public TensorSource {
 public:
  PartSource(const Tensor& whole, const Part& part)
      : whole_(whole),
        runs_(part, whole.shape()),
        is_one_run_(IsContiguous(part, whole.shape())),
        bytes_(int64_t(SizeOf(whole.type())) * ShapeOf(part, whole.shape()).Elements()),
        decides_{part.axis, part.rows.begin, part.rows.end} {}

  void Read(int64_t first, int64_t count, void* to) const override {
    auto* out = static_cast<std::byte*>(to);
    for (int64_t i = first; i < first + count;) {
      const int64_t run = i / runs_.length, at = i % runs_.length,
                    n = std::min(first + count - i, runs_.length - at);
      ReadElements(whole_, run * runs_.block + runs_.first + at, n, out);
      out += size_t(n) * SizeOf(whole_.type());
      i += n;
    }
  }
  const void* bytes() const override {
    const void* const all = is_one_run_ && whole_.source() ? whole_.source()->bytes() : nullptr;
    return all ? static_cast<const std::byte*>(all) + size_t(runs_.first) * SizeOf(whole_.type()) : nullptr;
  }
  std::vector<std::span<const std::byte>> Parts() const override {
    if (const void* const own = bytes()) return {{static_cast<const std::byte*>(own), size_t(bytes_)}};
    static constexpr char kKind[] = "part";
    std::vector<std::span<const std::byte>> parts = PartsOf(whole_);
    parts.push_back(std::as_bytes(std::span(kKind)));
    parts.push_back(std::as_bytes(std::span(decides_)));
    return parts;
  }
  void ReleasePages() const override {
    if (const void* const own = bytes()) mete::ReleasePages(own, size_t(bytes_));
    else ReleasePagesOf(whole_);
  }

 private:
  const Tensor whole_;
  const Runs runs_;
  const bool is_one_run_;
  const int64_t bytes_;
  const std::array<int64_t, 3> decides_;
};

// As in files: integers decide over shapes, and are there.
bool MayHaveSource(DType type) {
  return type == DType::kF32 || type == DType::kF64 || type == DType::kF16 || type == DType::kBF16;
}

}  // namespace

Tensor CutConstant(const Tensor& whole, const Part& part) {
  if (part.all()) return whole;
  if (!whole.source() && (IsContiguous(part, whole.shape()) || !MayHaveSource(whole.type())))
    return Cut(whole, part);
  const auto source = std::make_shared<PartSource>(whole, part);
  const Shape shape = ShapeOf(part, whole.shape());
  const Tensor piece(whole.type(), shape, source);
  return piece.bytes() < kLeastSource ? source->All(whole.type(), shape) : piece;
}

}  // namespace mete
