// What goes into a model: tensors from files, pictures, or seeded random numbers.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "mete/engine.h"
#include "mete/image.h"

namespace mete::cli {

// "name=file.npy|.pb|.bin" (the name may be left out where the model has one input) to a tensor a port;
// ports that are not named stay without value.
std::vector<Tensor> ReadInputs(const Model& model, const std::vector<std::string>& assignments);

// Index of the first port without a value; -1 where all have one.
int FirstMissing(const std::vector<Tensor>& inputs);
std::string DescribePort(const Port& port);  // "'data' f32 1x3x224x224"

// Floats in [-1, 1), 8-bit integers over their range, wider ones 0 or 1 since they may be indices. Fills
// only the ports without a value; the same seed gives the same numbers on every machine.
void FillRandom(const Model& model, uint64_t seed, std::vector<Tensor>& inputs);

// How pictures become the input: flags over the TOML over what the input's shape says.
struct PreprocessFlags {
  std::string file;
  std::vector<std::pair<std::string, std::string>> settings;  // key of SetPreprocess(), value
};
void AddPreprocessFlags(CLI::App& command, PreprocessFlags& flags);
Preprocess PreprocessFor(const std::string& model_path, const Port& port, const PreprocessFlags& flags);

// Decodes and preprocesses. Resizes to the port's size where the steps that were asked for end at
// another one, and then says so in `note`.
Tensor ReadPicture(const std::string& path, Preprocess preprocess, const Port& port, std::string* note);

}  // namespace mete::cli
