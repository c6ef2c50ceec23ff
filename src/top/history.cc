#include "top/history.h"

#include <algorithm>
#include <utility>

namespace mete::top {

void History::Answered(Figures figures) {
  view_ = last_ ? Compare(*last_, figures) : FirstView(figures);
  last_ = std::move(figures);
  silent_since_s_.reset();
  problem_.clear();
}

void History::Failed(std::string why, double at_s) {
  if (!silent_since_s_) silent_since_s_ = last_ ? last_->at_s : at_s;
  problem_ = std::move(why);
}

View History::ViewAt(double now_s) const {
  View view = view_;
  if (!silent_since_s_) return view;
  view.silent_s = std::max(0.0, now_s - *silent_since_s_);
  view.problem = problem_;
  return view;
}

}  // namespace mete::top
