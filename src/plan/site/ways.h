// The figures of each way to compute a request on a device and a server (plan_site.h).
#pragma once

#include "graph/graph.h"
#include "plan/site/cut_model.h"
#include "plan/site/plan_site.h"

namespace mete {

// What a unit of each amount of a request counts, in any currency: microseconds, joules, or a sum of several
// with weights.
struct CutRates {
  double device_us = 0, server_us = 0;  // of computing and preprocessing there
  double up_byte = 0, down_byte = 0;
  double load_us = 0;  // on the device
};

class SiteModel {
 public:
  SiteModel(const Graph& graph,
            const SiteCosts& costs);  // keeps a reference to `costs`. Error if they do not fit the graph

  const CutModel& cuts() const { return cuts_; }
  const SiteCosts& costs() const { return costs_; }

  // With the model on the device's pool as in `plan`, but for a time that was measured.
  SiteWay Device(const Plan& plan) const;
  SiteWay RawPhoto() const;
  SiteWay ScaledPhoto() const;
  SiteWay Cut(const OnDevice& on_device) const;
  // No cut takes less: each layer on the side that computes it sooner, nothing loaded, no bytes to send.
  // Needs a server.
  double LeastCutMs() const;

  // The prices of layers and values that add up, with one part that is the same in every cut left out.
  CutPrices Prices(const CutRates& rates) const;
  CutRates TimeRates() const;                   // in microseconds
  std::optional<CutRates> EnergyRates() const;  // in joules; nothing: the home's power is not known

 private:
  // The parts of a way of which its figures are sums.
  struct Amounts {
    double load_ms = 0, device_picture_ms = 0, server_picture_ms = 0, device_ms = 0, server_ms = 0;
    int64_t up_bytes = 0, down_bytes = 0;
    bool asks_server = true;
    bool prepares_cut = false;  // on both sides
  };
  void AddLayers(const OnDevice& on_device, SiteWay& way, Amounts& amounts) const;
  enum class Input { kSent, kStays };
  void AddPicture(Input input, SiteWay& way, Amounts& amounts) const;
  void AddLoad(const OnDevice& on_device, SiteWay& way, Amounts& amounts) const;
  void Rate(SiteWay& way, const Amounts& amounts) const;  // fills in the figures
  SiteWay Without(SiteCandidate candidate, std::string why_not) const;

  const ProcessorCosts& home() const { return costs_.pool.processors[0]; }

  const SiteCosts& costs_;
  const CutModel cuts_;
};

}  // namespace mete
