// The outputs of a network by what a head expects of them.
#pragma once

#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "mete/answer.h"

namespace mete {

// An output as numbers, whatever its type.
struct HeadValues {
  std::string name;
  Shape shape;
  std::vector<float> values;
  bool integers = false;  // whether the output's type is one of integers

  int64_t dim(int i) const { return shape[i]; }
  const float* row(int64_t i, int64_t width) const { return values.data() + i * width; }
};

class HeadOutputs {
 public:
  static constexpr int64_t kAny = -1;  // a dimension of any size

  HeadOutputs(std::string head, std::span<const HeadOutput> outputs)
      : head_(std::move(head)), all_(outputs) {}

  // Returns the output whose dimensions are these. Of several outputs it is the first whose name contains one
  // of `names`, or the first; never that called `except`. Error if there is none; `what` names it in the
  // message.
  HeadValues Find(const char* what, std::initializer_list<int64_t> dims,
                  std::initializer_list<const char*> names = {}, const std::string& except = "") const;
  // The same, or nothing.
  std::optional<HeadValues> FindIfAny(std::initializer_list<int64_t> dims,
                                      std::initializer_list<const char*> names = {},
                                      const std::string& except = "") const;
  // Returns all outputs with this number of dimensions. Error if there is none.
  std::vector<HeadValues> OfRank(const char* what, int rank) const;

  // Throws INVALID_ARGUMENT: "[head NAME] <problem>; got <the outputs>, expected <expected>".
  [[noreturn]] void Fail(const std::string& problem, const std::string& expected) const;

 private:
  std::string head_;
  std::span<const HeadOutput> all_;
};

}  // namespace mete
