// Element types, shapes, and views of dense row-major tensors. This header has no arithmetic.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace [[gnu::visibility("default")]] mete {

enum class DType : uint8_t {
  kUnknown,
  kF32,
  kF64,
  kF16,
  kBF16,
  kI8,
  kU8,
  kI16,
  kU16,
  kI32,
  kU32,
  kI64,
  kU64,
  kBool,
  // ONNX's types of at most 8 bits. Memory has one byte for each element: types of 2 and 4 bits are packed
  // only in files. Signed integers have their sign in the byte's other bits; whatever these bits hold, only
  // the lowest ones count. Operators move them; Cast, QuantizeLinear and DequantizeLinear convert them.
  kF8E4M3FN,
  kF8E4M3FNUZ,
  kF8E5M2,
  kF8E5M2FNUZ,
  kF8E8M0,
  kF4E2M1,
  kI4,
  kU4,
  kI2,
  kU2,
};
inline constexpr DType kLastDType = DType::kU2;  // numbers beyond it, read from a message, are no types

const char* Name(DType type);          // "f32", "u8", "bool", ...
size_t SizeOf(DType type);             // bytes per element; 0 for kUnknown
DType DTypeOf(std::string_view name);  // kUnknown for an unknown name

// The dimensions of a tensor. They are stored inline, so that copying a Shape never allocates. A default
// Shape is a scalar (rank 0, one element). Shape::Unknown() is a shape that is known only at run time.
class Shape {
 public:
  static constexpr int kMaxRank = 8;

  Shape() = default;
  Shape(std::initializer_list<int64_t> dims) : Shape(std::span(dims.begin(), dims.size())) {}
  explicit Shape(std::span<const int64_t> dims);  // Error if the rank is over kMaxRank

  static Shape Unknown() {
    Shape s;
    s.rank_ = -1;
    return s;
  }

  bool known() const { return rank_ >= 0; }
  int rank() const { return rank_; }
  int64_t operator[](int i) const { return dims_[i]; }
  int64_t& operator[](int i) { return dims_[i]; }
  int64_t back() const { return dims_[rank_ - 1]; }
  void push_back(int64_t dim);  // Error if the rank would exceed kMaxRank
  std::span<const int64_t> dims() const { return {dims_.data(), size_t(rank_ < 0 ? 0 : rank_)}; }
  const int64_t* begin() const { return dims_.data(); }
  const int64_t* end() const { return dims_.data() + (rank_ < 0 ? 0 : rank_); }

  // Returns the number of elements in the dimensions [first, last). The product wraps silently on overflow:
  // the caller checks a shape with CheckedElements() once, where the shape enters the process.
  int64_t Elements(int first, int last) const;
  int64_t Elements() const { return Elements(0, rank_); }

  bool operator==(const Shape& other) const;

 private:
  std::array<int64_t, kMaxRank> dims_{};
  int8_t rank_ = 0;
};

std::string ToString(const Shape& shape);  // "1x3x224x224", "scalar", "?"

// Returns the number of elements of `shape`, or -1 if a dimension is negative or the bytes with elements of
// `type` exceed `max_bytes`. Dimensions of 0 are left out of this check of the size, so that a huge dimension
// beside a 0 is found too.
int64_t CheckedElements(const Shape& shape, DType type, int64_t max_bytes);

// Borrowed memory with its type and shape. `data` is aligned to the element size. An optional input or output
// that is left out has the type kUnknown (`present()` is false). A tensor that is present but has no elements
// may have null data.
struct ConstView {
  const void* data = nullptr;
  DType type = DType::kUnknown;
  Shape shape;

  bool present() const { return type != DType::kUnknown; }
  template <class T>
  const T* as() const {
    return static_cast<const T*>(data);
  }
  int64_t elements() const { return shape.Elements(); }
  size_t bytes() const { return size_t(shape.Elements()) * SizeOf(type); }
};

struct View {
  void* data = nullptr;
  DType type = DType::kUnknown;
  Shape shape;

  bool present() const { return type != DType::kUnknown; }
  template <class T>
  T* as() const {
    return static_cast<T*>(data);
  }
  int64_t elements() const { return shape.Elements(); }
  size_t bytes() const { return size_t(shape.Elements()) * SizeOf(type); }
  operator ConstView() const { return {data, type, shape}; }
};

class TensorSource;  // the library's own

// A tensor with shared ownership of its bytes. The bytes belong to a mapped file, to a parsed message, or to
// this tensor alone. A copy of a Tensor shares the bytes.
class Tensor {
 public:
  Tensor() = default;
  // Allocates zeroed memory, aligned to 64 bytes. Error RESOURCE_EXHAUSTED if there is not enough memory.
  Tensor(DType type, const Shape& shape);
  Tensor(DType type, const Shape& shape, const void* data, std::shared_ptr<const void> owner);
  // A constant whose bytes are made when they are first asked for.
  Tensor(DType type, const Shape& shape, std::shared_ptr<TensorSource> source);

  // Copies `values` as elements of `type`; T must have the size of `type`. T is float, double, int8_t,
  // uint8_t, int32_t, int64_t or bool. Error if the number of values is not that of the shape.
  template <class T>
  static Tensor Of(DType type, const Shape& shape, std::span<const T> values);
  static Tensor Floats(const Shape& shape, std::span<const float> values);
  static Tensor Ints(std::span<const int64_t> values);  // i64, rank 1

  bool has_value() const { return type_ != DType::kUnknown; }
  DType type() const { return type_; }
  const Shape& shape() const { return shape_; }
  const void* data() const { return source_ ? Made().data() : data_; }
  // What keeps the bytes alive: for tensors that are a part of this one.
  const std::shared_ptr<const void>& owner() const { return source_ ? Made().owner() : owner_; }
  // What makes the bytes; null: they are there.
  const std::shared_ptr<TensorSource>& source() const { return source_; }
  template <class T>
  const T* as() const {
    return static_cast<const T*>(data());
  }
  // The view may be written only while this object alone owns the bytes, for example right after Tensor(type,
  // shape).
  View mutable_view() { return {const_cast<void*>(data_), type_, shape_}; }
  ConstView view() const { return {data(), type_, shape_}; }
  int64_t elements() const { return shape_.Elements(); }
  size_t bytes() const { return size_t(elements()) * SizeOf(type_); }

 private:
  const Tensor& Made() const;

  DType type_ = DType::kUnknown;
  Shape shape_;
  const void* data_ = nullptr;
  std::shared_ptr<const void> owner_;
  std::shared_ptr<TensorSource> source_;
};

}  // namespace mete
