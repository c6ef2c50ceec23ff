// What one poll of a server, a worker or a session of this process tells: counters since its start, and what
// is now. It is a plain value, and nothing in it was computed from two polls (top/view.h). Names are those of
// others and may hold anything. What a source does not tell, or tells as no number, is nothing.
#pragma once

#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "top/latencies.h"

namespace mete::top {

// A model, or a version of it.
struct ModelFigures {
  std::string name, version;                // version "": the source knows none
  std::optional<double> answered = {};      // requests, since the start of the source
  std::optional<double> failed = {};        // as well, refused ones included
  std::optional<Latencies> latencies = {};  // of answered requests
  std::optional<double> waiting = {};       // requests, now
  std::optional<Latencies> queued = {};     // for how long requests waited
  // Of a request by the plan in use, in seconds: as predicted, and as it usually is.
  std::optional<double> predicted_s = {}, measured_s = {};
  // Since the start: plans in use one after the other, requests that the home computed again because a
  // processor failed, and losses of processors.
  std::optional<double> plans = {}, retries = {}, losses = {};
};

// A processor, a thread or a slot.
struct ProcessorFigures {
  std::string name;
  std::optional<double> busy_s = {};        // since the start of the source
  std::optional<double> waiting = {};       // what waits for it now
  std::optional<double> predicted_s = {};   // what it computes of a request by the plan in use, in seconds
  std::optional<double> memory_bytes = {};  // its weights and activations
};

struct MemoryPart {
  std::string name;  // "activations"
  double bytes = 0;
  std::optional<double> most_bytes = {};  // as many as it may become
};

struct OfMost {
  double now = 0, most = 0;
};

struct Figures {
  double at_s = 0;     // when they were told, by a steady clock
  std::string source;  // "server 127.0.0.1:8080"
  std::string about;   // "mete 0.1.0"
  std::optional<double> uptime_s = {};
  std::vector<ModelFigures> models = {};
  std::vector<ProcessorFigures> processors = {};
  std::optional<double> waiting = {}, under_way = {};          // requests, now
  std::optional<double> predicted_wait_s = {};                 // of a request that came now
  std::optional<OfMost> callers = {};                          // deployments of a worker
  std::optional<double> resident_bytes = {}, peak_bytes = {};  // of memory, now and at most
  std::vector<MemoryPart> memory = {};
  std::optional<double> cpu_s = {};      // of all its threads, since its start
  std::string plan = {};                 // "layers 1 to 9 on laptop+pi, layers 10 to 21 on laptop"
  std::vector<std::string> events = {};  // what it has told, the newest last
};

// Returns a number that a stranger tells; nothing if it is negative or not finite, which no figure here is.
inline std::optional<double> Usable(double value) {
  return std::isfinite(value) && value >= 0 ? std::optional(value) : std::nullopt;
}

}  // namespace mete::top
