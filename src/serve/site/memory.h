// What a device knows of a model on its site from earlier requests, kept between them: exchanges with the
// server, and how long each side took for each step.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "costs/link_estimate.h"
#include "graph/graph.h"
#include "plan/site/site_costs.h"
#include "serve/site/photo_times.h"

namespace mete::serve {

// Times of a photo's steps.
struct PhotoTimes {
  // By megapixels, megabytes and a constant: what is unpacked, and what is read. With making the picture as
  // small as the input wants it, which happens row by row.
  SeenSteps decode = {};
  SeenSteps scale = {};  // by megapixels and a constant: the input of that picture

  bool operator==(const PhotoTimes&) const = default;
};

// Times of one side for one model. Each is nothing until it was seen.
struct SideMemory {
  // Of the device, by its state, and by what earlier sessions have kept that was missing then
  // (MissingParts::to_ulong()): until a session can answer as fast as later, without the start of a process.
  std::array<std::array<RecentTimes, kMissing>, kStartStates> load = {};
  // Of the device: the files of each part that its last session has used or made, below the cache folder;
  // nothing: none was seen.
  std::array<std::optional<std::vector<std::string>>, kKeptParts> files = {};
  // Of the device: what a part of the model takes of its load that has no weights (LoadCost); of one with a
  // pool, what the last parts took, since its session is no measure for its home's part.
  RecentTimes least_load = {};
  // Of the server: until its part of a cut is ready on its worker, beyond the device's part; none was seen:
  // none was made ready yet, and the worker may lack the weights.
  RecentTimes ready = {};
  RecentTimes stream = {};  // of the server: what the first request to its worker takes beyond an exchange
  // Of the device, by its state: what the program takes of its own, whichever way is chosen, from its begin:
  // reading the model's form, choosing, making the answer's text.
  std::array<RecentTimes, kStartStates> start = {};
  RecentTimes compute = {};
  // Of the device: of the whole model on the home of its pool alone; none was seen: the pool is the home.
  RecentTimes home = {};
  std::string plan = {};  // of that pool, as the last session had it; "": it is not known
  // By the state that a photo finds: in a new process, or behind a pause in which pages left memory, the
  // system has to find memory for its pixels, and the code that decodes. A server is resident.
  std::array<PhotoTimes, kStartStates> photo = {};
  RecentTimes small =
      {};  // of the scaled picture: encoding on the device; decoding and scaling on the server

  bool operator==(const SideMemory&) const = default;
};

// Whether a load was seen from any state.
bool HasLoad(const SideMemory& device);
// Keeps a load. Where a session is there, nothing that was kept is missing.
void LearnLoad(SideMemory& device, StartState state, MissingParts missing, double ms);
// Returns the load from a state (LoadWith), the longest one of another state where none of it was seen;
// nothing: none was seen.
std::optional<LoadNow> LoadOf(const SideMemory& device, StartState state, MissingParts missing,
                              const PartCosts& parts);

struct SiteMemory {
  std::vector<ObservedExchange> exchanges;  // the last ones, the oldest first
  SideMemory device, server;
  std::optional<double> scaled_bytes = {};  // of the last scaled picture
};

// Keeps the exchange among the last ones, as Remember() does.
void Learn(SiteMemory& memory, const ObservedExchange& exchange);

// Returns the link that the exchanges show; `prior` as far as they show nothing.
NetworkLink LinkOf(const NetworkLink& prior, const SiteMemory& memory);

std::string ToJson(const SiteMemory& memory);
// Error INVALID_ARGUMENT with `where` for texts that are none, or figures that cannot be.
SiteMemory SiteMemoryFromJson(const std::string& text, const std::string& where);

// What a request finds.
struct SiteNow {
  bool server_answers = false;
  double server_wait_ms = 0;
  StartState state = StartState::kKilled;  // of the model
  // Of the program: once it has answered, a photo starts none, though the model is where it was before.
  StartState program = StartState::kKilled;
  // Of what earlier sessions have kept of the model; why, in words; and what each part adds, where it was
  // measured.
  MissingParts missing = {};
  std::array<std::string, kKeptParts> why_missing = {};
  PartCosts part_ms = {};
  StartTimes process_ms = {};  // by state: until the program's own code begins
  StartTimes start_ms = {};    // until it may choose, for states of which no start was seen; with process_ms
  Connection connection = Connection::kIdle;
  OnDevice ready_cut = {};  // the division that is ready on both sides; empty: none is
  double ask_ms = 0;        // until the server has told that it is there; 0: it has told already
  double asked_ms = 0;      // that it took until the server has told, whichever way is chosen now
  int64_t file_bytes = 1;   // of the photo
  double pixels = 0;        // of the photo; 0: not known
  std::optional<PowerCosts> power = {};  // of the device; nothing: not known
};

// What a photo's steps are counted by. Pixels that are not known are those of as many bytes, a guess.
struct PhotoAmounts {
  PhotoAmounts(int64_t file_bytes, double pixels)
      : megabytes(double(file_bytes) * 1e-6), megapixels((pixels > 0 ? pixels : double(file_bytes)) * 1e-6) {}
  double megabytes, megapixels;

  SeenStep Decoded(double ms) const { return {megapixels, megabytes, ms}; }
  SeenStep Scaled(double ms) const { return {megapixels, 0, ms}; }
};

// What was measured of single layers. Only their proportions count: what all of them take together is what
// was seen of the side.
struct SiteLayers {
  std::vector<LayerCost> device, server;
};

// Returns the costs. Without `layers` a side's time is divided by their arithmetic and bytes, a guess. Where
// a time of the server's picture steps was never seen it is taken for the device's, and where the load of a
// state was never seen for the longest one that was: guesses. Error FAILED_PRECONDITION if the device's
// times, or with a server its time to compute, are not known.
SiteCosts CostsOf(const Graph& graph, const SiteMemory& memory, const NetworkLink& link, const SiteNow& now,
                  const std::optional<SiteLayers>& layers = {});

}  // namespace mete::serve
