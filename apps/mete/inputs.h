// The inputs of a model other than pictures: tensors from files, or seeded random numbers.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "mete/engine.h"

namespace mete::cli {

// --input NAME=FILE. The file is read before the model, because dimensions that the model leaves open follow
// from the tensor's shape.
struct TensorFile {
  std::string input;  // empty: the model's only input
  std::string path;
  Tensor tensor;  // no value for a .bin file, which has no shape
};
std::vector<TensorFile> ReadTensorFiles(const std::vector<std::string>& assignments);
std::map<std::string, Shape> ShapesOf(const std::vector<TensorFile>& files);  // LoadOptions::tensor_shapes

// Returns one tensor per port; ports without a file have no value. UsageError if no input has such a name,
// Error if a file does not fit.
std::vector<Tensor> PlaceTensors(const Model& model, const std::vector<TensorFile>& files);

// Returns the index of the first port without a value, or -1.
int FirstMissing(const std::vector<Tensor>& inputs);
std::string DescribePort(const Port& port);  // "'data' f32 1x3x224x224"

// Fills the ports without a value with random numbers: floats in [-1, 1), 8-bit integers over their whole
// range, wider integers 0 or 1, since they may be indices. The same seed gives the same numbers on every
// machine.
void FillRandom(const Model& model, uint64_t seed, std::vector<Tensor>& inputs);

}  // namespace mete::cli
