// The settings of a model that a server has: the keys of its serve.toml.
//
//   versions = "latest"       # or "all", or a list: [1, 3]
//   queue_per_slot = 2        # requests of this model that may wait, for each slot; without it as many as of all
//   deadline_ms = 200         # of requests that have none; without it they have none
//   batch = "measured"        # batches where they were measured to pay; or "off", or the most rows: 8
//   precision = "f32"         # LoadOptions::precision
//   warm_up_runs = 1          # of each session, before the model is ready
//   load = true               # at the start of the server; false: when it is asked for
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mete::serve {

struct VersionChoice {
  enum Kind { kLatest, kAll, kListed } kind = kLatest;
  std::vector<int64_t> listed;  // of kListed: ascending, each once

  bool operator==(const VersionChoice&) const = default;
};

struct ModelSettings {
  VersionChoice versions;
  int queue_per_slot = 0;  // 0: the server's limit
  int deadline_ms = 0;     // 0: none
  int most_in_batch = 0;   // rows; 0: as measured, 1: no batches
  std::string precision = "f32";
  int warm_up_runs = 1;
  bool load = true;

  bool operator==(const ModelSettings&) const = default;
};

// Throws one Error for all problems of the text, a line for each; they name `path` and the line.
ModelSettings ParseSettings(std::string_view text, const std::string& path);

}  // namespace mete::serve
