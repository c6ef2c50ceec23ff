// Where `mete top` has its figures from: a server, a worker, or a session of this process. Builds without the
// network or the server have functions instead of theirs that refuse (without_network, without_serve).
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "context.h"
#include "model_flags.h"
#include "pool.h"
#include "top/figures.h"

namespace mete::cli {

struct TopFlags {
  ModelFlags model;  // its `model` is also the address of a server
  PoolFlags pool;
  std::string worker, name;  // HOST:PORT of a worker, and its name in its certificate
  std::string keys, token;   // of this caller, for servers and workers
  uint64_t seed = 1;         // of the model's random inputs
  double interval_s = 0;
  int count = 0;                       // intervals; 0: until the user ends it
  std::vector<std::string> of_models;  // given flags that only a model has
};

class TopSource {
 public:
  virtual ~TopSource() = default;
  // Asks once, and returns soon after kPatience at the latest. Error if there is no answer, or if it is none.
  // One thread at a time.
  virtual top::Figures Poll() = 0;
  // Whether it may answer again after an error.
  virtual bool may_come_back() const { return true; }

  // Guess: an answer takes milliseconds, and a server that gives none for so long has a problem.
  static constexpr std::chrono::seconds kPatience{2};
};

std::unique_ptr<TopSource> MakeServerSource(const std::string& address, const TopFlags& flags,
                                            const Context& context);
std::unique_ptr<TopSource> MakeWorkerSource(const TopFlags& flags, const Context& context);
// Makes the session, and runs it on a thread of its own until the source is destroyed.
std::unique_ptr<TopSource> MakeSessionSource(const TopFlags& flags, const Context& context);

double SteadySeconds();  // the clock of top::Figures::at_s

}  // namespace mete::cli
