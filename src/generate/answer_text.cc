#include "generate/answer_text.h"

#include <algorithm>
#include <utility>

namespace mete {

AnswerText::AnswerText(std::vector<std::string> ends) : ends_(std::move(ends)) { std::erase(ends_, ""); }

std::string AnswerText::Add(const std::string& part) {
  if (ended_) return "";
  waiting_ += part;
  size_t shown = waiting_.size();
  for (const std::string& end : ends_) {
    const size_t found = waiting_.find(end);
    ended_ |= found != std::string::npos;
    shown = std::min(shown, found);
  }
  if (!ended_) {
    const auto may_begin = [&](const std::string& end, size_t at) {
      return end.compare(0, waiting_.size() - at, waiting_, at, std::string::npos) == 0;
    };
    for (const std::string& end : ends_)
      for (size_t at = waiting_.size() - std::min(waiting_.size(), end.size()); at < shown; ++at)
        if (may_begin(end, at)) shown = at;
  }
  std::string text = waiting_.substr(0, shown);
  waiting_ = ended_ ? "" : waiting_.substr(shown);
  return text;
}

std::string AnswerText::Rest() { return std::exchange(waiting_, ""); }

}  // namespace mete
