// A request for a model on its way through the slots.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "serve/server/loaded.h"

namespace mete::serve {

// The error that a refusal is for the caller. `retry_after_s` is told with it.
Outcome OutcomeOf(Refusal why, double retry_after_s);

// What becomes of the outputs of a run.
enum class Wanted { kOutputs, kClasses };

struct InferJob : Job {
  void GiveUp(Refusal why) override { End(OutcomeOf(why, 0)); }
  // Counts the outcome and hands it to the caller: the last thing that is done with a job.
  void End(Outcome&& outcome);

  std::shared_ptr<Loaded> loaded;
  InferRequest request;
  std::vector<Tensor> inputs;         // in the model's order; of pictures empty until they are scaled
  std::vector<std::string> pictures;  // for the model's only input
  std::vector<size_t> outputs;        // indices into the model's
  Wanted wanted = Wanted::kOutputs;
  int classes = 0;   // of kClasses: how many
  int64_t rows = 1;  // of a batch
  int64_t most_pixels = 0;
  Nanoseconds arrived = 0, output = 0;  // when it came; how long its answer took to make
  OnOutcome done;
  StepTimes steps;
};

// Computes jobs, all InferJob of one model, as one batch: decodes and scales each one's pictures, runs the
// model, and gives each its outcome.
Computed ComputeJobs(const Start& start, std::vector<std::unique_ptr<Job>> jobs);

// Counts a request that never became a job.
void CountRefused(Metrics& metrics, const std::string& model, const std::string& version, Code code);

}  // namespace mete::serve
