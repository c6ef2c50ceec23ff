// NumPy's .npy and raw files. The format:
// https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
#include <bit>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "base/error.h"
#include "base/mapped_file.h"
#include "base/narrow.h"
#include "base/visit_type.h"
#include "mete/io.h"

namespace mete {
namespace {

static_assert(std::endian::native == std::endian::little, "files are read and written as they lie in memory");

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr size_t kAlignment = 64;  // of the data in the file, as NumPy writes it

struct TypeRow {
  DType type;
  std::string_view descr;
};
constexpr TypeRow kTypes[] = {
    {DType::kF32, "<f4"}, {DType::kF64, "<f8"}, {DType::kF16, "<f2"}, {DType::kI8, "|i1"},
    {DType::kU8, "|u1"},  {DType::kI16, "<i2"}, {DType::kU16, "<u2"}, {DType::kI32, "<i4"},
    {DType::kU32, "<u4"}, {DType::kI64, "<i8"}, {DType::kU64, "<u8"}, {DType::kBool, "|b1"},
};

uint32_t Number(std::string_view bytes, size_t at, size_t count) {
  uint32_t n = 0;
  for (size_t i = 0; i < count; ++i) n |= uint32_t(uint8_t(bytes[at + i])) << (8 * i);
  return n;
}

// The header's text, and where the data starts.
std::pair<std::string_view, size_t> SplitHeader(std::string_view file, const std::string& path) {
  if (file.size() < 10 || file.substr(0, 6) != kMagic)
    Fail(Code::kDataLoss, path, "not a .npy file; got other first bytes, expected \\x93NUMPY");
  const int version = uint8_t(file[6]);
  if (version < 1 || version > 3)
    Fail(Code::kUnimplemented, path, ".npy version; got {}, expected 1 to 3", version);
  const size_t start = version == 1 ? 10 : 12;
  if (file.size() < start) Fail(Code::kDataLoss, path, "the .npy file is truncated in its header");
  const size_t length = Number(file, 8, start - 8);
  if (length > file.size() - start) Fail(Code::kDataLoss, path, "the .npy file is truncated in its header");
  return {file.substr(start, length), start + length};
}

// What follows "'key':" in the header, blanks skipped.
std::string_view ValueOf(std::string_view header, const char* key, const std::string& path) {
  size_t at = header.find(fmt::format("'{}':", key));
  if (at == std::string_view::npos) Fail(Code::kDataLoss, path, "the .npy header has no '{}'", key);
  at = header.find_first_not_of(' ', at + std::strlen(key) + 3);
  return at == std::string_view::npos ? std::string_view() : header.substr(at);
}

DType TypeOf(std::string_view header, const std::string& path) {
  std::string_view value = ValueOf(header, "descr", path);
  if (value.empty() || value[0] != '\'')
    Fail(Code::kUnimplemented, path, "the .npy file holds records; expected one element type");
  value = value.substr(1, value.find('\'', 1) - 1);
  for (const TypeRow& row : kTypes)
    if (value == row.descr) return row.type;
  Fail(Code::kUnimplemented, path,
       "element type of the .npy file; got '{}', expected a little-endian float, integer or bool; try "
       "astype()",
       value);
}

Shape ShapeOf(std::string_view header, const std::string& path) {
  std::string_view value = ValueOf(header, "shape", path);
  const size_t close = value.find(')');
  if (value.empty() || value[0] != '(' || close == std::string_view::npos)
    Fail(Code::kDataLoss, path, "the .npy header's shape is not a tuple");
  value = value.substr(1, close - 1);
  Shape shape;
  while (true) {
    const size_t digit = value.find_first_not_of(", ");
    if (digit == std::string_view::npos) return shape;
    int64_t dim = 0;
    const auto [end, error] = std::from_chars(value.data() + digit, value.data() + value.size(), dim);
    if (error != std::errc())
      Fail(Code::kDataLoss, path, "the .npy header's shape is not a tuple of numbers");
    if (shape.rank() == Shape::kMaxRank)
      Fail(Code::kUnimplemented, path, "too many dimensions; expected at most {}", int(Shape::kMaxRank));
    shape.push_back(dim);
    value.remove_prefix(size_t(end - value.data()));
  }
}

Tensor CopyOf(std::string_view bytes, DType type, const Shape& shape, const std::string& path) {
  // some limit, against overflow; the data decides
  const int64_t elements = CheckedElements(shape, type, int64_t(1) << 40);
  const int64_t expected = elements < 0 ? -1 : elements * int64_t(SizeOf(type));
  if (expected != int64_t(bytes.size()))
    Fail(Code::kDataLoss, path, "the data does not fill the shape {} of {}; got {} bytes{}", ToString(shape),
         Name(type), bytes.size(), expected < 0 ? "" : fmt::format(", expected {}", expected));
  Tensor t(type, shape);
  if (!bytes.empty()) std::memcpy(t.mutable_view().data, bytes.data(), bytes.size());
  return t;
}

std::string_view Text(const MappedFile& file) {
  return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

std::string Header(DType type, const Shape& shape) {
  std::string dims;
  for (int64_t d : shape) dims += fmt::format("{},", d);
  if (shape.rank() > 1) dims.pop_back();
  std::string_view descr;
  for (const TypeRow& row : kTypes)
    if (row.type == type) descr = row.descr;
  std::string text = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", descr, dims);
  text.append((kAlignment - (10 + text.size() + 1) % kAlignment) % kAlignment, ' ');
  text += '\n';
  return std::string(kMagic) + '\x01' + '\x00' + char(text.size() & 255) + char(text.size() >> 8) + text;
}

Tensor ToF32(const ConstView& from) {
  Tensor t(DType::kF32, from.shape);
  float* out = t.mutable_view().as<float>();
  for (int64_t i = 0; i < from.elements(); ++i) out[i] = float(ElementAt(from, i));
  return t;
}

}  // namespace

Tensor ReadNpy(const std::string& path) {
  const auto file = MappedFile::Open(path);
  const auto [header, start] = SplitHeader(Text(*file), path);
  if (!ValueOf(header, "fortran_order", path).starts_with("False"))
    Fail(Code::kUnimplemented, path, "the .npy file is in Fortran order; try numpy.ascontiguousarray()");
  return CopyOf(Text(*file).substr(start), TypeOf(header, path), ShapeOf(header, path), path);
}

void WriteNpy(const std::string& path, const ConstView& tensor) {
  if (tensor.type == DType::kBF16 || IsNarrowFloat(tensor.type)) return WriteNpy(path, ToF32(tensor).view());
  if (IsNarrow(tensor.type)) return WriteNpy(path, AsBytes(tensor).view());
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  const std::string header = Header(tensor.type, tensor.shape);
  file.write(header.data(), std::streamsize(header.size()));
  if (tensor.bytes() > 0) file.write(tensor.as<char>(), std::streamsize(tensor.bytes()));
  file.close();
  if (file) return;
  std::error_code ignored;
  if (std::filesystem::is_regular_file(path, ignored)) std::filesystem::remove(path, ignored);
  Fail(Code::kUnavailable, path, "cannot write the file");
}

Tensor ReadBin(const std::string& path, DType type, const Shape& shape) {
  const auto file = MappedFile::Open(path);
  return CopyOf(Text(*file), type, shape, path);
}

}  // namespace mete
