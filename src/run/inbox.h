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

// A piece of a request: the source with this index, of the need with this index, in the stage with this
// index, of the processor that gets it.
struct PieceId {
  int stage = 0, need = 0, source = 0;
};

class Inbox {
 public:
  // Keeps a reference to the program of this processor.
  Inbox(const Program& program, int processor, Coding coding);

  // Makes the inbox one of another request, as if it were new, but keeps its memory. No other thread has it,
  // and it has not failed.
  void Reset();

  // Bytes of a coded piece, beginning at `offset`; they come in order. `from` is who sends them. Error where
  // no such piece is expected of that processor, or not these bytes; nothing is changed then. Thread-safe.
  void Put(int from, const PieceId& id, int64_t offset, std::string_view bytes);

  // A whole piece of a processor of the same memory: the bytes are shared and not copied. Error where no such
  // piece is expected of that processor, or where it has another type or shape. Thread-safe.
  void Put(int from, const PieceId& id, Tensor piece);

  // Take() then waits no longer than until `deadline` of this clock, to which the inbox keeps a reference. To
  // be called before the first Take().
  void WaitUntil(Clock::Time deadline, Clock& clock) {
    deadline_ = deadline;
    clock_ = &clock;
  }

  // Waits for a whole piece and gives it away: for a bounded time by looking again and again, which a
  // hand-over between processors of one memory needs, and then asleep. Error where Fail() was called,
  // DEADLINE_EXCEEDED where it does not come in time. Once for each piece.
  Tensor Take(const PieceId& id);

  // All calls that wait, now or later, get this error; the first one counts. Thread-safe.
  void Fail(std::exception_ptr error);
  void ThrowIfFailed();
  // Is set by Fail(), so that a computation under way ends.
  const CancelToken& failed() const { return failed_; }

  // Error where Fail() was called, or where it is late. Threads that wait for their turn call it.
  void Check();

  // The processor whose piece did not come in time, this one where Check() found that; -1: none.
  int late() const { return late_; }
  // The processor for whose piece Take() waits; -1: none. Thread-safe.
  int waits_for();

 private:
  struct Arriving {
    Tensor tensor;
    std::string coded;  // empty where the tensor is filled at once
    int64_t bytes = 0;  // so far
    bool taken = false;
  };

  const ProgramNeed& NeedOf(int from, const PieceId& id) const;
  // Of a piece that the program expects; mutex_ is locked, also for the next ones.
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
  // After a failure: no inbox is used again.
  void Clear() { all_.clear(); }

 private:
  const Program& program_;
  const int processor_;
  const Coding coding_;
  std::vector<std::shared_ptr<Inbox>> all_;
};

}  // namespace mete
