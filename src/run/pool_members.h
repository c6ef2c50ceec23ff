// Knows of the processors of a session who is there, when those that are lost are tried again, and how far
// their times have been from the costs for long.
#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "costs/pool.h"
#include "mete/engine.h"
#include "run/back_off.h"
#include "run/member.h"
#include "run/teller.h"

namespace mete {

// Some processors of a pool, to plan for.
struct PoolPart {
  std::vector<size_t> indices;   // into the pool's
  PoolCosts costs;               // corrected by what was measured
  std::vector<Member*> members;  // the home's is null
};

struct PoolMembersOptions {
  std::chrono::milliseconds hello_timeout;
  Clock& clock;
};

// Thread-safe, except for the functions that ask members: one thread at a time calls these.
class PoolMembers {
 public:
  // `members` has one for each processor of the costs; the first, the home's, is null. This object keeps the
  // references. Once `ending` is cancelled nobody is lost any more.
  PoolMembers(const PoolCosts& costs, std::vector<std::unique_ptr<Member>> members,
              const PoolMembersOptions& options, Teller& teller, const CancelToken& ending);

  std::vector<size_t> There() const;  // the home is always
  PoolPart PartOf(std::vector<size_t> processors) const;
  size_t size() const { return members_.size(); }
  int64_t lost() const;  // times that one was

  void Lose(size_t processor, const Error& error, BackOff::Loss loss);
  void Serves(size_t processor);                 // the plan in use has a part for it
  void Correct(size_t processor, double ratio);  // of its times beside the costs

  bool TryAgain();    // asks the lost ones whose time has come; true if somebody has come back
  void DropSilent();  // asks all who are there; those who do not answer are lost

  void ForgetShares();
  void Cancel();  // ends whatever somebody waits for

 private:
  struct State {
    bool there = true;
    BackOff back_off;
    // why it cannot serve, as was told; of one that serves, or is lost in another way, none
    std::optional<Code> refusal;
    double scale = 1;  // of the costs
  };

  bool SaysHello(size_t processor);                                       // else it is lost
  std::vector<size_t> WhoAnswers(const std::vector<size_t>& processors);  // the others are lost

  const PoolCosts& costs_;
  const std::vector<std::unique_ptr<Member>> members_;
  const PoolMembersOptions options_;
  Teller& teller_;
  const CancelToken& ending_;
  mutable std::mutex mutex_;
  std::vector<State> states_;
  int64_t lost_ = 0;
};

}  // namespace mete
