// What goes into a model but pictures: tensors from files, or seeded random numbers.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "mete/engine.h"

namespace mete::cli {

// --input NAME=FILE, read before the model is: what its file leaves open follows from these shapes.
struct TensorFile {
  std::string input;  // empty: the model's only one
  std::string path;
  Tensor tensor;  // none of a .bin, which does not say its shape
};
std::vector<TensorFile> ReadTensorFiles(const std::vector<std::string>& assignments);
std::map<std::string, Shape> ShapesOf(const std::vector<TensorFile>& files);  // LoadOptions::tensor_shapes

// A tensor a port; ports without a file stay without value. UsageError where no input has such a name, Error
// where a file does not fit.
std::vector<Tensor> PlaceTensors(const Model& model, const std::vector<TensorFile>& files);

// Index of the first port without a value; -1 where all have one.
int FirstMissing(const std::vector<Tensor>& inputs);
std::string DescribePort(const Port& port);  // "'data' f32 1x3x224x224"

// Floats in [-1, 1), 8-bit integers over their range, wider ones 0 or 1 since they may be indices. Fills
// only the ports without a value; the same seed gives the same numbers on every machine.
void FillRandom(const Model& model, uint64_t seed, std::vector<Tensor>& inputs);

}  // namespace mete::cli
