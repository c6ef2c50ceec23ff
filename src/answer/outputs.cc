#include "answer/outputs.h"

#include <algorithm>

#include "base/error.h"
#include "base/visit_type.h"
#include "mete/io.h"

namespace mete {
namespace {

bool Fits(const Shape& shape, std::initializer_list<int64_t> dims) {
  return shape.rank() == int(dims.size()) &&
         std::equal(dims.begin(), dims.end(), shape.begin(),
                    [](int64_t want, int64_t got) { return want == HeadOutputs::kAny || want == got; });
}

bool HasOneOf(const std::string& name, std::initializer_list<const char*> parts) {
  return std::any_of(parts.begin(), parts.end(),
                     [&](const char* part) { return name.find(part) != std::string::npos; });
}

HeadValues ValuesOf(const HeadOutput& output) {
  HeadValues values{output.name, output.values.shape, std::vector<float>(size_t(output.values.elements()))};
  for (size_t i = 0; i < values.values.size(); ++i)
    values.values[i] = float(ElementAt(output.values, int64_t(i)));
  values.integers = IsInt(output.values.type);
  return values;
}

std::string DimsText(std::initializer_list<int64_t> dims) {
  std::string text;
  for (const int64_t dim : dims)
    text += (text.empty() ? "" : "x") + (dim == HeadOutputs::kAny ? std::string("N") : std::to_string(dim));
  return text;
}

}  // namespace

void HeadOutputs::Fail(const std::string& problem, const std::string& expected) const {
  std::string got;
  for (const HeadOutput& output : all_)
    got += fmt::format("{}'{}' {}", got.empty() ? "" : ", ", output.name, ToString(output.values.shape));
  Invalid(fmt::format("head {}", head_), "{}; got {}, expected {}; try another head ('mete help heads')",
          problem, got, expected);
}

std::optional<HeadValues> HeadOutputs::FindIfAny(std::initializer_list<int64_t> dims,
                                                 std::initializer_list<const char*> names,
                                                 const std::string& except) const {
  const HeadOutput* found = nullptr;
  for (const HeadOutput& output : all_) {
    if (!Fits(output.values.shape, dims) || output.name == except) continue;
    if (HasOneOf(output.name, names)) return ValuesOf(output);
    if (!found) found = &output;
  }
  if (!found) return std::nullopt;
  return ValuesOf(*found);
}

HeadValues HeadOutputs::Find(const char* what, std::initializer_list<int64_t> dims,
                             std::initializer_list<const char*> names, const std::string& except) const {
  std::optional<HeadValues> found = FindIfAny(dims, names, except);
  if (!found) Fail(fmt::format("no output can be the {}", what), DimsText(dims));
  return std::move(*found);
}

std::vector<HeadValues> HeadOutputs::OfRank(const char* what, int rank) const {
  std::vector<HeadValues> found;
  for (const HeadOutput& output : all_)
    if (output.values.shape.rank() == rank) found.push_back(ValuesOf(output));
  if (found.empty()) Fail(fmt::format("no output can be the {}", what), fmt::format("{} dimensions", rank));
  return found;
}

}  // namespace mete
