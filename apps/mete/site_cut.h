// A cut of `mete run --site`: this device computes the first layers, and the server's worker the others, as
// two processors of a pool do.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "network/remote/remote_member.h"
#include "plan/site/cut_plan.h"
#include "processor/processor.h"
#include "run/deployed_plan.h"
#include "simulate/site/site_file.h"
#include "site_parts.h"

namespace mete::cli {

class SiteCut {
 public:
  SiteCut(const SiteJob& job, const SiteFile& site, Security security, serve::SiteMemory& memory,
          const SiteFiles& files);

  // Returns why a cut cannot be weighed; "": it can. `is_wanted`: what is not known is measured then.
  std::string WhyNot(bool is_wanted) const;
  // Whether it is not known how soon a cut is ready.
  bool is_unknown() const { return !site_.worker.empty() && !memory_.server.ready.ms(); }
  // The cut that is ready on both sides, which is that of the last photo that was cut; empty: none is.
  OnDevice ready() const {
    return deployed_ && !deployed_->plan->failed() ? deployed_->on_device : OnDevice{};
  }
  // What `mete profile MODEL --processors SITE.toml` has measured of the layers; nothing: it has not.
  std::optional<serve::SiteLayers> Layers() const;
  // Learns how long a cut takes until it is ready. The worker gets all of the model's weights for it, once,
  // so that no later cut sends any. It has `patience_ms` to say that it is there. Adds what is measured in
  // words, and returns why that failed; "": it did not.
  std::string MeasureReady(const OnDevice& on_device, double patience_ms, std::string& measured);
  // Computes a photo, and adds all steps but two. Returns why there is no answer; "": there is.
  std::string Compute(const SitePhoto& photo, const SiteWay& way, serve::Deadline deadline,
                      SiteDevice& device, WayDone& done);
  // Adds what both sides computed and what was on the way between, once the worker has reported it, which is
  // behind the answer. Needs a photo that was computed.
  void TellSteps(WayDone& done);

 private:
  // A plan that is ready on both sides. The members outlive what is below them.
  struct Deployed {
    CutPlan cut;
    std::unique_ptr<RemoteMember> worker;
    std::unique_ptr<DeployedPlan> plan;
    double own_ms = 0;  // of making this device's part ready
    OnDevice on_device = {};
    uint64_t photos = 0;  // that were computed
  };
  // A photo that was computed.
  struct Ran {
    double ms = 0, device_ms = 0;
    double exchange_ms = 0;  // as predicted
  };
  std::unique_ptr<RemoteMember> MakeWorker() const;  // not yet connected
  std::unique_ptr<Deployed> Deploy(CutPlan cut, serve::Deadline deadline);
  // Lets the cut be ready on both sides, and returns how long that took.
  double Load(const OnDevice& on_device, serve::Deadline deadline);
  // `all_ms`: until both sides were ready.
  void LearnReady(double all_ms, double own_ms, const OnDevice& on_device);

  const SiteJob& job_;
  const SiteFile& site_;
  const Security security_;
  serve::SiteMemory& memory_;
  const SiteFiles& files_;
  const std::shared_ptr<Processor> home_;  // of the device, or of its pool
  std::unique_ptr<Deployed> deployed_;     // stays for later photos; null: none yet
  Ran ran_;
};

}  // namespace mete::cli
