// What a server says of itself and of its models, as values.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace mete::serve {

struct ServerMetadata {
  std::string name, version;
  std::vector<std::string> extensions;
};

// The extensions of the protocol that this folder reads and writes, by their usual names.
inline const std::vector<std::string> kExtensions = {"binary_tensor_data", "classification",
                                                     "model_repository", "statistics"};

struct TensorMetadata {
  std::string name, datatype;
  std::vector<int64_t> shape;  // -1: any size
};

struct ModelMetadata {
  std::string name, platform;
  std::vector<std::string> versions;
  std::vector<TensorMetadata> inputs, outputs;
};

// A version of a model in the repository, or a model without versions that are loaded.
struct IndexEntry {
  std::string name, version;
  std::string state;   // "READY", "LOADING", "UNLOADING", "UNAVAILABLE"
  std::string reason;  // of "UNAVAILABLE"
};

// How many times something was done, and the nanoseconds that it took in sum.
struct Duration {
  int64_t count = 0, ns = 0;
};

// The figures of a version since it was loaded, as the statistics extension has them.
struct ModelStatistics {
  std::string name, version;
  int64_t last_inference_ms = 0;  // of the Unix epoch; 0: none
  int64_t inferences = 0;         // requests that were answered, each with the rows of its batch
  int64_t executions = 0;         // runs of the model; fewer than inferences where batches formed
  Duration success, fail, queue;
  Duration input, compute, output;  // preparing inputs (decoding, scaling), the model's run, making answers
  struct Batch {
    Duration input, compute, output;
  };
  std::map<int64_t, Batch> batches;  // by size
};

}  // namespace mete::serve
