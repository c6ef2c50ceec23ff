// Architectures of the literature as ONNX files with seeded random weights, for tests of speed and
// correctness without downloads. Their values have realistic magnitudes, but their results mean nothing.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

namespace mete {

struct ZooEntry {
  const char* name;
  const char* description;  // one line: the network and its input
};

std::span<const ZooEntry> ZooList();

// Returns whether a model is from the zoo, by its metadata (Model::metadata()): its weights are random, and
// its results mean nothing.
bool HasRandomWeights(const std::map<std::string, std::string>& metadata);

// Writes the network to `path`, which is replaced as a whole. Equal seeds give equal bytes on every machine.
// Error NOT_FOUND for an unknown name, UNAVAILABLE if `path` cannot be written.
void ZooMake(std::string_view name, const std::string& path, uint64_t seed);

// Returns the number of parameters: weights, biases and scales, without the running statistics of batch
// normalisation. The function makes no weights and is therefore fast.
int64_t ZooParameters(std::string_view name);

// Returns the number of networks for measuring a machine (probes.cc), which are numbered from 0. They have
// layers of all sizes and never change.
int ZooProbes();
void ZooMakeProbe(int number, const std::string& path);  // writes a file as ZooMake() does

}  // namespace mete
