// The figures of a server for Prometheus: what happened is told, what is now is handed over when they are
// asked for. Callers' texts are no labels: requests for models that are not there are counted under one name,
// so that a caller cannot fill the memory of this process, or of the program that collects the figures.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "mete/error.h"
#include "base/process_use.h"

namespace mete::serve {

// The Content-Type of Metrics::Text(): the text format of Prometheus.
inline constexpr const char* kMetricsContentType = "text/plain; version=0.0.4; charset=utf-8";

// One request that has been answered or refused.
struct RequestFigures {
  std::string model, version;  // as it was resolved
  Code code = Code::kOk;
  // Of a request that was answered, in seconds; 0: the request had no such step.
  double queue_s = 0, decode_s = 0, scale_s = 0, compute_s = 0;
  double whole_s = 0;  // from its arrival to its answer
};

// Requests that were computed together, a share of another device, or a load's turn.
struct StartFigures {
  std::string model;  // "": no requests'
  int requests = 1;
  int slot = 0;
  bool wide = false;  // all slots were occupied
  double busy_s = 0;  // how long the start occupied its slots
};

// A processor of a pool for one version of a model.
struct PartFigures {
  std::string processor;
  double predicted_s = 0;                       // what it computes of a request
  int64_t weights_bytes = 0, values_bytes = 0;  // its memory in this process
};

// The plan in use of a version that several processors compute, and its fate since the version was loaded.
struct PlanFigures {
  double predicted_s = 0;
  double measured_s = 0;  // the usual time of a request; 0: not yet known
  int64_t plans = 0;      // in use one after the other
  int64_t retries = 0;    // requests that the home computed again because a processor failed
  int64_t losses = 0;     // of processors
  std::vector<PartFigures> parts;
};

// A version that is loaded.
struct VersionFigures {
  std::string model, version;
  int waiting = 0;                  // requests
  std::optional<PlanFigures> plan;  // nothing: its runs are on the CPU alone
};

// What is now.
struct ServerFigures {
  int waiting = 0, under_way = 0;     // requests
  double predicted_wait_s = 0;        // of a request that came now
  double uptime_s = 0;                // of the server
  std::map<std::string, int> models;  // versions by state: {"READY", 3}
  std::vector<VersionFigures> loaded;
  ProcessUse process;
};

class Metrics {
 public:
  virtual ~Metrics() = default;

  // A version that requests may name from now on. Its figures stay when it is unloaded and go on when it is
  // loaded again.
  virtual void AddVersion(const std::string& model, const std::string& version) = 0;
  // These may be called by several threads at once.
  virtual void Count(const RequestFigures& request) = 0;
  virtual void Count(const StartFigures& start) = 0;
  // A processor of a pool has computed for so long; 0: it is there.
  virtual void CountProcessor(const std::string& processor, double busy_s) = 0;
  virtual std::string Text(const ServerFigures& now) = 0;
};

// `slot_processors` has for each slot the name of what computes there ("cpu2"), `version` is this program's.
std::unique_ptr<Metrics> MakeMetrics(const std::vector<std::string>& slot_processors,
                                     const std::string& version);

}  // namespace mete::serve
