// The answers of a source one after the other, and the times without one.
#pragma once

#include <optional>
#include <string>

#include "top/figures.h"
#include "top/view.h"

namespace mete::top {

class History {
 public:
  void Answered(Figures figures);
  void Failed(std::string why, double at_s);  // by the clock of Figures::at_s

  bool silent() const { return silent_since_s_.has_value(); }
  // Returns what the last two answers say, and since when there is none. One answer must have come before.
  View ViewAt(double now_s) const;

 private:
  std::optional<Figures> last_;
  View view_;
  std::optional<double> silent_since_s_;  // when the last answer came; nothing: the last poll had one
  std::string problem_;
};

}  // namespace mete::top
