// The text of an answer that comes in parts, up to the first of the texts that end it.
#pragma once

#include <string>
#include <vector>

namespace mete {

class AnswerText {
 public:
  // Texts of no bytes are left out.
  explicit AnswerText(std::vector<std::string> ends);

  // Returns what can be shown after the next part. What may be the beginning of an end waits for parts that
  // follow: of "a#" with the end "##" it is "a".
  std::string Add(const std::string& part);
  bool ended() const { return ended_; }
  // Returns the text that waits, when no part follows.
  std::string Rest();

 private:
  std::vector<std::string> ends_;
  std::string waiting_;
  bool ended_ = false;
};

}  // namespace mete
