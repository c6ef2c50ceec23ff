// Serves the models of a repository: loads them, computes requests on this machine's processors, counts. What
// carries requests, such as HTTP, calls this class and is no part of it.
//
//   caller's thread: Infer() ──admit──> queue ──> a slot's thread: decode, scale, run ──> callback
//
// A slot is a thread with some of the machine's cores. All models share the slots, and so do runs and
// measurements of loads, so that never more threads compute than there are cores, beside the one that loads.
// Where one request is alone, it is computed by all cores (the wide session of its model); where several
// wait, each slot computes one of them (a narrow session). The scheduler decides (serve/queue/scheduler.h).
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "mete/engine.h"
#include "mete/error.h"
#include "serve/protocol/inference.h"
#include "serve/protocol/metadata.h"
#include "serve/queue/scheduler.h"
#include "serve/server/guest.h"

namespace mete::serve {

struct ServerOptions {
  std::string repository;       // the folder of models (serve/repository/repository.h)
  SessionOptions session = {};  // `threads` and `cores` say which cores the slots share
  // Makes a model's session for wide runs, such as one on a pool (SlotCores); empty: one on all cores.
  std::function<Session(const Model&)> wide = {};
  std::vector<std::string> wide_processors = {};  // of that pool, the home first
  QueueLimits queue = {};                         // with the number of slots
  int64_t most_pixels = int64_t(1) << 25;         // of the pictures of a request; 32 megapixels take 96 MiB
  int64_t most_input_bytes = int64_t(256) << 20;  // of the input that a request's pictures become; guess
  bool load_all = true;  // at the start; false: a model is loaded when it is asked to be
  std::string version;   // of this program, for the metrics
  std::function<void(const std::string&)> note = {};  // a line for the log; any thread calls it
};

// How long each step of a request took, in microseconds. A request that was computed with others in one batch
// has the batch's time.
struct StepTimes {
  double queue_us = 0, decode_us = 0, scale_us = 0, compute_us = 0;
};

// What a caller gets: an answer, or an error with its code.
struct Outcome {
  InferAnswer answer;
  StepTimes steps;
  Code code = Code::kOk;
  std::string error;         // empty: none
  double retry_after_s = 0;  // of an error by load: when another try may succeed
};
using OnOutcome = std::function<void(Outcome&&)>;

Outcome OutcomeOf(const Error& error);

// Guess: after so many seconds another try may succeed of what the server could not do for a while, such as
// answer for a model that is not ready, and cannot say for how long.
inline constexpr double kLaterS = 1;

// What a page for people shows of a model beside its metadata.
struct PictureUse {
  bool classifies = false;        // whether Classify() answers
  std::string why_not;            // of !classifies
  int64_t width = 0, height = 0;  // of the picture that the model sees
};

class Server {
 public:
  explicit Server(ServerOptions options);
  ~Server();  // as Drain(), without a limit of time

  // Computes a request. `version` empty: the latest that is ready. `done` is called exactly once: on the
  // calling thread if the request is refused, else on a slot's thread. `deadline` nothing: none; a request
  // that cannot be answered in time is refused at once, and one that is late is given up before it is
  // computed. Returns what Cancel() takes.
  uint64_t Infer(const std::string& model, const std::string& version, InferRequest request,
                 std::optional<std::chrono::steady_clock::time_point> deadline, OnOutcome done);

  // Returns why the server would refuse a request for this model now, before its inputs are known: the queue
  // is full, or a drain has begun. Nothing: Infer() decides. A refusal is counted as one of Infer().
  std::optional<Outcome> RefusalByLoad(const std::string& model, const std::string& version);

  // Decodes a picture, preprocesses it as the model's TOML file says, and computes its classes. The answer
  // has the outputs "class" (BYTES), "index" (INT64) and "score" (FP32), the best class first.
  uint64_t Classify(const std::string& model, const std::string& version, std::string picture, int classes,
                    std::optional<std::chrono::steady_clock::time_point> deadline, OnOutcome done);

  // The caller of a request has gone: if it still waits, it is given up with CANCELLED and not computed.
  void Cancel(uint64_t request);

  // Error NOT_FOUND for a model or version that is not there, UNAVAILABLE for one that is not ready.
  ModelMetadata Metadata(const std::string& model, const std::string& version) const;
  PictureUse Pictures(const std::string& model, const std::string& version) const;
  bool IsReady(const std::string& model, const std::string& version) const;
  std::vector<IndexEntry> Index() const;
  // Of a version; of all that are ready, if `version` is empty; of all models, if `model` is empty as well.
  std::vector<ModelStatistics> Statistics(const std::string& model, const std::string& version) const;

  // Loads what the repository has of a model now, beside the versions in use; requests that come meanwhile
  // are computed by these, in turns with what the load computes (LoadTurn). The versions in use then finish
  // what they have. Error NOT_FOUND, or that of each version that cannot be loaded: those in use stay, beside
  // those that can be loaded.
  void Load(const std::string& model);
  void Unload(const std::string& model);  // when its accepted requests have been answered

  // Work that is no request for a model waits in the same queue, and is computed in a slot or in all. The
  // server follows how long a guest's work takes, as it does for a model.
  int AddGuest();
  void RemoveGuest(int guest);  // when its work has ended
  // Returns when `work` has been called, on a slot's thread. Throws what it throws, or the Error of a request
  // that is refused.
  void ComputeGuest(int guest, const GuestWork& work);

  // Calls `work` on a thread for slow work, such as a load, one call at a time.
  void Later(std::function<void()> work);

  // This server's load: requests that wait, that are being computed, and how long one that came now would
  // wait.
  int waiting() const;
  int under_way() const;
  double predicted_wait_us() const;
  std::string MetricsText() const;  // for Prometheus

  // Each model that was asked for has a version that answers, and no drain has begun. Loads of other versions
  // change nothing.
  bool ready() const;
  // Refuses new requests, and returns when all accepted ones have been answered; true. At the limit those
  // that wait are given up with UNAVAILABLE, and what is being computed is computed to its end; false.
  bool Drain(std::chrono::milliseconds limit);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace mete::serve
