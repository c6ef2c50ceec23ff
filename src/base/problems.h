// Collects the problems of several nodes into one Error.
#pragma once

#include <string>

#include "mete/error.h"

namespace mete {

class Problems {
 public:
  void Add(const Error& e) {
    if (text_.empty()) code_ = e.code();
    text_ += (text_.empty() ? "" : "\n") + std::string(e.what());
  }
  // Throws what was collected, a line each, under the first one's code; returns where there was nothing.
  void ThrowIfAny() const {
    if (!text_.empty()) throw Error(code_, text_);
  }

 private:
  Code code_ = Code::kOk;
  std::string text_;
};

}  // namespace mete
