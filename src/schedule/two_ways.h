// Chooses between two ways to do a repeated task, the usual way and another, by measuring them: the other way
// is tried now and then if the caller has a reason for it, and kept if it was faster; then the usual way is
// tried now and then.
#pragma once

namespace mete {

class TwoWays {
 public:
  struct Rule {
    double much_sooner;  // the other way is kept if it takes less than this fraction of the usual way's time
    int trial_runs;      // runs of a trial
    // The first runs of a trial, and after a trial that changes the way back, whose times are ignored because
    // caches are cold and threads asleep.
    int settling_runs;
    int least_patience;  // runs before the first trial, and after a trial that changed the way
    double usual_gain;   // least weight of a new time in the average
    // True: a trial needs only least_patience if the way in use now takes longer than the other way did.
    bool doubts;
  };
  explicit TwoWays(const Rule& rule);

  bool other() const { return other_; }  // true if the next run is due in the other way
  bool trying() const { return trial_ > 0; }
  bool keeps_other() const {
    return other_ != trying();
  }                                              // true if the other way is in use; trials do not count
  int seen() const { return usual_time_.seen; }  // number of runs in the usual way

  // Records that a run in the usual or the other way took `ns`. The way need not be the one that was due.
  void Learn(bool other, double ns);
  struct Outlook {
    bool promising = false;   // a new trial may begin
    bool void_trial = false;  // a trial that ends now is not judged
  };
  // Chooses the way of the next run.
  void Next(const Outlook& outlook);
  void UseUsual() {
    other_ = false;
    trial_ = 0;
  }

  // Returns the weight of a new time in the average of the usual way: the first times have equal weights,
  // later times a small one.
  double usual_gain() const { return GainOf(usual_time_.seen); }
  static double Bounded(double ns, double usual_ns);  // bounds the effect of a single long delay
  double usual_ns() const { return usual_time_.ns; }  // 0: not known yet
  double other_ns() const { return other_time_.ns; }

 private:
  struct Time {
    double ns = 0;
    int seen = 0;
  };
  // Compares the average times. If `kept_other` is false, the other way must be sooner by much_sooner.
  bool OtherIsSooner(bool kept_other) const;
  void Judge();
  double GainOf(int seen) const;

  Rule rule_;
  Time usual_time_, other_time_;
  bool other_ = false;
  int trial_ = 0;     // remaining runs of the trial
  int settling_ = 0;  // remaining runs whose times are ignored
  int since_ = 0;     // runs since the last trial began
  int patience_;      // runs from the begin of a trial until the next may begin
};

}  // namespace mete
