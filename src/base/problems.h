// Collects the problems of several nodes, or of several keys of a file, into one Error.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

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

// Problems that many nodes may have alike: one line for all of them, "[conv1 and 29 others] unknown policy;
// ...".
class SharedProblems {
 public:
  // `most`: lines that are kept; a hostile file must not make an endless message.
  explicit SharedProblems(size_t most = 100) : most_(most) {}

  void Add(const std::string& where, const std::string& what) {
    const auto at =
        std::find_if(lines_.begin(), lines_.end(), [&](const Line& line) { return line.what == what; });
    if (at != lines_.end()) ++at->count;
    else if (lines_.size() < most_) lines_.push_back({what, where, 1});
    else ++more_;
  }
  bool any() const { return !lines_.empty(); }
  std::string Text() const {
    std::string text;
    for (const Line& line : lines_)
      text += (text.empty() ? "[" : "\n[") + line.first +
              (line.count == 1
                   ? ""
                   : " and " + std::to_string(line.count - 1) + (line.count == 2 ? " other" : " others")) +
              "] " + line.what;
    if (more_ > 0) text += "\n... and " + std::to_string(more_) + " more";
    return text;
  }
  void ThrowIfAny() const {
    if (any()) throw Error(Code::kInvalidArgument, Text());
  }

 private:
  struct Line {
    std::string what, first;
    int count = 0;
  };
  size_t most_;
  std::vector<Line> lines_;  // in the order in which they came
  size_t more_ = 0;
};

}  // namespace mete
