// What a request costs on a device and on a server, step by step, as a value from any source: measured,
// estimated or given.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "costs/network_link.h"
#include "costs/pool.h"
#include "costs/starts.h"
#include "graph/graph.h"
#include "plan/site/kept_parts.h"
#include "plan/site/min_cut.h"

namespace mete {

// Where a model is on a device when a request comes.
//   resident    its session is ready and in memory
//   evicted     its process lives, and the pages of its weights are on the disk
//   killed      there is no process, and the files are in the system's cache
//   cold        there is no process, and the files are on the disk
//   first-ever  as cold, and nothing was ever measured or packed for it here
enum class StartState { kResident, kEvicted, kKilled, kCold, kFirstEver };
inline constexpr size_t kStartStates = 5;
const std::vector<std::string>& StartStates();                                  // the names, in this order
StartState ParseStartState(const std::string& name, const std::string& where);  // Error for an unknown name

// The time until a model is resident, of which a part of the model, as a cut leaves it to the device, takes
// at least `least_ms`: what does not shrink with the weights, such as the start of a process. As LayerCost
// has it of a layer's rows.
struct LoadCost {
  double ms = 0, least_ms = 0;

  bool operator==(const LoadCost&) const = default;
};

using Loads = std::array<std::optional<LoadCost>, kStartStates>;  // by state; nothing: not known
// Returns the loads of a model whose starts were measured: the time of a start without that of a resident
// model's answer, which computing counts, and without what every way needs (StartsOf).
Loads LoadsOf(const StartCosts& starts);

// The time until a process is there that can ask or compute, by state: that of a new process, and of reading
// the model's form. Every way takes it.
using StartTimes = std::array<double, kStartStates>;
StartTimes StartsOf(const StartCosts& starts);

// The times of a photo's steps on one side. Each is nothing where it is not known. Where decoding makes the
// picture smaller as well (image/scaled_picture.h), that is a part of decode_ms, and scale_ms is the rest.
struct PictureCosts {
  std::optional<double> decode_ms = {};  // of the photo's file to pixels
  std::optional<double> scale_ms =
      {};  // of its pixels to the network's input, with all of the model's preprocessing
  std::optional<double> encode_scaled_ms = {};  // of the scaled picture as it is sent
  std::optional<double> decode_scaled_ms = {};  // of that, to the network's input

  bool operator==(const PictureCosts&) const = default;
};

// A request that is a photo; without one it is the tensors of the graph's inputs.
struct PhotoCosts {
  int64_t file_bytes = 0;    // as it is sent raw
  int64_t scaled_bytes = 0;  // of the scaled picture as it is sent, a PNG or bytes of pixels
  PictureCosts device, server;

  bool operator==(const PhotoCosts&) const = default;
};

// What a cut takes beside its layers and values.
struct CutCosts {
  // Until the server's part is ready on its worker, beyond the device's part, over a connection of its own.
  double ready_ms = 0;
  double stream_ms = 0;  // of upload: what the worker's stream takes beyond an exchange
  // Of the device's part, to which a session of the whole model is of no use; nothing: as of the model in its
  // state.
  std::optional<LoadCost> load = {};
  // The division that is ready on both sides, which takes none of these times; empty: none is.
  OnDevice ready = {};
};

struct SiteCosts {
  // The device's processors, the first one its home; and the server behind them as one more processor, if
  // there is a server (AddServer).
  PoolCosts pool;
  // Of the whole model on the device, where it was measured there and `pool` has the home alone, which
  // computes the device's part of a cut; nothing: as the plan of `pool` predicts.
  std::optional<double> device_ms = {};
  bool has_server = false;
  NetworkLink link;  // from the device to the server
  Connection connection = Connection::kWarm;
  double server_wait_ms = 0;  // until the server begins with a request: the load that its last answer told
  LoadCost server_load = {};  // where the server has to load the model first; 0: it is resident there
  CutCosts cut = {};
  StartState state = StartState::kResident;
  StartTimes start_ms = {};               // of the device by state
  Loads loads = {};                       // beyond that, of the device by state; nothing: not known
  std::vector<LoadTerm> load_terms = {};  // of the whole model's load from `state`
  // Until the server has said that it is there, of every way that asks it; 0: it is not asked before.
  double ask_ms = 0;
  double asked_ms = 0;  // of having asked already, of every way
  std::optional<PhotoCosts> photo = {};

  std::optional<LoadCost> load() const { return loads[size_t(state)]; }
};

// Returns a processor of which only the time of the whole model is known, such as a server that tells it in
// its answers: its layers take `us` together, in proportion to those of `like`, which is a guess. Layers that
// `like` cannot compute it cannot, either. Error if those of `like` take no time.
ProcessorCosts InProportion(const ProcessorCosts& like, const std::string& name, double us);

// Appends the server to the pool, behind the link as a pool has it (PoolLinkOf).
void AddServer(SiteCosts& costs, ProcessorCosts server, const NetworkLink& link);

PoolCosts DevicePool(const SiteCosts& costs);  // without the server
// The server as the only processor of a pool that has it. Needs a server.
const ProcessorCosts& ServerOf(const SiteCosts& costs);

// Throws one Error that lists all contradictions: those of pool and link, negative times and bytes, a load
// whose least part is longer than all of it, a photo for a model with several inputs.
void Verify(const SiteCosts& costs, const Graph& graph);

}  // namespace mete
