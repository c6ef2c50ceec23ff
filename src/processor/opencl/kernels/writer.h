// Appends formatted pieces to a text.
#pragma once

#include <fmt/format.h>

#include <iterator>
#include <string>
#include <utility>

namespace mete::opencl {

class Writer {
 public:
  // Appends a line.
  template <class... A>
  void Line(fmt::format_string<A...> format, A&&... args) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<A>(args)...);
    text_ += '\n';
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace mete::opencl
