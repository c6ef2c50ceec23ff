// How long a step of a photo takes by its amounts, such as pixels and bytes, from those that were seen.
#pragma once

#include <optional>
#include <vector>

namespace mete::serve {

// A step that was seen: its amounts, in any units, and its time. A step without a second amount has 0.
struct SeenStep {
  double first = 0, second = 0, ms = 0;

  bool operator==(const SeenStep&) const = default;
};

// The last steps of a kind on one side, for one kind of photos.
class SeenSteps {
 public:
  // Forgets the oldest step if there are too many.
  void Learn(const SeenStep& step);
  // Returns the time of a step with these amounts: a time for each unit of both, and a constant, none of them
  // below 0, as the steps show it by least squares of relative errors. One step alone shows a time in
  // proportion to the first amount. Nothing: no step was seen.
  std::optional<double> MsOf(double first, double second) const;

  const std::vector<SeenStep>& seen() const { return seen_; }  // the oldest first
  bool operator==(const SeenSteps&) const = default;

 private:
  std::vector<SeenStep> seen_;
};

// The median of the last times: an outlier does not move it, and a change is followed after some more.
class RecentTimes {
 public:
  void Learn(double ms);
  std::optional<double> ms() const;  // nothing: no time was seen

  const std::vector<double>& seen() const { return seen_; }  // the oldest first
  bool operator==(const RecentTimes&) const = default;

 private:
  std::vector<double> seen_;
};

}  // namespace mete::serve
