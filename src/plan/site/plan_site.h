// The planner for a device and a server: what is computed where, from a photo or a tensor to its answer, with
// the time of each step.
//
// There are four candidates. Each has four steps, which add up to its time:
//
//   candidate      load                preprocess                          upload                       compute
//   device         of the model        decode, scale                       0                            the best plan of the device's pool
//   raw photo      of the server: 0    decode, scale, by the server        the photo's file             the server, and its queue
//   scaled photo   of the server: 0    decode, scale, encode; and decode   the scaled picture           the server, and its queue
//   cut            of a part of it,    decode, scale                       values of the best cut       both, and the server's queue
//                  on both sides
//
// Where no process is there, all of them begin with its start, which is a part of load.
// Uploads are exchanges (ExchangeMs): connecting, where it is cold, the round trip, slow start and the answer
// are a part of them. A request that is a tensor has no raw photo, and its "scaled photo" is the tensor.
//
// The cut is the cheapest one of a graph with branches (min_cut.h) for objectives that are sums; where slow
// start, a deadline or the busiest stage counts, which no cut of a network of flows knows, it is the best of
// several: the cheapest ones under other prices of bytes and time, and every cut between two layers. The
// device's part of a cut is computed by its home.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "plan/plan.h"
#include "plan/pool/objective.h"
#include "plan/site/min_cut.h"
#include "plan/site/site_costs.h"

namespace mete {

struct SiteObjective {
  PoolObjective of =
      PoolObjective::kLatency;  // energy: the joules that the device takes from its battery or socket
  // With energy: the least joules among the candidates that are done within this time at the link's 95th
  // percentile; 0: whenever.
  double deadline_ms = 0;
  std::string no_cuts = {};  // why the model cannot be cut, in words; empty: cuts are weighed
  // With latency: no cut is searched for where another way is sooner than any cut can be
  // (SiteModel::LeastCutMs). The choice is the same, and the cut's figures are not known then.
  bool prunes_cuts = false;
};

enum class SiteCandidate { kDevice, kRawPhoto, kScaledPhoto, kCut };
inline constexpr size_t kSiteCandidates = 4;
const char* NameOf(SiteCandidate candidate);

struct SiteSteps {
  double load_ms = 0, preprocess_ms = 0, upload_ms = 0, compute_ms = 0;

  double total_ms() const { return load_ms + preprocess_ms + upload_ms + compute_ms; }
};

struct SiteWay {
  SiteCandidate candidate = SiteCandidate::kDevice;
  std::string why_not =
      {};  // why it cannot be, or is not known, in words; the figures mean nothing then; empty: it can
  SiteSteps steps = {};
  // The parts of compute_ms: the device's layers, the server's, and the server's queue.
  double device_ms = 0, server_ms = 0, wait_ms = 0;
  double device_picture_ms = 0, server_picture_ms = 0;  // the parts of preprocess_ms, by side
  std::vector<LoadTerm> load_terms = {};                // of load_ms, where the device loads the whole model
  double ask_ms = 0;                                    // of upload_ms: asking before
  ExchangeParts upload = {};                            // of upload_ms: the request and its answer
  double late_ms = 0;    // all steps, with the upload at the link's 95th percentile
  double period_ms = 0;  // from one request to the next: of the busiest of device, uplink, downlink and
                         // server; all loaded, connection warm
  std::optional<double> joules = {};  // of the device; nothing: its power is not known
  int64_t up_bytes = 0, down_bytes = 0;
  OnDevice on_device = {};  // by layer

  bool can() const { return why_not.empty(); }
};

struct SitePlan {
  std::array<SiteWay, kSiteCandidates> ways;  // in the order of SiteCandidate
  SiteCandidate choice = SiteCandidate::kDevice;
  std::string reason;     // why this one, in a sentence
  bool in_time = true;    // false: no candidate meets the deadline, and the choice is the soonest one
  Plan device;            // of the device alone, for requests that link or server fail
  double give_up_ms = 0;  // the time after which the device begins itself, if no answer has come (GiveUpMs)

  const SiteWay& way() const { return ways[size_t(choice)]; }
};

// Throws the Error of Verify(), or one if no candidate can be, because the load of the device's state and a
// server are both not known.
SitePlan PlanSite(const Graph& graph, const SiteCosts& costs, const SiteObjective& objective = {});

// Returns how long the device waits for an answer of the server before it computes the request itself: four
// times its 95th percentile and 250 ms, as a pool waits for a processor (run/), or, with a deadline (0:
// none), as long as the device could still answer in time, where that is sooner; a device that is late in any
// case is no reason to give up sooner. 0: the device computes at once.
double GiveUpMs(const SiteWay& way, const SiteWay& device, double deadline_ms);

// Returns the deadline less what asking the server took beyond what the device's way foresees of it; 0: there
// is no deadline.
double DeadlineAfterAsking(double deadline_ms, double asked_ms, const SiteWay& device);

}  // namespace mete
