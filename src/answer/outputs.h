// The outputs of a network by what a head expects of them.
#pragma once

#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

#include "mete/answer.h"

namespace mete {

// An output as numbers, whatever its type. Of planes the channels come first.
struct HeadValues {
  std::string_view name;  // of the output
  Shape shape;
  std::vector<float> values;
  bool integers = false;  // whether the output's type is one of integers

  int64_t dim(int i) const { return shape[i]; }
  const float* row(int64_t i, int64_t width) const { return values.data() + i * width; }
};

class HeadOutputs {
 public:
  static constexpr int64_t kAny = -1;  // a dimension of any size

  // `planes`: where outputs of four dimensions have their channels.
  HeadOutputs(const char* head, std::span<const HeadOutput> outputs, TensorOrder planes = TensorOrder::kNchw)
      : head_(head), all_(outputs), planes_(planes) {}

  // Returns the output whose dimensions are these. Of several outputs it is the first whose name contains one
  // of the words of `names`, or the first; never that called `except`. Error if there is none, or if it is
  // integers that stand for unknown numbers; `what` names it in the message.
  HeadValues Find(const char* what, std::initializer_list<int64_t> dims, std::string_view names = {},
                  std::string_view except = {}) const;
  // The same, and integers are what they are: numbers of classes, or pixels.
  HeadValues FindOfAnyType(const char* what, std::initializer_list<int64_t> dims, std::string_view names = {},
                           std::string_view except = {}) const;
  // The same, or nothing.
  const HeadOutput* FindIfAny(std::initializer_list<int64_t> dims, std::string_view names = {},
                              std::string_view except = {}) const;
  HeadValues ValuesOf(const HeadOutput& output) const;
  // Returns all outputs with this number of dimensions. Errors as Find().
  std::vector<HeadValues> OfRank(const char* what, int rank) const;

  void RefuseIntegers(const HeadValues& values) const;
  // Fails if the settings name another number of classes, or ask for one that there is not.
  void CheckClasses(int64_t classes, const HeadSettings& settings) const;
  // Fails if the settings ask for a class, or a point, that there is not.
  void CheckShown(int64_t classes, const HeadSettings& settings) const;
  // Fails if an output has not as many boxes as cells of the input, or as prior boxes in them.
  void CheckCount(int64_t boxes, size_t expected, const InputPlace& place) const;

  // Throws INVALID_ARGUMENT: "[head NAME] <problem>; got <the outputs>, expected <expected>; try <advice>".
  [[noreturn]] void Fail(std::string_view problem, std::string_view expected,
                         std::string_view advice = "another head ('mete help heads')") const;

 private:
  Shape ShapeOf(const HeadOutput& output) const;

  const char* head_;
  std::span<const HeadOutput> all_;
  TensorOrder planes_;
};

// Returns whether the scores are logits: exporters leave the sigmoid out or not, and a probability lies
// between 0 and 1.
bool LackSigmoid(const std::vector<float>& scores);

}  // namespace mete
