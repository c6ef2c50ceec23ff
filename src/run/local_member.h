// A processor of this process as a member of a plan: a thread of its own computes its part of each request.
// Pieces between processors of this process are handed over by reference.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "processor/processor.h"
#include "run/member.h"

namespace mete {

// A timed graph that stays ready, because a profile times the model twice.
struct TimedGraph {
  std::string text;  // the graph's
  std::shared_ptr<Ready> ready;
};

// Times a graph on a processor of this process, on made-up inputs. `prepared` keeps the graph of the last
// call. `cancel` may be null. Error CANCELLED.
GraphTimes TimeOn(Processor& processor, const Graph& graph, int runs, Turn& turn, const CancelToken* cancel,
                  TimedGraph& prepared);

class LocalMember : public Member {
 public:
  explicit LocalMember(std::shared_ptr<Processor> processor) : processor_(std::move(processor)) {}

  const std::string& name() const override { return processor_->info().name; }
  std::string address() const override { return ""; }
  const std::string& host() const override { return name(); }
  const std::string& processor() const override { return name(); }
  std::string CheckThere(std::chrono::milliseconds) override {
    processor_->CheckThere();
    return "";
  }
  std::unique_ptr<MemberProgram> Host(const ProgramToHost& program, PlanEvents& events,
                                      const WeightsProgress&, std::vector<std::string>* notes) override;
  void ForgetShares() override;
  std::string WhyNot(const Graph& graph, const Node& node) const override {
    return processor_->WhyNot(graph, node);
  }
  bool PreparesLate() const override { return processor_->PreparesLate(); }
  MakeTensor SharedMemory() override;
  ProcessorMemory memory() const override { return processor_->memory(); }
  void Cancel() override {
    cancelled_.Cancel();
    processor_->CancelPreparing();
  }
  GraphTimes Time(const Graph& graph, int runs, std::chrono::milliseconds timeout) override;
  std::unique_ptr<Echo> OpenEcho() override;
  LinkProfile MeasureHandOver(Member& to) override;

 private:
  const std::shared_ptr<Processor> processor_;
  CancelToken cancelled_;
  Turn turn_;  // of the threads that compute on the processor
  std::mutex timing_;
  TimedGraph timed_;  // guarded by timing_
};

}  // namespace mete
