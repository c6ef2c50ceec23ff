#include "arrays.h"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "callbacks.h"
#include "mete/error.h"

namespace mete::python {
namespace {

using Code8 = nb::dlpack::dtype_code;
using Array = nb::ndarray<nb::ro, nb::c_contig, nb::device::cpu>;

// A type of elements as Mete, DLPack and NumPy know it. Mete has a byte for each element of the types of 2
// and 4 bits, as ml_dtypes has, while DLPack packs them: such an array goes through ml_dtypes alone.
struct TypeRow {
  DType type;
  Code8 code;
  uint8_t bits;
  const char* extension;  // its name in ml_dtypes; null: NumPy has the type
};

constexpr TypeRow kTypes[] = {
    {DType::kF32, Code8::Float, 32, nullptr},
    {DType::kF64, Code8::Float, 64, nullptr},
    {DType::kF16, Code8::Float, 16, nullptr},
    {DType::kBF16, Code8::Bfloat, 16, "bfloat16"},
    {DType::kI8, Code8::Int, 8, nullptr},
    {DType::kU8, Code8::UInt, 8, nullptr},
    {DType::kI16, Code8::Int, 16, nullptr},
    {DType::kU16, Code8::UInt, 16, nullptr},
    {DType::kI32, Code8::Int, 32, nullptr},
    {DType::kU32, Code8::UInt, 32, nullptr},
    {DType::kI64, Code8::Int, 64, nullptr},
    {DType::kU64, Code8::UInt, 64, nullptr},
    {DType::kBool, Code8::Bool, 8, nullptr},
    {DType::kF8E4M3FN, Code8::Float8_E4M3FN, 8, "float8_e4m3fn"},
    {DType::kF8E4M3FNUZ, Code8::Float8_E4M3FNUZ, 8, "float8_e4m3fnuz"},
    {DType::kF8E5M2, Code8::Float8_E5M2, 8, "float8_e5m2"},
    {DType::kF8E5M2FNUZ, Code8::Float8_E5M2FNUZ, 8, "float8_e5m2fnuz"},
    {DType::kF8E8M0, Code8::Float8_E8M0FNU, 8, "float8_e8m0fnu"},
    {DType::kF4E2M1, Code8::Float4_E2M1FN, 4, "float4_e2m1fn"},
    {DType::kI4, Code8::Int, 4, "int4"},
    {DType::kU4, Code8::UInt, 4, "uint4"},
    {DType::kI2, Code8::Int, 2, "int2"},
    {DType::kU2, Code8::UInt, 2, "uint2"},
};

const TypeRow& RowOf(DType type) {
  const auto* row = std::ranges::find(kTypes, type, &TypeRow::type);
  if (row == std::end(kTypes))
    throw Error(Code::kInternal, "[python] an output has no type; got an unknown one, expected one of ONNX");
  return *row;
}

DType TypeOf(nb::dlpack::dtype type) {
  for (const TypeRow& row : kTypes)
    if (uint8_t(row.code) == type.code && row.bits == type.bits && row.bits >= 8 && type.lanes == 1)
      return row.type;
  return DType::kUnknown;
}

// The type whose elements ml_dtypes keeps in an array of this name of a type.
DType ExtensionTypeOf(const std::string& name) {
  for (const TypeRow& row : kTypes)
    if (row.extension && name == row.extension) return row.type;
  return DType::kUnknown;
}

const char* RawName(DType type) { return SizeOf(type) == 2 ? "uint16" : "uint8"; }

// The text of an attribute, as str() of Python gives it.
std::string TextOf(nb::handle object, const char* attribute) {
  const nb::object value = object.attr(attribute);
  return nb::cast<std::string>(nb::str(nb::handle(value)));
}

std::string Described(nb::handle object) {
  const std::string type = TextOf(object.type(), "__name__");
  return nb::hasattr(object, "dtype") ? type + " of " + TextOf(object, "dtype") : type;
}

[[noreturn]] void RefuseArray(nb::handle object, const std::string& where, const char* expected) {
  throw Error(Code::kInvalidArgument, "[" + where + "] cannot be read as a tensor; got " + Described(object) +
                                          ", expected " + expected);
}

template <class A>
Shape ShapeOfArray(const A& array, const std::string& where) {
  if (array.ndim() > size_t(Shape::kMaxRank))
    throw Error(Code::kInvalidArgument, "[" + where + "] has too many dimensions; got " +
                                            std::to_string(array.ndim()) + ", expected 8 at most");
  Shape shape;
  for (size_t i = 0; i < array.ndim(); ++i) shape.push_back(int64_t(array.shape(i)));
  return shape;
}

// An array of a type of ml_dtypes as the integers of its bits, with the type.
std::optional<std::pair<nb::object, DType>> AsIntegers(nb::handle array) {
  if (!nb::hasattr(array, "dtype") || !nb::hasattr(array, "view")) return std::nullopt;
  const DType type = ExtensionTypeOf(TextOf(array, "dtype"));
  if (type == DType::kUnknown) return std::nullopt;
  return std::pair(nb::object(array.attr("view")(RawName(type))), type);
}

bool IsAligned(const void* data, DType type) { return reinterpret_cast<uintptr_t>(data) % SizeOf(type) == 0; }

Tensor Shared(Array array, DType type, const std::string& where) {
  const Shape shape = ShapeOfArray(array, where);
  const void* data = array.data();
  if (!IsAligned(data, type)) {
    Tensor copy(type, shape);
    if (copy.bytes() > 0) std::memcpy(copy.mutable_view().data, data, copy.bytes());
    return copy;
  }
  return Tensor(type, shape, data, OwnerOf(std::move(array)));
}

// A dense copy, by NumPy, of an array that nanobind cannot take as it is: with strides of another library, or
// of the other byte order. Nothing for objects that are no arrays of numbers.
nb::object DenseCopyOf(nb::handle array) {
  const nb::module_ numpy = nb::module_::import_("numpy");
  try {
    nb::object taken = nb::borrow(array);
    if (nb::hasattr(array, "__dlpack__") && !nb::isinstance(array, numpy.attr("ndarray")))
      taken = numpy.attr("from_dlpack")(array);
    else if (PyMemoryView_Check(array.ptr())) taken = numpy.attr("asarray")(array);
    if (!nb::isinstance(taken, numpy.attr("ndarray"))) return {};
    const nb::object type = taken.attr("dtype");
    if (NameOf(type.attr("kind"), "dtype").find_first_of("fiub") == std::string::npos) return {};
    return numpy.attr("array")(taken, type.attr("newbyteorder")("="), nb::arg("order") = "C");
  } catch (nb::python_error& error) {
    if (!error.matches(PyExc_Exception)) throw;  // an interrupt
    return {};
  }
}

constexpr const char* kExpected = "a NumPy array, or an object with DLPack or a buffer in the CPU's memory";

}  // namespace

Tensor TensorOf(nb::handle array, const std::string& where) {
  Array dense;
  if (array.is_none()) RefuseArray(array, where, kExpected);
  if (!nb::try_cast(array,
                    dense)) {  // the types of ml_dtypes are asked for later, because a name takes a while
    if (const auto integers = AsIntegers(array)) {
      if (!nb::try_cast(integers->first, dense)) RefuseArray(array, where, kExpected);
      return Shared(std::move(dense), integers->second, where);
    }
    const nb::object copy = DenseCopyOf(array);
    if (!copy.is_valid() || !nb::try_cast(copy, dense)) RefuseArray(array, where, kExpected);
  }
  const DType type = TypeOf(dense.dtype());
  if (type == DType::kUnknown) RefuseArray(array, where, "a type of elements that ONNX has");
  return Shared(std::move(dense), type, where);
}

WritableArray WritableOf(nb::handle array, const std::string& where) {
  constexpr const char* kWanted = "a dense array in C order that may be written";
  WritableArray result;
  if (array.is_none()) RefuseArray(array, where, kWanted);
  std::optional<std::pair<nb::object, DType>> integers;
  // the types of ml_dtypes are asked for later, as in TensorOf()
  if (!nb::try_cast(array, result.memory, false)) {
    integers = AsIntegers(array);
    if (!integers || !nb::try_cast(integers->first, result.memory, false)) RefuseArray(array, where, kWanted);
  }
  const DType type = integers ? integers->second : TypeOf(result.memory.dtype());
  if (type == DType::kUnknown) RefuseArray(array, where, "a type of elements that ONNX has");
  if (!IsAligned(result.memory.data(), type))
    RefuseArray(array, where, "elements at multiples of their size");
  result.view = {result.memory.data(), type, ShapeOfArray(result.memory, where)};
  return result;
}

nb::object ArrayOf(const Tensor& tensor) {
  const TypeRow& row = RowOf(tensor.type());
  const bool extended = row.extension != nullptr;
  const nb::dlpack::dtype type{uint8_t(extended ? Code8::UInt : row.code), uint8_t(8 * SizeOf(tensor.type())),
                               1};
  size_t sizes[Shape::kMaxRank];
  std::ranges::copy(tensor.shape().dims(), sizes);
  const nb::capsule owner(new Tensor(tensor), [](void* held) noexcept { delete static_cast<Tensor*>(held); });
  static char nothing;  // a tensor without elements may have no address
  void* data = tensor.data() ? const_cast<void*>(tensor.data()) : &nothing;
  const nb::ndarray<nb::numpy> array(data, size_t(tensor.shape().rank()), sizes, owner, nullptr, type);
  nb::object result = nb::cast(array);
  if (!extended) return result;
  try {
    return result.attr("view")(nb::module_::import_("ml_dtypes").attr(row.extension));
  } catch (nb::python_error& error) {
    if (!error.matches(PyExc_ImportError) && !error.matches(PyExc_AttributeError)) throw;
    throw Error(Code::kFailedPrecondition,
                std::string("[python] NumPy has no type for elements of ") + Name(tensor.type()) +
                    "; got no package ml_dtypes that has it, expected one; try pip "
                    "install ml_dtypes");
  }
}

std::optional<std::pair<nb::object, WritableArray>> NewArray(DType type, const Shape& shape) {
  const TypeRow& row = RowOf(type);
  if (row.extension) return std::nullopt;
  // Looked up once, and never freed: the interpreter may end before.
  static const nb::handle numpy = nb::module_::import_("numpy").release();
  static const nb::handle empty = nb::object(numpy.attr("empty")).release();
  static std::map<DType, nb::handle> types;
  nb::handle& of_numpy = types[type];
  if (!of_numpy.is_valid()) {
    const std::string kind = row.code == Code8::Float  ? "f"
                             : row.code == Code8::Int  ? "i"
                             : row.code == Code8::UInt ? "u"
                                                       : "b";
    of_numpy = numpy.attr("dtype")(kind + std::to_string(row.bits / 8)).release();
  }
  const nb::tuple sizes = nb::steal<nb::tuple>(PyTuple_New(shape.rank()));
  for (int i = 0; i < shape.rank(); ++i) PyTuple_SetItem(sizes.ptr(), i, PyLong_FromLongLong(shape[i]));
  nb::object array = empty(sizes, of_numpy);
  WritableArray writable = WritableOf(array, "outputs");
  return std::pair(std::move(array), std::move(writable));
}

nb::object SizesOf(const Shape& shape) {
  if (!shape.known()) return nb::none();
  nb::list sizes;
  for (const int64_t size : shape.dims()) sizes.append(size < 0 ? nb::object(nb::none()) : nb::cast(size));
  return sizes;
}

Shape ShapeOf(const std::vector<int64_t>& sizes) { return Shape(std::span<const int64_t>(sizes)); }

std::string PathOf(nb::handle path) {
  const nb::object encoded = nb::module_::import_("os").attr("fsencode")(path);
  const auto bytes = nb::borrow<nb::bytes>(encoded);
  return std::string(bytes.c_str(), bytes.size());
}

std::string NameOf(nb::handle name, const std::string& where) {
  if (nb::isinstance<nb::str>(name)) return nb::cast<std::string>(name);
  throw Error(Code::kInvalidArgument,
              "[" + where + "] a name is no text; got " + Described(name) + ", expected a str");
}

}  // namespace mete::python
