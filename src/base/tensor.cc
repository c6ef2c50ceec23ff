#include "mete/tensor.h"

#include <sys/mman.h>

#include <cstdlib>
#include <cstring>

#include "base/error.h"
#include "base/narrow.h"
#include "base/tensor_source.h"
#include "base/visit_type.h"
#include "mete/io.h"

namespace mete {
namespace {

struct TypeRow {
  const char* name;
  size_t size;
};
// In the order of DType.
constexpr TypeRow kTypes[] = {
    {"unknown", 0}, {"f32", 4},    {"f64", 8},      {"f16", 2},        {"bf16", 2},   {"i8", 1},
    {"u8", 1},      {"i16", 2},    {"u16", 2},      {"i32", 4},        {"u32", 4},    {"i64", 8},
    {"u64", 8},     {"bool", 1},   {"f8e4m3fn", 1}, {"f8e4m3fnuz", 1}, {"f8e5m2", 1}, {"f8e5m2fnuz", 1},
    {"f8e8m0", 1},  {"f4e2m1", 1}, {"i4", 1},       {"u4", 1},         {"i2", 1},     {"u2", 1},
};
static_assert(std::size(kTypes) == size_t(kLastDType) + 1);

constexpr size_t kAlignment = 64;      // one cache line, and the widest vector in use
constexpr size_t kHugePage = 2 << 20;  // a huge page of x86-64, and of aarch64 with 4 KiB pages

// Returns zeroed memory, or null if there is none.
std::shared_ptr<const void> Allocate(size_t bytes) {
  void* p = std::aligned_alloc(kAlignment, bytes);
  if (p) std::memset(p, 0, bytes);
  return {p, [](const void* q) { std::free(const_cast<void*>(q)); }};
}

// Allocates a large tensor on huge pages if the system grants them: 2 MiB then cost one page fault instead of
// 512, and streaming weights does not wait for page table walks. Fresh pages are zero, so no memory is
// written here.
std::shared_ptr<const void> AllocateHuge(size_t bytes) {
  const size_t mapped = bytes + kHugePage;
  void* p = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED) return nullptr;
  void* start =
      reinterpret_cast<void*>((reinterpret_cast<uintptr_t>(p) + kHugePage - 1) / kHugePage * kHugePage);
  // The system may ignore this advice. Memory after the last whole huge page stays on small pages.
  madvise(start, bytes / kHugePage * kHugePage, MADV_HUGEPAGE);
  return {start, [p, mapped](const void*) { munmap(p, mapped); }};
}

}  // namespace

const char* Name(DType type) { return kTypes[size_t(type)].name; }
size_t SizeOf(DType type) { return kTypes[size_t(type)].size; }

DType DTypeOf(std::string_view name) {
  for (size_t i = 1; i < std::size(kTypes); ++i)
    if (name == kTypes[i].name) return DType(i);
  return DType::kUnknown;
}

Shape::Shape(std::span<const int64_t> dims) {
  for (int64_t d : dims) push_back(d);
}

void Shape::push_back(int64_t dim) {
  if (rank_ < 0 || rank_ >= kMaxRank)
    Invalid("shape", "too many dimensions; got more than {0}, expected at most {0}", kMaxRank);
  dims_[rank_++] = dim;
}

int64_t Shape::Elements(int first, int last) const {
  uint64_t n = 1;
  for (int i = first; i < last; ++i) n *= uint64_t(dims_[i]);
  return int64_t(n);
}

bool Shape::operator==(const Shape& other) const {
  if (rank_ != other.rank_) return false;
  for (int i = 0; i < rank_; ++i)
    if (dims_[i] != other.dims_[i]) return false;
  return true;
}

std::string ToString(const Shape& shape) {
  if (!shape.known()) return "?";
  if (shape.rank() == 0) return "scalar";
  return fmt::format("{}", fmt::join(shape.begin(), shape.end(), "x"));
}

int64_t CheckedElements(const Shape& shape, DType type, int64_t max_bytes) {
  int64_t bytes = int64_t(SizeOf(type));
  bool zero = false;
  for (int64_t d : shape) {
    if (d < 0) return -1;
    if (d == 0) zero = true;
    else if (__builtin_mul_overflow(bytes, d, &bytes)) return -1;
  }
  // The limit also holds if one dimension is 0, because kernels loop over the other dimensions anyway.
  if (bytes > max_bytes) return -1;
  return zero ? 0 : shape.Elements();
}

Tensor::Tensor(DType type, const Shape& shape) : type_(type), shape_(shape) {
  const size_t padded = (bytes() + kAlignment) / kAlignment * kAlignment;
  owner_ = padded >= kHugePage ? AllocateHuge(padded) : Allocate(padded);
  if (!owner_)
    Fail(Code::kResourceExhausted, "memory", "cannot allocate {} bytes for a {} {}", padded, ToString(shape),
         Name(type));
  data_ = owner_.get();
}

Tensor::Tensor(DType type, const Shape& shape, const void* data, std::shared_ptr<const void> owner)
    : type_(type), shape_(shape), data_(data), owner_(std::move(owner)) {}

Tensor::Tensor(DType type, const Shape& shape, std::shared_ptr<TensorSource> source)
    : type_(type), shape_(shape), source_(std::move(source)) {}

const Tensor& Tensor::Made() const { return source_->All(type_, shape_); }

template <class T>
Tensor Tensor::Of(DType type, const Shape& shape, std::span<const T> values) {
  Tensor t(type, shape);
  if (t.bytes() != values.size_bytes())
    Invalid("tensor", "values do not fill the shape; got {} bytes, expected {}", values.size_bytes(),
            t.bytes());
  if (!values.empty()) std::memcpy(t.mutable_view().data, values.data(), values.size_bytes());
  return t;
}
template Tensor Tensor::Of(DType, const Shape&, std::span<const float>);
template Tensor Tensor::Of(DType, const Shape&, std::span<const double>);
template Tensor Tensor::Of(DType, const Shape&, std::span<const int8_t>);
template Tensor Tensor::Of(DType, const Shape&, std::span<const uint8_t>);
template Tensor Tensor::Of(DType, const Shape&, std::span<const int32_t>);
template Tensor Tensor::Of(DType, const Shape&, std::span<const int64_t>);
template Tensor Tensor::Of(DType, const Shape&, std::span<const bool>);

Tensor Tensor::Floats(const Shape& shape, std::span<const float> values) {
  return Of<float>(DType::kF32, shape, values);
}
Tensor Tensor::Ints(std::span<const int64_t> values) {
  return Of<int64_t>(DType::kI64, Shape{int64_t(values.size())}, values);
}

double ElementAt(const ConstView& tensor, int64_t i) {
  if (tensor.type == DType::kBool) return tensor.as<uint8_t>()[i] != 0;
  if (IsNarrow(tensor.type)) return NarrowNumbers(tensor.type)[tensor.as<uint8_t>()[i]];
  return VisitNumeric(tensor.type, [&]<class T>() { return double(tensor.as<T>()[i]); });
}

}  // namespace mete
