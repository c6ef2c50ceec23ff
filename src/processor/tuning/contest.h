// Ways to compute a node, timed in turns: what decides which of them is the fastest on this machine.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

namespace mete {

// A candidate that is ready to be timed: its weights are packed, and it has run once, so that its memory is
// allocated.
struct Trial {
  std::function<double()> call_us;  // computes the node once and returns the microseconds
  int64_t bytes = 0;                // the memory that the candidate holds, mainly packed weights
};
// Makes the candidate with this index. It may be called, and its trials too, after the function that made it
// has returned: it owns what it needs, except the graph and the thread pool.
using MakeTrial = std::function<Trial(size_t)>;

// One call of each trial in turn, several rounds; the least time of each counts. A temporary load on the
// machine then slows all trials, and not only the one that is measured during it. After some rounds only
// trials that may still win go on. The order is the same in every round: if it were reversed, the last trial
// would run twice in a row and find its weights in the cache.
class Turns {
 public:
  explicit Turns(std::vector<const Trial*> trials);

  bool done() const { return done_; }
  void Step();  // calls one trial
  // Calls the trial before the next one without counting its time, so that the next one finds the caches as
  // it does in the other rounds. For a pause in which other work ran.
  void Resume();
  const std::vector<double>& least_us() const { return least_; }

 private:
  bool Hopeless(size_t trial) const;

  const std::vector<const Trial*> trials_;
  std::vector<double> least_;
  double all_ = 0, best_ = std::numeric_limits<double>::infinity();
  size_t next_ = 0;
  int round_ = 0;
  bool done_ = false;
};

// Measures all candidates, in steps of one call or of making one candidate, so that other work may run
// between two steps. The candidates that exist at one time hold kTogether bytes and one candidate more at
// most; larger ones, such as those of a fully connected layer of 400 MB, are measured group after group. The
// value of kTogether is a guess: below the largest candidate of usual networks, F(4x4) of 512 x 512 channels.
//
// Short calls are over before a disturbance of some milliseconds is, which may have slowed all calls of a
// group's first trial. Therefore a trial that seems faster than the first one, which is the fastest by
// estimate, is measured beside it once more.
class Contest {
 public:
  static constexpr int64_t kTogether = 32 << 20;

  // `candidates`: the indexes for `make`, the fastest by estimate first.
  Contest(std::vector<size_t> candidates, MakeTrial make)
      : candidates_(std::move(candidates)), make_(std::move(make)) {}

  bool done() const { return us_.size() == candidates_.size(); }
  void Step();
  // To be called before the first step after a pause in which other work ran.
  void Resume();
  const std::vector<size_t>& candidates() const { return candidates_; }
  const std::vector<double>& us() const { return us_; }  // of the candidates that are done, in their order

 private:
  bool GroupIsFull() const;
  void Begin(const std::vector<size_t>& group);
  void EndTurns();

  std::vector<size_t> candidates_;
  MakeTrial make_;
  std::vector<Trial> group_;
  int64_t group_bytes_ = 0;
  std::vector<double> group_us_;   // empty while the group's first turns run
  std::vector<size_t> measuring_;  // the trials of the group that have turns now; empty: the group is made
  std::vector<Turns> turns_;       // one, or none
  size_t confirmed_ = 0, confirmations_ = 0;
  std::vector<double> us_;
};

}  // namespace mete
