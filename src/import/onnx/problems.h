// Everything that is wrong with a model, collected so that one Error can tell all of it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/error.h"

namespace mete::onnx_import {

class Problems {
 public:
  explicit Problems(std::string model) : model_(std::move(model)) {}

  template <class... A>
  void Bad(const std::string& where, fmt::format_string<A...> format, A&&... args) {
    Bad(Error(Code::kInvalidArgument, "[" + where + "] " + fmt::format(format, std::forward<A>(args)...)));
  }
  void Bad(const Error& error) {
    bad_model_ = true;
    Add(error.what());
  }
  // The caller's fault and not the model's.
  template <class... A>
  void BadRequest(const std::string& where, fmt::format_string<A...> format, A&&... args) {
    Add("[" + where + "] " + fmt::format(format, std::forward<A>(args)...));
  }

  // Counted by `what`, e.g. "operator Loop", with the reason and the first node or value that asks for it.
  // One that asks twice in a row (If, with two branches) counts once.
  void Unsupported(const std::string& what, const std::string& reason, const std::string& who);

  bool any() const { return !bad_.empty() || !unsupported_.empty(); }
  const std::string& model() const { return model_; }
  // Throws if there are any: INVALID_ARGUMENT for a bad model, UNIMPLEMENTED where Mete lacks something, and
  // FAILED_PRECONDITION where only the request stands in the way.
  void Throw() const;

 private:
  struct Count {
    int times = 0;
    std::string first, last;
  };
  void Add(std::string line);

  std::string model_;
  std::vector<std::string> bad_;  // the first ones
  size_t more_bad_ = 0;
  bool bad_model_ = false;
  std::map<std::string, Count> unsupported_;
};

}  // namespace mete::onnx_import
