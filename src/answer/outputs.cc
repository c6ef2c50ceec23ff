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

bool HasOneOf(std::string_view name, std::string_view words) {
  while (!words.empty()) {
    const std::string_view word = words.substr(0, words.find(' '));
    if (name.find(word) != name.npos) return true;
    words.remove_prefix(std::min(words.size(), word.size() + 1));
  }
  return false;
}

// Returns which head could have that many classes in one of the outputs.
std::string_view FittingHead(std::span<const HeadOutput> outputs, int64_t classes) {
  for (const HeadOutput& output : outputs) {
    const Shape& shape = output.values.shape;
    if (shape.rank() != 3) continue;
    if (shape[1] == 4 + classes) return "the head yolo-v8";
    if (shape[2] == 4 + classes) return "the head rt-detr";
    if (shape[2] == 5 + classes) return "the head yolo-v5 or yolo-x";
    if (shape[2] == 6) return "the head yolo-end-to-end";
  }
  return "labels of the network";
}

std::string DimsText(std::initializer_list<int64_t> dims) {
  std::string text;
  for (const int64_t dim : dims)
    text += (text.empty() ? "" : "x") + (dim == HeadOutputs::kAny ? std::string("N") : std::to_string(dim));
  return text;
}

}  // namespace

Shape HeadOutputs::ShapeOf(const HeadOutput& output) const {
  const Shape& shape = output.values.shape;
  if (planes_ == TensorOrder::kNchw || shape.rank() != 4) return shape;
  return {shape[0], shape[3], shape[1], shape[2]};
}

HeadValues HeadOutputs::ValuesOf(const HeadOutput& output) const {
  const ConstView& from = output.values;
  HeadValues to{output.name, ShapeOf(output), std::vector<float>(size_t(from.elements())), IsInt(from.type)};
  const bool last = planes_ == TensorOrder::kNhwc && from.shape.rank() == 4;
  const int64_t pictures = last ? to.dim(0) : 1, channels = last ? to.dim(1) : 1,
                cells = last ? to.dim(2) * to.dim(3) : from.elements();
  float* next = to.values.data();
  if (to.values.empty()) return to;  // whose other dimensions may be any
  for (int64_t picture = 0; picture < pictures; ++picture)
    for (int64_t channel = 0; channel < channels; ++channel)
      for (int64_t cell = 0; cell < cells; ++cell)
        *next++ = float(ElementAt(from, (picture * cells + cell) * channels + channel));
  return to;
}

void HeadOutputs::Fail(std::string_view problem, std::string_view expected, std::string_view advice) const {
  std::string got;
  for (const HeadOutput& output : all_)
    got += fmt::format("{}'{}' {}", got.empty() ? "" : ", ", output.name, ToString(output.values.shape));
  if (planes_ == TensorOrder::kNhwc) got += " as nhwc";
  Invalid(fmt::format("head {}", head_), "{}; got {}, expected {}; try {}", problem, got, expected, advice);
}

void HeadOutputs::RefuseIntegers(const HeadValues& values) const {
  if (values.integers)
    Fail(
        fmt::format("'{}' has integers, and the file does not say which numbers they stand for", values.name),
        "floats, or integers with a scale", "a model whose outputs are floats");
}

void HeadOutputs::CheckClasses(int64_t classes, const HeadSettings& settings) const {
  if (settings.named > 0 && classes != settings.named)
    Fail(fmt::format("the scores are of {} classes, but {} have names", classes, settings.named),
         "a name for each class", FittingHead(all_, settings.named));
  CheckShown(classes, settings);
}

void HeadOutputs::CheckShown(int64_t classes, const HeadSettings& settings) const {
  for (const int label : settings.classes)
    if (label >= classes)
      Fail(fmt::format("there is no class {}", label), fmt::format("0 to {}", classes - 1), "other classes");
}

void HeadOutputs::CheckCount(int64_t boxes, size_t expected, const InputPlace& place) const {
  if (boxes != int64_t(expected))
    Fail("the boxes are not those of the input's size",
         fmt::format("{} for {}x{}", expected, place.input_width, place.input_height));
}

const HeadOutput* HeadOutputs::FindIfAny(std::initializer_list<int64_t> dims, std::string_view names,
                                         std::string_view except) const {
  const HeadOutput* found = nullptr;
  for (const HeadOutput& output : all_) {
    if (!Fits(ShapeOf(output), dims) || output.name == except) continue;
    if (HasOneOf(output.name, names)) return &output;
    if (!found) found = &output;
  }
  return found;
}

HeadValues HeadOutputs::FindOfAnyType(const char* what, std::initializer_list<int64_t> dims,
                                      std::string_view names, std::string_view except) const {
  const HeadOutput* found = FindIfAny(dims, names, except);
  if (!found) Fail(fmt::format("no output can be the {}", what), DimsText(dims));
  return ValuesOf(*found);
}

HeadValues HeadOutputs::Find(const char* what, std::initializer_list<int64_t> dims, std::string_view names,
                             std::string_view except) const {
  HeadValues found = FindOfAnyType(what, dims, names, except);
  RefuseIntegers(found);
  return found;
}

std::vector<HeadValues> HeadOutputs::OfRank(const char* what, int rank) const {
  std::vector<HeadValues> found;
  for (const HeadOutput& output : all_)
    if (output.values.shape.rank() == rank) found.push_back(ValuesOf(output));
  if (found.empty()) Fail(fmt::format("no output can be the {}", what), fmt::format("{} dimensions", rank));
  for (const HeadValues& values : found) RefuseIntegers(values);
  return found;
}

bool LackSigmoid(const std::vector<float>& scores) {
  return std::any_of(scores.begin(), scores.end(), [](float v) { return v < 0 || v > 1; });
}

}  // namespace mete
