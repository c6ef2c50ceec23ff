// Batches: which requests may be one, how their inputs become one's, and how its outputs are divided.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "serve/server/infer_job.h"

namespace mete::serve {

using Jobs = std::vector<std::unique_ptr<InferJob>>;

// What requests of one key have in common, so that they may be one batch: the type and the shape of a row of
// each input. 0: the request is computed alone.
uint64_t BatchKeyOf(const InferJob& job);

// Returns the rows of a request; 0: its inputs have different numbers of them, and are no batch.
int64_t RowsOf(const InferJob& job);
int64_t RowsOfAll(const Jobs& jobs);

// Returns for each input the rows of all jobs, one after the other. Error INVALID_ARGUMENT if rows of the
// jobs have different types or shapes.
std::vector<Tensor> Joined(const Jobs& jobs);

// Returns rows [first, first + rows) of each output. The results share the outputs' memory.
std::vector<Tensor> RowsOf(const std::vector<Tensor>& outputs, int64_t first, int64_t rows);

}  // namespace mete::serve
