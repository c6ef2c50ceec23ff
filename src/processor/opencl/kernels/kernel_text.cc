#include "processor/opencl/kernels/kernel_text.h"

#define XXH_INLINE_ALL
#include <fmt/ranges.h>
#include <xxhash.h>

#include <cmath>
#include <limits>

#include "base/error.h"

namespace mete::opencl {

namespace {

std::string Digest(const std::string& text) {
  const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

}  // namespace

std::string DigestOf(const KernelText& text) {
  return Digest(fmt::format("{}\n{},{},{}\n{},{},{}\n{}{}{}", text.name, text.items[0], text.items[1],
                            text.items[2], text.group[0], text.group[1], text.group[2],
                            fmt::join(text.sizes, ","), text.sizes.empty() ? "" : "\n", text.source));
}

std::string DigestOfProgram(const KernelText& text) { return Digest(text.name + "\n" + text.source); }

std::string SizeList::operator()(int64_t size) {
  if (size > std::numeric_limits<int32_t>::max())
    Fail(Code::kResourceExhausted, "GPU kernel",
         "weights are too large to be packed; got {} bytes, expected at most 2 GiB", size);
  sizes_.push_back(int32_t(size));
  return fmt::format("n{}", sizes_.size() - 1);
}

std::string SizeList::Declarations() const {
  std::string text;
  for (size_t i = 0; i < sizes_.size(); ++i)
    text += fmt::format("{}n{}=sizes[{}]", i ? "," : "const int ", i, i);
  return text + ";";
}

int VectorWidth(int64_t most) {
  for (int width : kVectorWidths)
    if (width <= most) return width;
  return 1;
}

std::string ElementName(DType type) {
  switch (type) {
    case DType::kF32: return "float";
    case DType::kF16: return "half";
    case DType::kU8: return "uchar";
    case DType::kI8: return "char";
    default:
      Fail(Code::kUnimplemented, "GPU kernel",
           "a type of elements is not supported; got {}, expected f32, f16, u8 or i8", Name(type));
  }
}

std::string FloatVector(int width) { return width == 1 ? "float" : fmt::format("float{}", width); }

std::string FloatLiteral(float value) {
  if (std::isnan(value)) return "NAN";
  if (std::isinf(value)) return value < 0 ? "(-INFINITY)" : "INFINITY";
  return fmt::format("({:a}f)", value);
}

namespace {

// PoCL 3.1 reads 8 or more halves by an instruction that demands 16 aligned bytes, where OpenCL demands 2.
constexpr int kMostHalves = 4;

std::string HalvesInParts(int width, const std::string& at) {
  std::string list;
  for (int part = 0; part < width / kMostHalves; ++part)
    list += fmt::format("{}vload_half{}({},{})", part ? "," : "", kMostHalves, part, at);
  return fmt::format("(({})({}))", FloatVector(width), list);
}

}  // namespace

std::string LoadText(DType type, int width, const std::string& pointer, const std::string& offset) {
  const std::string n = width == 1 ? "" : std::to_string(width);
  const std::string at = fmt::format("({})+({})", pointer, offset);
  if (type == DType::kF16 && width > kMostHalves) return HalvesInParts(width, at);
  if (type == DType::kF16) return fmt::format("vload_half{}(0,{})", n, at);
  const std::string elements = width == 1 ? fmt::format("*({})", at) : fmt::format("vload{}(0,{})", n, at);
  if (type == DType::kF32) return elements;
  return fmt::format("convert_float{}({})", n, elements);
}

std::string StoreText(DType type, int width, const std::string& value, const std::string& pointer,
                      const std::string& offset) {
  const std::string n = width == 1 ? "" : std::to_string(width);
  const std::string at = fmt::format("({})+({})", pointer, offset);
  if (type == DType::kF16) return fmt::format("vstore_half{}_rte({},0,{});", n, value, at);
  const std::string elements =
      type == DType::kF32 ? value : fmt::format("convert_{}{}_sat_rte({})", ElementName(type), n, value);
  return width == 1 ? fmt::format("*({})={};", at, elements)
                    : fmt::format("vstore{}({},0,{});", n, elements, at);
}

std::string PointerText(const std::string& buffer, int64_t first) {
  return first ? fmt::format("({}+{})", buffer, first) : buffer;
}

std::string LaneText(const std::string& name, int width, int lane) {
  return width == 1 ? name : fmt::format("{}.s{:x}", name, lane);
}

std::string LoadLanes(DType type, int width, int lanes, const std::string& pointer,
                      const std::string& offset) {
  if (lanes >= width) return LoadText(type, width, pointer, offset);
  std::string list;
  for (int i = 0; i < width; ++i) {
    if (i) list += ",";
    list += i < lanes ? LoadText(type, 1, pointer, fmt::format("({})+{}", offset, i)) : "0.0f";
  }
  return fmt::format("({})({})", FloatVector(width), list);
}

std::string StoreLanes(DType type, int width, int lanes, const std::string& value, const std::string& pointer,
                       const std::string& offset) {
  if (lanes >= width) return StoreText(type, width, value, pointer, offset);
  std::string all;
  for (int i = 0; i < lanes; ++i)
    all += StoreText(type, 1, LaneText(value, width, i), pointer, fmt::format("({})+{}", offset, i));
  return all;
}

Arguments& Arguments::Add(const std::string& type, const std::string& name, Overlap overlap) {
  list_ += fmt::format("{}global {}*{} {},ulong {}_from", list_.empty() ? "" : ",", type,
                       overlap == Overlap::kNone ? " restrict" : "", name, name);
  moves_ += fmt::format("{0}=(global {1}*)((global const uchar*){0}+{0}_from);\n", name, type);
  return *this;
}

std::string Arguments::Head(const KernelText& text) const {
  return fmt::format("kernel __attribute__((reqd_work_group_size({},{},{}))) void {}({}){{\n{}",
                     text.group[0], text.group[1], text.group[2], text.name, list_, moves_);
}

void CheckElements(const char* where, std::initializer_list<int64_t> counts) {
  for (int64_t count : counts)
    if (count <= 0 || count > std::numeric_limits<int32_t>::max())
      Invalid(where, "a tensor has too many elements for a kernel of the GPU; got {}, expected 1 to {}",
              count, std::numeric_limits<int32_t>::max());
}

}  // namespace mete::opencl
