// The inputs and outputs of a session in the caller's memory, bound by name once and used by each run.
//
//   #include "mete/binding.h"
//
//   mete::Model model = mete::Model::Load("net.onnx");
//   mete::Session session(model);
//   mete::Tensor input(mete::DType::kF32, model.inputs()[0].shape);
//   mete::Tensor output(model.outputs()[0].type, model.outputs()[0].shape);
//   mete::Binding binding(session);
//   binding.BindInput(model.inputs()[0].name, input.view());
//   binding.BindOutput(model.outputs()[0].name, output.mutable_view());
//   binding.Run();  // reads `input` and writes `output`
#pragma once

#include <string>
#include <vector>

#include "mete/engine.h"

namespace [[gnu::visibility("default")]] mete {

// The session outlives the binding and is not moved meanwhile; the memory stays the caller's, and is there as
// long as runs use it. A session may have several bindings. One thread at a time uses a binding.
class Binding {
 public:
  // Error FAILED_PRECONDITION for an empty session.
  explicit Binding(Session& session);

  // Bind memory to the port of this name, in place of what was bound to it before. INVALID_ARGUMENT if the
  // model has no such port, or for another type or a shape that its port cannot have. Sizes that follow from
  // those of other ports (dimensions of one name; outputs of a model with open dimensions) are checked by
  // each run.
  void BindInput(const std::string& name, const ConstView& memory);
  void BindOutput(const std::string& name, const View& memory);

  // Runs the model once, as the Run() of Session that writes to the caller's memory, with its errors, and
  // allocates nothing where that one allocates nothing. FAILED_PRECONDITION lists the ports without memory.
  void Run(const RunOptions& options = {});

 private:
  void CheckAllBound() const;

  Session& session_;
  const Model model_;
  std::vector<ConstView> inputs_;  // in the order of the model's ports; not present(): not bound
  std::vector<View> outputs_;
};

}  // namespace mete
