#include "base/tensor_source.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "base/half.h"
#include "base/mapped_file.h"

namespace mete {
namespace {

class UnalignedBytes : public TensorSource {
 public:
  UnalignedBytes(size_t size, std::span<const std::byte> bytes, std::shared_ptr<const void> owner)
      : size_(size), bytes_(bytes), owner_(std::move(owner)) {}

  void Read(int64_t first, int64_t count, void* to) const override {
    if (count > 0) std::memcpy(to, bytes_.data() + size_t(first) * size_, size_t(count) * size_);
  }
  const void* bytes() const override { return bytes_.data(); }
  std::vector<std::span<const std::byte>> Parts() const override { return {bytes_}; }
  void ReleasePages() const override { mete::ReleasePages(bytes_.data(), bytes_.size()); }

 private:
  const size_t size_;  // of an element
  const std::span<const std::byte> bytes_;
  const std::shared_ptr<const void> owner_;
};

class Scaled : public TensorSource {
 public:
  Scaled(const Tensor& t, std::vector<double> scale)
      : of_(t), row_(t.elements() / std::max<int64_t>(t.shape()[0], 1)), scale_(std::move(scale)) {}

  void Read(int64_t first, int64_t count, void* to) const override {
    auto* out = static_cast<float*>(to);
    const float* in = out;
    if (of_.source()) ReadElements(of_, first, count, to);
    else in = of_.as<float>() + first;
    for (int64_t i = 0; i < count;) {
      const int64_t row = (first + i) / row_, end = std::min(count, (row + 1) * row_ - first);
      const double scale = scale_[size_t(row)];
      for (; i < end; ++i) out[i] = float(double(in[i]) * scale);
    }
  }
  std::vector<std::span<const std::byte>> Parts() const override {
    std::vector<std::span<const std::byte>> parts = PartsOf(of_);
    parts.push_back(std::as_bytes(std::span(scale_)));
    return parts;
  }
  void ReleasePages() const override { ReleasePagesOf(of_); }

 private:
  const Tensor of_;
  const int64_t row_;  // elements
  const std::vector<double> scale_;
};

class Widened : public TensorSource {
 public:
  explicit Widened(const Tensor& t) : of_(t) {}

  void Read(int64_t first, int64_t count, void* to) const override {
    constexpr int64_t kPart = 4096;  // elements on the stack
    uint16_t part[kPart];
    auto* out = static_cast<float*>(to);
    for (int64_t i = 0; i < count; i += kPart) {
      const int64_t some = std::min(kPart, count - i);
      ReadElements(of_, first + i, some, part);
      if (of_.type() == DType::kF16) std::transform(part, part + some, out + i, F16ToF32);
      else std::transform(part, part + some, out + i, BF16ToF32);
    }
  }
  std::vector<std::span<const std::byte>> Parts() const override {
    const std::string_view kind = of_.type() == DType::kF16 ? "f16" : "bf16";
    std::vector<std::span<const std::byte>> parts = PartsOf(of_);
    parts.push_back(std::as_bytes(std::span(kind)));
    return parts;
  }
  void ReleasePages() const override { ReleasePagesOf(of_); }

 private:
  const Tensor of_;
};

class Transposed : public TensorSource {
 public:
  explicit Transposed(const Tensor& t)
      : of_(t), rows_(t.shape()[0]), columns_(t.shape()[1]), size_(SizeOf(t.type())) {}

  void Read(int64_t first, int64_t count, void* to) const override {
    const auto* from = static_cast<const std::byte*>(of_.data());
    auto* out = static_cast<std::byte*>(to);
    for (int64_t i = first; i < first + count; ++i, out += size_)
      std::memcpy(out, from + size_t(i % rows_ * columns_ + i / rows_) * size_, size_);
  }
  const Tensor* transposed() const override { return &of_; }
  std::vector<std::span<const std::byte>> Parts() const override {
    static constexpr char kKind[] = "transposed";
    std::vector<std::span<const std::byte>> parts = PartsOf(of_);
    parts.push_back(std::as_bytes(std::span(kKind)));
    parts.push_back(std::as_bytes(std::span(&rows_, 1)));
    return parts;
  }
  void ReleasePages() const override { ReleasePagesOf(of_); }

 private:
  const Tensor of_;
  const int64_t rows_, columns_;  // of the matrix in memory
  const size_t size_;             // of an element
};

}  // namespace

const Tensor& TensorSource::All(DType type, const Shape& shape) {
  std::call_once(made_, [&] {
    Tensor all(type, shape);
    Read(0, all.elements(), all.mutable_view().data);
    ReleasePages();
    all_ = std::move(all);
  });
  return all_;
}

Tensor UnalignedTensor(DType type, const Shape& shape, std::span<const std::byte> bytes,
                       std::shared_ptr<const void> owner) {
  return {type, shape, std::make_shared<UnalignedBytes>(SizeOf(type), bytes, std::move(owner))};
}

Tensor ScaledRows(const Tensor& t, std::vector<double> scale) {
  return {DType::kF32, t.shape(), std::make_shared<Scaled>(t, std::move(scale))};
}

Tensor WidenedHalves(const Tensor& t) {
  Tensor widened(DType::kF32, t.shape(), std::make_shared<Widened>(t));
  return widened.bytes() < kLeastSource ? widened.source()->All(DType::kF32, t.shape()) : widened;
}

Tensor TransposedMatrix(const Tensor& t, const Shape& shape) {
  return {t.type(), shape, std::make_shared<Transposed>(t)};
}

void ReadElements(const Tensor& t, int64_t first, int64_t count, void* to) {
  if (t.source()) return t.source()->Read(first, count, to);
  const size_t size = SizeOf(t.type());
  if (count > 0)
    std::memcpy(to, static_cast<const std::byte*>(t.data()) + size_t(first) * size, size_t(count) * size);
}

std::vector<std::span<const std::byte>> PartsOf(const Tensor& t) {
  if (t.source()) return t.source()->Parts();
  return {{t.as<std::byte>(), t.bytes()}};
}

void ReleasePagesOf(const Tensor& t) {
  if (t.source()) t.source()->ReleasePages();
  else ReleasePages(t.data(), t.bytes());
}

}  // namespace mete
