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
  // Calls `what` and adds the Error that it throws, if any.
  template <class F>
  void Try(F&& what) {
    try {
      what();
    } catch (const Error& e) {
      Add(e);
    }
  }
  bool any() const { return !text_.empty(); }
  // Throws one Error with a line for each collected problem and the code of the first. Returns if there are
  // none.
  void ThrowIfAny() const {
    if (!text_.empty()) throw Error(code_, text_);
  }

 private:
  Code code_ = Code::kOk;
  std::string text_;
};

// Collects problems that many nodes may share. Equal problems share one line: "[conv1 and 29 others] unknown
// policy; ...".
class SharedProblems {
 public:
  // At most `most` lines are kept, because a hostile file must not make an endless message.
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
  std::vector<Line> lines_;  // in the order in which they were added
  size_t more_ = 0;          // problems beyond the kept lines
};

}  // namespace mete
