// What it takes a host until the first answer of a model, by what is left of the model there: measured
// (src/profile/starts) and kept, for a planner that chooses where to compute. All times are those of one
// host, one model and the settings with which they were measured.
#pragma once

#include <optional>
#include <string>

namespace mete {

// A start has steps, each from the end of the one before: the process (until the program's own code has
// begun to load the model), loading (the file is read and its graph is made ready), preparing (kernels are
// chosen, weights are packed or mapped), and the first answer.
struct StartSteps {
  double process_ms = 0, load_ms = 0, prepare_ms = 0, answer_ms = 0;

  double ms() const { return process_ms + load_ms + prepare_ms + answer_ms; }
  bool operator==(const StartSteps&) const = default;
};

// Medians over `starts` starts. The median of the sums is not the sum of the medians.
struct StartCost {
  double ms = 0;      // from the request for the start until the answer
  double mad_ms = 0;  // median absolute deviation of `ms`
  int starts = 0;
  StartSteps steps;

  bool operator==(const StartCost&) const = default;
};

// A state that could not be reached is not there: nothing is called evicted or cold whose files were in
// memory.
struct StartCosts {
  StartCost resident;                // a session is there and has just answered
  std::optional<StartCost> evicted;  // the process is there; files, also those it maps, are not in memory
  StartCost killed;                  // no process; all files are in memory
  std::optional<StartCost> cold;     // no process, and no file of the model or the program is in memory
  std::optional<StartCost> first;    // cold, and nothing was kept: no timings, no packed weights
  // the saving of what is kept, as starts of state `killed` without a part of it; nothing: no such part is
  // kept. On a pool, what was measured of its layers is missing together with the timings
  std::optional<StartCost> without_weights, without_timings, without_programs;

  bool operator==(const StartCosts&) const = default;
};

// Throws an Error with `where` and the state for figures that are impossible: below 0, not finite, steps
// without a start.
void Verify(const StartCosts& costs, const std::string& where);

std::string ToJson(const StartCosts& costs);
// Returns verified costs; throws Error with `where`.
StartCosts StartCostsFromJson(const std::string& text, const std::string& where);

}  // namespace mete
