// Model-local functions: the importer replaces every call by the function's nodes, also within subgraphs.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "import/problems.h"
#include "import/onnx/proto.h"

namespace mete::onnx_import {

struct FlatNode {
  ::onnx::NodeProto proto;
  int64_t opset = 0;  // of the default domain, as imported by the model or function that holds the node
};

// Expands calls of a model's functions.
class FunctionInliner {
 public:
  // Keeps references to the functions of `model` and to `problems`. The nodes of all expanded functions may
  // take at most `max_bytes`, because in a hostile file functions that call functions grow exponentially.
  FunctionInliner(const ::onnx::ModelProto& model, int64_t max_bytes, ImportProblems& problems);

  // Moves the nodes out of a graph, of the model or of an attribute, and returns them with all calls
  // expanded.
  std::vector<FlatNode> Flatten(::onnx::GraphProto& graph, int64_t opset);

 private:
  using Names = std::map<std::string, std::string>;
  using AttributeMap = std::map<std::string, ::onnx::AttributeProto>;
  struct Function {
    const ::onnx::FunctionProto* proto;
    AttributeMap defaults;
  };

  static AttributeMap DefaultsOf(const ::onnx::FunctionProto& function);
  void Add(::onnx::NodeProto&& node, int64_t opset, int depth);
  void Expand(const ::onnx::NodeProto& call, const Function& function, int64_t opset, int depth);
  Names BindNames(const ::onnx::NodeProto& call, const ::onnx::FunctionProto& f, const std::string& prefix,
                  int64_t opset);
  void PassThrough(const std::string& from, const std::string& to, const std::string& prefix, int64_t opset);

  template <class... A>
  void Stop(fmt::format_string<A...> format, A&&... args) {
    problems_.Bad(problems_.model(), format, std::forward<A>(args)...);
    failed_ = true;
  }

  std::map<std::string, Function> functions_;
  std::vector<FlatNode> flat_;
  int64_t bytes_left_;
  int calls_ = 0;
  bool failed_ = false;
  ImportProblems& problems_;
};

// Levels of nested calls, and of nested subgraphs; real exporters nest a few levels.
inline constexpr int kMaxDepth = 32;

// Returns whether `domain` is "" or "ai.onnx", which are two names of the same domain.
bool IsDefaultDomain(const std::string& domain);

// Returns the version of the default domain in a list of imports, or 0 if the list does not have that domain.
template <class Imports>
int64_t DefaultOpset(const Imports& imports) {
  int64_t version = 0;
  for (const auto& import : imports)
    if (IsDefaultDomain(import.domain())) version = std::max<int64_t>(version, import.version());
  return version;
}

}  // namespace mete::onnx_import
