// The architectures of the literature as ONNX files with seeded random weights, for speed and correctness
// tests that need no downloads. They compute sensible magnitudes, not sensible answers.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

namespace mete {

struct ZooEntry {
  const char* name;
  const char* description;  // one line: what it is, its input
};

std::span<const ZooEntry> ZooList();

// Whether a model's metadata (Model::metadata()) say that it was written here: its weights are random, and
// its answers mean nothing.
bool HasRandomWeights(const std::map<std::string, std::string>& metadata);

// Writes the network to `path` (over what is there, all or nothing). Equal seeds give equal bytes on every
// machine. Error NOT_FOUND for an unknown name, UNAVAILABLE where `path` cannot be written.
void ZooMake(std::string_view name, const std::string& path, uint64_t seed);

// How many parameters it has: weights, biases, scales; not the running statistics of batch normalisation.
// Makes no weights, so it is cheap.
int64_t ZooParameters(std::string_view name);

// Networks to measure a machine with (probes.cc), numbered from 0: layers of all sizes, always the same ones.
int ZooProbes();
void ZooMakeProbe(int number, const std::string& path);  // as ZooMake

}  // namespace mete
