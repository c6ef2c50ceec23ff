// A processor that computes as another one does, but not while its gate is closed: for tests of code that
// waits for it.
#pragma once

#include <atomic>
#include <memory>
#include <thread>
#include <utility>

#include "base/error.h"
#include "processor/wrapped_testing.h"

namespace mete {

class Gated : public Wrapped {
 public:
  using Wrapped::Wrapped;

  void Close() { closed_ = true; }
  void Open() { closed_ = false; }
  void AwaitRun() const { AwaitWaiting(1); }     // waits until a run waits at the gate
  void AwaitNobody() const { AwaitWaiting(0); }  // until none does
  // As above, for preparing shares at a gate of their own. From now on the processor prepares late.
  void ClosePrepare() { late_ = prepare_closed_ = true; }
  void OpenPrepare() { prepare_closed_ = false; }
  bool prepares() const { return preparing_ > 0; }
  void AwaitPrepare() const {
    while (preparing_ == 0) std::this_thread::yield();
  }

  // From now on CheckThere() fails, or does so no more.
  void Leave() { gone_ = true; }
  void Return() { gone_ = false; }

  void CheckThere() const override {
    if (gone_) Fail(Code::kUnavailable, info().name, "has left");
  }
  bool PreparesLate() const override { return late_; }
  void CancelPreparing() override { cancelled_ = true; }
  std::shared_ptr<Ready> Prepare(const Graph& share) override {
    ++preparing_;
    while (prepare_closed_ && !cancelled_) std::this_thread::yield();
    --preparing_;
    if (late_ && cancelled_) Fail(Code::kCancelled, info().name, "preparing was cancelled at a closed gate");
    return std::make_shared<Share>(*this, Wrapped::Prepare(share));
  }

 private:
  class Share : public WrappedReady {
   public:
    Share(Gated& processor, std::shared_ptr<Ready> share)
        : WrappedReady(std::move(share)), processor_(processor) {}
    void Start(std::span<const ConstView> inputs, std::span<const View> outputs,
               const RunOptions& options) override {
      processor_.Pass(options.cancel);
      WrappedReady::Start(inputs, outputs, options);
    }
    std::vector<Tensor> Run(std::span<const Tensor> inputs, const RunOptions& options) override {
      processor_.Pass(options.cancel);
      return WrappedReady::Run(inputs, options);
    }

   private:
    Gated& processor_;
  };

  void Pass(const CancelToken* cancel) {
    ++waiting_;
    bool cancelled = false;
    while (closed_ && !cancelled) {
      std::this_thread::yield();
      cancelled = cancel && cancel->cancelled();
    }
    --waiting_;
    if (cancelled) Fail(Code::kCancelled, info().name, "the run was cancelled at a closed gate");
  }
  void AwaitWaiting(int runs) const {
    while (waiting_ != runs) std::this_thread::yield();
  }

  std::atomic<bool> closed_{false}, prepare_closed_{false}, late_{false}, cancelled_{false}, gone_{false};
  std::atomic<int> waiting_{0}, preparing_{0};
};

}  // namespace mete
