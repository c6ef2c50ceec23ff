// What a device knows of a model on its site from earlier requests, kept between them: exchanges with the
// server, and how long each side took for each step.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "costs/link_estimate.h"
#include "graph/graph.h"
#include "plan/site/site_costs.h"

namespace mete::serve {

// Times of one side for one model. Each is nothing until it was seen.
struct SideMemory {
  std::optional<double> load_ms = {};  // until a session can answer as fast as later; of the device
  std::optional<double> compute_ms = {};
  // Of a photo, by the size of its file: guess, as its pixels are not known before it is decoded.
  std::optional<double> decode_ms_per_mb = {}, scale_ms_per_mb = {};
  // Of the scaled picture: encoding on the device; decoding and scaling on the server.
  std::optional<double> small_ms = {};

  bool operator==(const SideMemory&) const = default;
};

struct SiteMemory {
  std::vector<ObservedExchange> exchanges;  // the last ones, the oldest first
  SideMemory device, server;
  std::optional<double> scaled_bytes = {};  // of the last scaled picture
};

// Follows the last times, and one outlier halfway. A guess.
void Learn(std::optional<double>& kept, double ms);
// Keeps the exchange, and forgets the oldest one if there are too many.
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
  bool resident = false;  // whether the device has a session
  Connection connection = Connection::kIdle;
  int64_t file_bytes = 1;  // of the photo
};

// Returns the costs of whole ways: layers take equal parts of a side's time, which no way reads but a cut.
// Where a time of the server's picture steps was never seen it is taken for the device's, a guess. Error
// FAILED_PRECONDITION if the device's times, or with a server its time to compute, are not known.
SiteCosts CostsOf(const Graph& graph, const SiteMemory& memory, const NetworkLink& link, const SiteNow& now);

}  // namespace mete::serve
