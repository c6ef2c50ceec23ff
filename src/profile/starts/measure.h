// Measures what starts of a model take by what is left of it on this host. Each start is a process of its
// own.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "costs/starts.h"
#include "profile/starts/file_pages.h"

namespace mete {

class CancelToken;

struct StartsOptions {
  // The words of this program with which it starts the model, answers once and obeys: mete bench --on-command
  // ...
  std::vector<std::string> arguments;
  std::vector<std::string> variables;    // "NAME=value", of each start
  std::vector<std::string> model_files;  // that the start reads
  // The cache folder of this host. Starts have folders of their own below it, on the same disk; they find its
  // profile of the machine, but those that are the first ever.
  std::string cache_folder;
  int rounds = 5;  // starts in each state
  const CancelToken* cancel = nullptr;
  std::function<void(const std::string& state, int done, int all)> progress;  // may be empty
};

// Files of a kind, and which of their pages were in memory before a start.
struct FileGroup {
  std::string name;  // "model", "kept", "program", "shared"
  std::vector<FilePages> files;

  int64_t pages() const;
  int64_t in_memory() const;
};

// The starts of a state, in the order in which the states are measured.
struct StateStarts {
  std::string name;  // as in StartCosts: "killed", "resident", ...
  std::vector<StartSteps> starts;
  std::vector<FileGroup> groups;  // before the last start
  int refused = 0;                // starts that would not have been of this state
  std::string why_refused;        // the files and pages, of the last of them
};

struct StartsMeasured {
  std::vector<StateStarts> states;
  double seconds = 0;
};

// Error UNAVAILABLE with the process's last words if it cannot start the model; CANCELLED.
StartsMeasured MeasureStarts(const StartsOptions& options);

// Returns the medians; of a state with refused starts, those of the others.
StartCost CostOf(const std::vector<StartSteps>& starts);
StartCosts CostsOf(const StartsMeasured& measured);

}  // namespace mete
