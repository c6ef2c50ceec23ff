// Collects the problems of several nodes, or of several keys of a file, into one Error.
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
  // Does `what`, and adds the Error that it may throw.
  template <class F>
  void Try(F&& what) {
    try {
      what();
    } catch (const Error& e) {
      Add(e);
    }
  }
  bool any() const { return !text_.empty(); }
  // Throws what was collected, a line each, under the first one's code; returns where there was nothing.
  void ThrowIfAny() const {
    if (!text_.empty()) throw Error(code_, text_);
  }

 private:
  Code code_ = Code::kOk;
  std::string text_;
};

}  // namespace mete
