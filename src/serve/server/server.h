// Serves the models of a repository: loads them, computes requests on this machine's processors, counts. What
// carries requests, such as HTTP, calls this class and is no part of it.
//
//   caller's thread: Infer() ──admit──> queue ──> a slot's thread: decode, scale, run ──> callback
//
// A slot is a thread with some of the machine's cores. All models share the slots, so that never more threads
// compute than there are cores. Where one request is alone, it is computed by all cores (the wide session of its
// model); where several wait, each slot computes one of them (a narrow session). The scheduler decides
// (serve/queue/scheduler.h).
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "mete/engine.h"
#include "mete/image.h"
#include "serve/protocol/inference.h"
#include "serve/queue/scheduler.h"

namespace mete::serve {

struct ServerOptions {
  std::string repository;      // the folder of models (serve/repository/repository.h)
  SessionOptions session = {};  // `threads` and `cores` say which cores the slots share
  int slots = 0;               // 0: one for each core
  QueueLimits queue = {};
  int64_t most_pixels = int64_t(1) << 25;  // of a picture; 32 megapixels take 96 MiB
  bool load_all = true;        // at the start; false: a model is loaded when it is asked to be
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

// A top class of a classified picture.
struct ClassScore {
  int64_t index = 0;
  double score = 0;
  std::string label;  // empty: the model has no labels
};

enum class ModelState { kUnloaded, kLoading, kReady, kUnloading, kFailed };
const char* StateName(ModelState state);  // as the protocol's repository extension: "READY", "UNAVAILABLE", ...

struct ModelStatus {
  std::string name, version;
  ModelState state = ModelState::kUnloaded;
  std::string reason;  // of kFailed and kUnloaded
};

// The figures of a version since it was loaded. Sums of nanoseconds.
struct ModelCounts {
  int64_t succeeded = 0, failed = 0, refused = 0, executions = 0;
  int64_t success_ns = 0, fail_ns = 0, queue_ns = 0, decode_ns = 0, scale_ns = 0, compute_ns = 0;
  std::map<int, std::pair<int64_t, int64_t>> batches;  // size: {executions, nanoseconds of computing}
  int64_t last_ms = 0;                                 // of the Unix epoch: the last request
};

struct ModelInfo {
  ModelStatus status;
  std::vector<std::string> versions;  // that are ready, of the same model
  std::vector<Port> inputs, outputs;
  bool takes_pictures = false;        // whether Classify() can answer
  bool has_labels = false;
};

class Server {
 public:
  explicit Server(ServerOptions options);
  ~Server();  // as Drain(), without a limit of time

  // Computes a request. `version` empty: the latest that is ready. `done` is called exactly once: on the
  // calling thread if the request is refused, else on a slot's thread. `deadline` nothing: none; a request
  // that cannot be answered in time is refused at once, and one that is late is given up before it is computed.
  void Infer(const std::string& model, const std::string& version, InferRequest request,
             std::optional<Clock::time_point> deadline, OnOutcome done);

  // Decodes a picture, preprocesses it as the model's TOML file says, and computes its classes. The answer has the
  // outputs "class" (BYTES), "index" (INT64) and "score" (FP32), the best class first.
  void Classify(const std::string& model, const std::string& version, std::string picture, int classes,
                std::optional<Clock::time_point> deadline, OnOutcome done);

  // Error NOT_FOUND for a model or version that is not there, UNAVAILABLE for one that is not ready.
  ModelInfo Info(const std::string& model, const std::string& version) const;
  bool IsReady(const std::string& model, const std::string& version) const;
  std::vector<ModelStatus> Index() const;
  ModelCounts Counts(const std::string& model, const std::string& version) const;

  // Loads what the repository has of a model now, beside the versions in use; requests that come meanwhile are
  // computed by these. The versions in use then finish what they have. Error NOT_FOUND, or that of a model that
  // cannot be loaded, which leaves those in use.
  void Load(const std::string& model);
  void Unload(const std::string& model);  // when its accepted requests have been answered

  bool live() const;
  bool ready() const;  // all models that were asked for are loaded, and no drain has begun
  // Refuses new requests, and returns when all accepted ones have been answered, or at the limit; true: all.
  bool Drain(std::chrono::milliseconds limit);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace mete::serve
