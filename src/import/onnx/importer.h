// Converts one parsed ONNX model to a Graph.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "import/import.h"
#include "import/onnx/functions.h"
#include "import/onnx/shapes.h"
#include "import/problems.h"
#include "import/onnx/proto.h"
#include "import/onnx/tensors.h"
#include "import/onnx/upgrade.h"

namespace mete::onnx_import {

class Importer {
 public:
  Importer(::onnx::ModelProto& model, const std::string& name, TensorReader& tensors,
           const ImportOptions& options)
      : model_(model),
        name_(name),
        tensors_(tensors),
        options_(options),
        problems_(name),
        functions_(model, options.max_value_bytes, problems_) {}

  Imported Run();  // throws one Error that lists all problems

 private:
  // The graph that is made of the model's, or of a subgraph of a control flow operator.
  struct Scope {
    Scope* outer = nullptr;  // null for the model's graph
    Graph graph;
    NodeNames names;
    KnownShapes shapes;
    std::map<std::string, ValueId> ids;
    std::set<ValueId> defined;
    std::map<ValueId, std::string> first_reader;
    std::set<std::string> own;  // names that a subgraph defines; all others are of the graphs around it
    std::vector<std::string> captures;  // names that it reads of those, in the order of their values
    std::vector<ValueId> captured;      // the values
  };
  struct ImportedBody {
    std::shared_ptr<Graph> graph;  // its inputs are the parameters alone
    std::map<std::string, ValueId> captures;
  };

  void CheckVersions();
  void ReadMetadata();
  void AddInitializers(const ::onnx::GraphProto& graph);
  void AddInputs();
  void AddNodes(std::vector<FlatNode>& nodes);
  void AddNode(FlatNode& flat);
  void AddOutputs(const ::onnx::GraphProto& graph);
  void Finish();  // checks and sorts the graph of the scope
  void CheckDangling();

  void AddBodies(FlatNode& flat, Upgrade& upgrade);
  ImportedBody ImportBody(::onnx::GraphProto& proto, const FlatNode& flat);
  void AddParameters(const ::onnx::GraphProto& proto, const std::string& op);
  ValueId Capture(const std::string& name);
  void ExpandFlexAttention(FlatNode& flat, Upgrade& upgrade);
  ValueId Modified(FlatNode& flat, Upgrade& upgrade, const std::string& name, ValueId value);

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
  ImportProblems problems_;
  FunctionInliner functions_;
  Imported result_;
  Scope root_;
  Scope* scope_ = &root_;
  int depth_ = 0;  // of subgraphs around the scope
  int64_t opset_ = 0;
  bool mixed_floats_ = false;
};

}  // namespace mete::onnx_import
