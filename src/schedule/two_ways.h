// Two ways to do the same thing again and again: the usual one and another. Which of them takes less time is
// found out by doing it: the other way is tried now and then where somebody has a reason to, and kept where
// it was faster; then the usual one is tried now and then.
#pragma once

namespace mete {

class TwoWays {
 public:
  struct Rule {
    double much_sooner;  // the other way is kept where it takes less than so much of the usual one's time
    int trial_runs;      // that a trial has
    // of them, and of those after it, the first so many do not count: caches are cold, threads asleep
    int settling_runs;
    int least_patience;  // times until the first trial, and from one that changed the way to the next
    double usual_gain;   // how much a new time counts, at least
    // least_patience is enough where the way in use has come to take longer than is known of the other
    bool doubts;
  };
  explicit TwoWays(const Rule& rule);

  bool other() const { return other_; }  // which way the next time is due to be
  bool trying() const { return trial_ > 0; }
  bool keeps_other() const { return other_ != trying(); }  // but for a trial
  int seen() const { return usual_time_.seen; }            // times of the usual way

  // It was done in the one way or in the other, which need not be the way that was due, in `ns`.
  void Learn(bool other, double ns);
  // Before it is done again; a trial that ends is judged unless it is `void_trial`, and another may begin
  // where `promising`.
  void Next(bool promising, bool void_trial = false);
  void UseUsual() { other_ = false, trial_ = 0; }

  // How much a new time of the usual way counts: the first ones as much as each other, later ones little.
  double usual_gain() const { return GainOf(usual_time_.seen); }
  static double Bounded(double ns, double usual_ns);  // one long delay is forgiven
  double usual_ns() const { return usual_time_.ns; }  // 0: not known yet
  double other_ns() const { return other_time_.ns; }

 private:
  struct Time {
    double ns = 0;
    int seen = 0;
  };
  // by what is known; the way that is kept has the benefit of the doubt
  bool OtherIsSooner(bool kept_other) const;
  void Judge();
  double GainOf(int seen) const;

  Rule rule_;
  Time usual_time_, other_time_;
  bool other_ = false;
  int trial_ = 0;     // times that are left of a trial
  int settling_ = 0;  // times that are left until they count
  int since_ = 0;     // times since the last trial began
  int patience_;      // times until the next may
};

}  // namespace mete
