// A device and a server as photos meet them, one after the other, with what is known of both.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "simulate/site/site_file.h"
#include "site_cut.h"
#include "site_kept.h"
#include "site_parts.h"

namespace mete::cli {

SitePhoto PhotoAt(const std::string& path);

// Whether a word names a way: best, or one of --way.
bool IsWay(const std::string& word);

// A photo that is asked for.
struct SiteRequest {
  SitePhoto photo;
  std::string way = "best";
  double give_up_ms = 0;  // 0: as planned
  double before_ms = 0;   // since the program's begin, which are a part of the answer
};

// Plans by what is kept, computes, and learns what it has seen.
class AtSite {
 public:
  explicit AtSite(const SiteJob& job);

  SiteAnswer Answer(const SiteRequest& request);
  // The plans for a photo by what is known now, for each state in which the model may be.
  Json Plans(const SitePhoto& photo) const;
  void Settle() {
    device_.Settle();
    kept_.Write(memory_);
  }
  // What the last answer's text took, which is a part of its start.
  void KeepWith(double text_ms) {
    if (start_ms_) memory_.device.start[size_t(program_)].Learn(*start_ms_ + text_ms);
    device_.LearnFiles();
    kept_.Write(memory_);
  }

 private:
  struct UnderWay;
  NetworkLink link() const { return LinkOf(site_.link, memory_); }
  std::string model_name() const {
    return site_.model.empty() ? std::filesystem::path(job_.model_files[0]).stem().string() : site_.model;
  }

  // Where a photo finds the program: where it finds the model, if it is the process's first one.
  StartState program() const {
    const StartState model = device_.State();
    return is_new_ || model == StartState::kEvicted ? model : StartState::kResident;
  }
  // What a request finds before the server was asked. The states are the model's and the program's.
  serve::SiteNow Now(const SitePhoto& photo, StartState state, StartState program,
                     const NetworkLink& link) const;
  // `way`: that is asked for, while a photo waits for its answer; empty: no photo waits, and all are shown.
  SitePlan PlanFor(const serve::SiteNow& now, const NetworkLink& link, const std::string& way) const {
    const bool shows_cut = way.empty() || way == "cut";
    SiteObjective objective = objective_;
    objective.no_cuts = cut_.WhyNot(way == "cut");
    objective.prunes_cuts = !shows_cut;
    return PlanSite(graph_, CostsOf(graph_, memory_, link, now, layers_), objective);
  }
  // Learns how soon a cut is ready, if a photo is to be cut and this is not known. Returns why it cannot; "":
  // it can, or no cut can be planned.
  std::string MeasureCut(const SiteRequest& request, const NetworkLink& link, std::string& measured);
  // Sends the photo by this way. Returns why there is no answer; "": there is.
  std::string Send(const SitePhoto& photo, const SiteWay& way, double give_up_ms, SiteServer& server,
                   WayDone& done);
  // What is not known of the server, the device and a cut, which is no part of the request.
  void MeasureUnknown(UnderWay& u);
  // Plans, and where the plan is not the device asks the server; plans anew where that tells something new.
  void PlanAndAsk(StartState state, UnderWay& u);
  // Computes the photo by the chosen way, else on this device.
  WayDone Compute(SiteCandidate chosen, StartState state, UnderWay& u);

  const SiteJob& job_;
  const Graph& graph_;
  const SiteFile site_;
  const SiteObjective objective_;
  const Security security_;
  const serve::ClientOptions options_;
  const KeptSite kept_;
  serve::SiteMemory memory_;
  SiteFiles files_;
  SiteDevice device_;
  SiteCut cut_;
  const std::optional<serve::SiteLayers> layers_;
  bool is_new_ = true;                        // whether this process has neither answered nor measured yet
  StartState program_ = StartState::kKilled;  // that the last photo has found
  std::optional<double> start_ms_;            // nothing: it had to measure first
};

}  // namespace mete::cli
