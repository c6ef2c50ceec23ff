// The pieces that a processor gets from others for one request: threads that read from the network, or that
// compute on other processors, fill an inbox, and the thread that computes the request empties it.
#pragma once

#include <atomic>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "mete/engine.h"
#include "plan/pool/program.h"
#include "run/coding.h"

namespace mete {

// Names a piece of a request by numbers: that of the stage of the processor that gets the piece, of the need
// in this stage, and of the source of this need.
struct PieceId {
  int stage = 0, need = 0, source = 0;
};

class Inbox {
 public:
  // Keeps a reference to the program of this processor.
  Inbox(const Program& program, int processor, Coding coding);

  // Prepares the inbox for another request, as if it were new, but keeps its memory. No other thread may have
  // the inbox, and it must not have failed.
  void Reset();

  // Takes in bytes of a coded piece that begin at `offset`; they come in order. `from` is the processor that
  // sends them. Error if no such piece is expected of that processor, or not these bytes; the inbox is
  // unchanged then. Thread-safe.
  void Put(int from, const PieceId& id, int64_t offset, std::string_view bytes);

  // Takes in a whole piece of a processor of the same memory, whose bytes are shared and not copied. Error if
  // no such piece is expected of that processor, or if it has another type or shape. Thread-safe.
  void Put(int from, const PieceId& id, Tensor piece);

  // Limits the waiting of Take(), which ends at `deadline` of this clock. The inbox keeps a reference to the
  // clock. The caller calls this function before the first Take().
  void WaitUntil(Clock::Time deadline, Clock& clock) {
    deadline_ = deadline;
    clock_ = &clock;
  }

  // Waits for a whole piece and returns it. The thread first looks for the piece for a bounded time, which
  // makes a hand-over between processors of one memory fast, and then sleeps. Error if Fail() was called,
  // DEADLINE_EXCEEDED if the piece does not come in time. A piece can be taken once.
  Tensor Take(const PieceId& id);

  // Makes all calls that wait, now or later, throw this error; the first error counts. Thread-safe.
  void Fail(std::exception_ptr error);
  void ThrowIfFailed();
  // Returns a token that Fail() sets, so that a computation under way ends.
  const CancelToken& failed() const { return failed_; }

  // Throws an Error if Fail() was called or the deadline has passed. Threads that wait for their turn call
  // this function.
  void Check();

  // Returns the processor whose piece did not come in time, or this processor if Check() found the delay; -1:
  // none.
  int late() const { return late_; }
  // Returns the processor for whose piece Take() waits; -1: none. Thread-safe.
  int waits_for();

 private:
  struct Arriving {
    Tensor tensor;
    std::string coded;  // empty if the tensor is filled at once
    int64_t bytes = 0;  // that have come so far
    bool taken = false;
  };

  const ProgramNeed& NeedOf(int from, const PieceId& id) const;
  // The piece must be one that the program expects. The callers of this function and of the next three have
  // locked mutex_.
  Arriving& At(const PieceId& id) { return pieces_[IndexOf(id)]; }
  size_t IndexOf(const PieceId& id) const;
  void Arrived();
  bool Whole(const PieceId& id) const;

  const Program& program_;
  const int processor_;
  const Coding coding_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::atomic<uint32_t> changes_{0};        // of pieces_ and error_, for threads that look without the lock
  std::vector<std::vector<size_t>> first_;  // by stage and need: the index of its first piece in pieces_
  std::vector<Arriving> pieces_;
  std::exception_ptr error_;
  CancelToken failed_;
  Clock::Time deadline_ = Clock::Time::max();
  Clock* clock_ = &Clock::Steady();
  int late_ = -1, waits_for_ = -1;
};

// Inboxes for the requests of a program. An inbox without other references is used again.
class Inboxes {
 public:
  // Keeps a reference to the program.
  Inboxes(const Program& program, int processor, Coding coding)
      : program_(program), processor_(processor), coding_(coding) {}

  // Returns an inbox without a piece. One thread at a time.
  std::shared_ptr<Inbox> Take();
  // Lets no inbox be used again, after a failure.
  void Clear() { all_.clear(); }

 private:
  const Program& program_;
  const int processor_;
  const Coding coding_;
  std::vector<std::shared_ptr<Inbox>> all_;
};

}  // namespace mete
