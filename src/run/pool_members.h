// The processors of a session: which of them are there, when a lost one is tried again, and how far their
// times have been from the costs for long.
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

// Some of a pool's processors, for which a plan is made.
struct PoolPart {
  std::vector<size_t> indices;   // of these processors in the pool
  PoolCosts costs;               // corrected by measured times
  std::vector<Member*> members;  // the home's is null
};

struct PoolMembersOptions {
  std::chrono::milliseconds hello_timeout;
  Clock& clock;
  bool measured = true;  // false: SetCosts() brings the costs
};

// Thread-safe, except for the functions that ask members: one thread at a time calls these.
class PoolMembers {
 public:
  // `members` has one for each processor of the costs; the first, the home's, is null. This object keeps the
  // references to `teller` and `ending`. Once `ending` is cancelled, no processor counts as lost any more.
  PoolMembers(PoolCosts costs, std::vector<std::unique_ptr<Member>> members,
              const PoolMembersOptions& options, Teller& teller, const CancelToken& ending);

  // Those that are there and whose costs are known, and the home: for these a plan may be made.
  std::vector<size_t> There() const;
  std::vector<size_t> Answering() const;  // all that are there; the home is always among them
  bool AreMeasured(const std::vector<size_t>& processors) const;
  PoolPart PartOf(std::vector<size_t> processors) const;
  size_t size() const { return members_.size(); }
  int64_t lost() const;  // the number of losses
  // Returns the names of those of these processors that have Member::PreparesLate().
  std::vector<std::string> LateOnes(const std::vector<size_t>& processors) const;
  // Replaces the costs of these processors by measured ones. The thread that asks members calls this
  // function.
  void SetCosts(const std::vector<size_t>& processors, PoolCosts costs);

  void Lose(size_t processor, const Error& error, BackOff::Loss loss);
  void Serves(size_t processor);                 // the plan in use has a part for it
  void Correct(size_t processor, double ratio);  // of its times to the costs

  bool TryAgain();    // asks the lost processors whose time has come; true if one is back
  void DropSilent();  // asks the processors that are there; those that do not answer are lost

  void ForgetShares();
  void Cancel();  // ends all calls of members

 private:
  struct State {
    bool there = true, measured = true;
    BackOff back_off;
    // why it cannot serve, as the user was told; nothing if it serves, or is lost for another reason
    std::optional<Code> refusal;
    double scale = 1;  // of the costs
  };

  bool SaysHello(size_t processor);  // false: the processor is lost now
  // Returns the processors that answer; the others are lost now.
  std::vector<size_t> WhoAnswers(const std::vector<size_t>& processors);

  PoolCosts costs_;  // guarded by mutex_, except from the thread that asks members
  const std::vector<std::unique_ptr<Member>> members_;
  const PoolMembersOptions options_;
  Teller& teller_;
  const CancelToken& ending_;
  mutable std::mutex mutex_;
  std::vector<State> states_;
  int64_t lost_ = 0;
};

}  // namespace mete
