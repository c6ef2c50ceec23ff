// Everything that is wrong with a model, collected so that one Error can tell all of it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/error.h"

namespace mete::onnx_import {

// For messages: names in a file may hold line breaks and the control sequences of terminals, which become '?'.
std::string Printable(std::string text);

class Problems {
 public:
  explicit Problems(std::string model) : model_(std::move(model)) {}

  template <class... A>
  void Bad(const std::string& where, fmt::format_string<A...> format, A&&... args) {
    Add("[" + where + "] " + fmt::format(format, std::forward<A>(args)...));
  }
  void Bad(const Error& error) { Add(error.what()); }

  // Counted by `what`, e.g. "operator Loop", with the reason and the first node or value that asks for it.
  void Unsupported(const std::string& what, const std::string& reason, const std::string& first);

  bool any() const { return !bad_.empty() || !unsupported_.empty(); }
  const std::string& model() const { return model_; }
  // Throws if there are any: UNIMPLEMENTED where all that stands in the way is what Mete lacks, otherwise
  // INVALID_ARGUMENT.
  void Throw() const;

 private:
  struct Count {
    int times = 0;
    std::string first;
  };
  void Add(std::string line);

  std::string model_;
  std::vector<std::string> bad_;  // the first ones
  size_t more_bad_ = 0;
  std::map<std::string, Count> unsupported_;
};

}  // namespace mete::onnx_import
