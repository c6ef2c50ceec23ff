// Operators of one's own: their shapes and kernels, for nodes of a domain of one's own in ONNX models.
//
//   #include "mete/custom_operator.h"
//
//   mete::CustomOperator twice;
//   twice.domain = "my.company";
//   twice.name = "Twice";
//   twice.shapes = [](const mete::OperatorNode& node) {
//     return std::vector<mete::OutputType>{{node.inputs[0].type, node.inputs[0].shape}};
//   };
//   twice.kernel = [](const mete::OperatorNode& node, std::span<const mete::View> outputs) {
//     for (int64_t i = 0; i < outputs[0].elements(); ++i)
//       outputs[0].as<float>()[i] = 2 * node.inputs[0].as<float>()[i];
//   };
//   mete::RegisterOperator(twice);  // models that are loaded from now on may have it
//
// A node of such an operator is computed on the CPU by its kernel alone, undivided, in the plain order of
// dimensions. On a pool processors of this process compute it, and workers do not.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mete/error.h"
#include "mete/tensor.h"

namespace [[gnu::visibility("default")]] mete {

// The attributes of a node. Each function returns the fallback, or nothing, if the node does not have the
// attribute, and throws INVALID_ARGUMENT if it has another type. What is returned lives as long as the call.
class OperatorAttributes {
 public:
  virtual bool Has(std::string_view name) const = 0;
  virtual int64_t Int(std::string_view name, int64_t fallback) const = 0;
  virtual float Float(std::string_view name, float fallback) const = 0;
  virtual std::string_view String(std::string_view name, std::string_view fallback) const = 0;
  virtual std::span<const int64_t> Ints(std::string_view name) const = 0;
  virtual std::span<const float> Floats(std::string_view name) const = 0;
  virtual std::span<const std::string> Strings(std::string_view name) const = 0;
  virtual const Tensor* TensorOf(std::string_view name) const = 0;  // null if the node does not have it

 protected:
  ~OperatorAttributes() = default;
};

// A node as the functions of its operator see it, during the call alone.
struct OperatorNode {
  // An input that is left out is not present(). For a shape function `data` is null unless the input is known
  // when shapes are: a constant of less than 64 KiB, or any input where shapes depend on data.
  std::span<const ConstView> inputs;
  const OperatorAttributes& attributes;
};

struct OutputType {
  DType type = DType::kUnknown;
  Shape shape = Shape::Unknown();  // Unknown(): it follows from the data of inputs, which are not there yet
};

// Both functions give the same for the same inputs, as results of constant inputs are computed once. Several
// threads may call them at once. What they throw becomes an Error with the node's name.
struct CustomOperator {
  std::string domain = {}, name = {};  // of a node: "my.company", "Twice"
  int least_inputs = 1;                // a node with fewer is refused
  // Returns the type and the shape of each output of the node.
  std::function<std::vector<OutputType>(const OperatorNode& node)> shapes = nullptr;
  // Writes all elements of the outputs, which have the types and shapes of `shapes` and memory. An output
  // that the node leaves out is not present().
  std::function<void(const OperatorNode& node, std::span<const View> outputs)> kernel = nullptr;
};

// Registers an operator in this process for good. INVALID_ARGUMENT for the domain of ONNX ("" or "ai.onnx")
// or Mete's, for empty names and missing functions; FAILED_PRECONDITION if the operator is registered
// already. A function of the same name in a model's file goes before it. Thread-safe.
void RegisterOperator(CustomOperator custom);

// The version of what this header declares, by which the library and Mete know that they fit each other.
inline constexpr int kOperatorsVersion = 1;

// What a library of operators registers its operators with.
class OperatorRegistry {
 public:
  void Add(CustomOperator custom) { AddOf(kOperatorsVersion, std::move(custom)); }
  // `version` is that of the header with which the library was built; `custom` is not touched if it is
  // another one than Mete's, since its members may be others.
  virtual void AddOf(int version, CustomOperator&& custom) = 0;

 protected:
  ~OperatorRegistry() = default;
};

// Loads a shared library, which stays loaded, and registers the operators that it adds. It defines the
// function `extern "C" void mete_register_operators(mete::OperatorRegistry& to)`, which calls to.Add(). It is
// built with this header and the compiler of Mete, and its code runs with the rights of the process. A second
// call for the same library does nothing. Error NOT_FOUND if it cannot be loaded, INVALID_ARGUMENT if it has
// no such function, FAILED_PRECONDITION for another version, INTERNAL for what the function throws, and those
// of RegisterOperator(); nothing is registered then.
void LoadOperators(const std::string& path);

}  // namespace mete
