// A device's program made ready to run, and its run for one request. Where the other devices are is not known
// here: what they send comes through an Inbox, and what they get goes into an Outbox.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "mete/engine.h"
#include "plan/devices/program.h"
#include "run/devices/inbox.h"
#include "run/devices/turn.h"

namespace mete {

// Takes pieces for other devices; sends while others compute. Errors of sending are told to those who wait,
// not here.
class Outbox {
 public:
  virtual ~Outbox() = default;
  virtual void Send(int to, const PieceId& id, Tensor piece) = 0;
};

// Memory for tensors of which there are as many at a time as requests under way: what nobody reads any more
// is taken again. Thread-safe.
class Buffers {
 public:
  Tensor Take(DType type, const Shape& shape);  // not zeroed where it is taken again

 private:
  std::mutex mutex_;
  std::vector<std::shared_ptr<Tensor>> all_;
};

// A session for a share's graph. May give the same one for the same graph.
using MakeShareSession = std::function<std::shared_ptr<Session>(const Graph&)>;

struct StageTimes {
  double wait_us = 0;     // for what others send
  double compute_us = 0;  // 0: nothing is computed
};

class PreparedProgram {
 public:
  // Makes the sessions: takes as long as preparing models does. The program is one that Verify() finds
  // nothing in.
  PreparedProgram(DeviceProgram program, int device, const MakeShareSession& make);

  // A request. `inputs`: what this device holds at first: of the caller's own the graph's inputs, of others
  // nothing. Gives what it holds at last. `turn` is taken while something is computed. Thread-safe. Error:
  // what Inbox was failed with, which also ends what is being computed, or what the data cause.
  std::vector<Tensor> Run(std::vector<Tensor> inputs, Inbox& inbox, Outbox& outbox, Turn& turn,
                          std::span<StageTimes> times) const;

  const DeviceProgram& program() const { return program_; }
  int device() const { return device_; }

 private:
  std::vector<Tensor> RunStage(size_t stage, const std::vector<Tensor>& held, Inbox& inbox, Turn& turn,
                               StageTimes& times) const;
  Tensor Gather(size_t stage, size_t need, const std::vector<Tensor>& held, Inbox& inbox) const;

  const DeviceProgram program_;
  const int device_;
  std::vector<std::shared_ptr<Session>> sessions_;  // by stage; null where nothing is computed
  mutable Buffers buffers_;
};

}  // namespace mete
