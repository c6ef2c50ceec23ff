#include "serve/protocol/request_bounds.h"

#include "base/error.h"
#include "serve/protocol/inference.h"

namespace mete::serve {
namespace {

constexpr size_t kMostShown = 60;  // characters: enough to recognize a name, and a line of a log stays a line

void CheckDims(const std::string& where, std::span<const int64_t> dims) {
  if (dims.size() > size_t(Shape::kMaxRank))
    Invalid(where, "the shape has too many dimensions; got {}, expected at most {}", dims.size(),
            Shape::kMaxRank);
  for (const int64_t dim : dims)
    if (dim < 0) Invalid(where, "a dimension is negative; got {}, expected 0 or more", dim);
}

}  // namespace

InputForm InputMemory::Take(const std::string& where, std::string_view datatype,
                            std::span<const int64_t> dims) {
  InputForm form;
  form.type = DTypeOfDatatype(datatype);
  const bool is_bytes = datatype == kBytesDatatype;
  if (form.type == DType::kUnknown && !is_bytes)
    Invalid(where,
            "the datatype is unknown; got '{}', expected BOOL, UINT8, UINT16, UINT32, UINT64, INT8, INT16, "
            "INT32, INT64, FP16, BF16, FP32, FP64 or BYTES",
            Shown(datatype));
  CheckDims(where, dims);
  form.shape = Shape(dims);
  const auto element = int64_t(is_bytes ? sizeof(std::string) : SizeOf(form.type));
  form.elements = CheckedElements(form.shape, DType::kU8, left_ / element);
  if (form.elements < 0)
    Fail(Code::kResourceExhausted, where,
         "the inputs have too many elements; got {} of {}, expected at most {} more bytes in this request; "
         "try smaller requests",
         ToString(form.shape), datatype, left_);
  left_ -= form.elements * element;
  return form;
}

std::string TensorNames::Add(const char* what, const std::string& name) {
  std::string where = std::string(what) + " '" + Shown(name) + "'";
  if (name.empty()) Invalid(where, "the name is empty");
  if (!seen_.insert(name).second) Invalid(where, "the request names this {} twice; expected it once", what);
  return where;
}

void RefuseSharedMemory(const std::string& where) {
  Invalid(where, "shared memory is not supported; try to send the elements with the request");
}

void CheckLoadParameter(const std::string& name) {
  if (name == "config" || name.starts_with("file:"))
    Invalid(
        "request",
        "a model is loaded as the repository has it; got the parameter '{}'; try to change the repository",
        Shown(name));
}

std::string Shown(std::string_view text) {
  const bool all = text.size() <= kMostShown;
  return Printable(std::string(text.substr(0, kMostShown))) + (all ? "" : "...");
}

}  // namespace mete::serve
