// A worker as a member of a pool.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "graph/bodies.h"
#include "network/remote/remote_device.h"
#include "run/member.h"

namespace mete {

class RemoteMember : public Member {
 public:
  // `digests`: of weights, shared by the members of a pool, which are deployed to one after the other.
  // `processor`: which of the worker's; empty: its first. The member's name is then the worker's, and else
  // "worker/processor".
  RemoteMember(RemoteAddress address, Security security,
               std::shared_ptr<DigestMemo> digests = std::make_shared<DigestMemo>(),
               std::string processor = "")
      : name_(processor.empty() ? address.name : address.name + "/" + processor),
        processor_(std::move(processor)),
        device_(std::move(address), std::move(security)),
        digests_(std::move(digests)) {}

  const std::string& name() const override { return name_; }
  const std::string& host() const override { return device_.name(); }
  const std::string& processor() const override { return processor_; }
  std::string address() const override { return device_.address().address; }
  std::string CheckThere(std::chrono::milliseconds timeout) override;
  // Sends the weights that the worker lacks, then the program.
  std::unique_ptr<MemberProgram> Host(const ProgramToHost& program, PlanEvents& events,
                                      const WeightsProgress& progress,
                                      std::vector<std::string>* notes) override;
  void ForgetShares() override { *digests_ = {}; }
  void Cancel() override { device_.Cancel(); }
  GraphTimes Time(const Graph& graph, int runs, std::chrono::milliseconds timeout) override {
    return device_.Time(graph, runs, timeout, processor_);
  }
  // What else the worker lacks is known when a program is made ready on it.
  std::string WhyNot(const Graph&, const Node& node) const override {
    return HasCustomOperator(node) ? "an operator of the program's own is computed in its process" : "";
  }
  std::unique_ptr<Echo> OpenEcho() override;
  LinkProfile MeasureHandOver(Member& to) override { return device_.HandOver(processor_, to.processor()); }

  RemoteDevice& device() { return device_; }

 private:
  const std::string name_, processor_;
  RemoteDevice device_;
  const std::shared_ptr<DigestMemo> digests_;
};

}  // namespace mete
