// Converts one parsed ONNX model to a Graph.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "import/import.h"
#include "import/onnx/functions.h"
#include "import/problems.h"
#include "import/onnx/proto.h"
#include "import/onnx/tensors.h"
#include "import/onnx/upgrade.h"

namespace mete::onnx_import {

class Importer {
 public:
  Importer(::onnx::ModelProto& model, const std::string& name, TensorReader& tensors,
           const ImportOptions& options)
      : model_(model), name_(name), tensors_(tensors), options_(options), problems_(name) {}

  Imported Run();  // throws one Error that lists all problems

 private:
  void CheckVersions();
  void ReadMetadata();
  void AddInitializers();
  void AddInputs();
  void AddNode(const FlatNode& flat);
  void AddOutputs();
  void CheckDangling();
  void CheckNarrow();
  void MarkNarrow(int32_t data_type, ValueId id);
  void MarkNarrow(const ::onnx::NodeProto& maker, ValueId id);

  bool CheckOperator(const FlatNode& flat, const std::string& node);
  void AddConstantNode(const ::onnx::NodeProto& proto, const std::string& node, const Attributes& attributes);
  void AddConstant(const std::string& name, Tensor tensor, const std::string& where);

  ValueId Reference(const std::string& name);                         // kNoValue for ""
  ValueId Define(const std::string& name, const std::string& where);  // reports a value that is made twice
  std::string NodeName(const ::onnx::NodeProto& proto);

  ::onnx::ModelProto& model_;
  const std::string& name_;
  TensorReader& tensors_;
  const ImportOptions& options_;
  Problems problems_;
  Imported result_;
  NodeNames names_;
  std::map<std::string, ValueId> ids_;
  std::set<ValueId> defined_;
  std::map<ValueId, int32_t> narrow_;  // values whose type in the model is one of narrow.h, with that type
  std::map<ValueId, std::string> first_reader_;
  int64_t opset_ = 0;
  bool mixed_floats_ = false;
};

}  // namespace mete::onnx_import
