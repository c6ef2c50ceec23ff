// Runs of one model that are submitted and answered later: several sessions with a thread each, and a queue.
//
//   #include "mete/session_pool.h"
//
//   mete::Model model = mete::Model::Load("net.onnx");
//   mete::SessionPool sessions(model, {.sessions = 2});
//   std::future<std::vector<mete::Tensor>> answer =
//       sessions.Submit({mete::Tensor(mete::DType::kF32, model.inputs()[0].shape)});
//   std::vector<mete::Tensor> outputs = answer.get();  // throws what the run has thrown
#pragma once

#include <cstddef>
#include <future>
#include <memory>
#include <vector>

#include "mete/engine.h"

namespace [[gnu::visibility("default")]] mete {

struct SessionPoolOptions {
  int sessions = 1;           // runs that are computed at a time
  size_t most_waiting = 256;  // runs that wait for a session; a guess: what waits longer is asked for again
  // Of each session. With `cores` each session has `threads` of them (0: an equal part), the first session
  // the first ones.
  SessionOptions session = {.threads = 1};
};

// The sessions have their packed weights in common, and each has an arena of its own. Several threads may
// submit at once. Runs begin in the order in which they were submitted.
class SessionPool {
 public:
  // Throws as the constructor of Session, and INVALID_ARGUMENT for less than one session or for cores that
  // cannot be divided among them.
  SessionPool(const Model& model, const SessionPoolOptions& options = {});
  ~SessionPool();  // waits for all runs that were submitted
  SessionPool(const SessionPool&) = delete;
  SessionPool& operator=(const SessionPool&) = delete;

  // Returns at once; a session then runs the model as Session::Run(inputs, options) does. What `options`
  // points to stays until the future is ready. A deadline also ends a run that still waits, when its turn has
  // come. RESOURCE_EXHAUSTED if as many runs wait as may.
  std::future<std::vector<Tensor>> Submit(std::vector<Tensor> inputs, const RunOptions& options = {});

  size_t waiting() const;  // runs that wait for a session now

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace mete
