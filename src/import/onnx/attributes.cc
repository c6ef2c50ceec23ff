#include "import/onnx/attributes.h"

#include <algorithm>
#include <optional>

#include "base/custom_operators.h"
#include "base/fused.h"
#include "graph/bodies.h"
#include "graph/operators.h"

namespace mete::onnx_import {
namespace {

using ::onnx::AttributeProto;

// Returns the type of an attribute. Files older than IR version 2 may leave the type out; then it follows
// from the field that is present.
int KindOf(const AttributeProto& a) {
  if (a.has_type() && a.type() != AttributeProto::UNDEFINED) return a.type();
  if (a.has_f()) return AttributeProto::FLOAT;
  if (a.has_i()) return AttributeProto::INT;
  if (a.has_s()) return AttributeProto::STRING;
  if (a.has_t()) return AttributeProto::TENSOR;
  if (a.has_g()) return AttributeProto::GRAPH;
  if (a.floats_size()) return AttributeProto::FLOATS;
  if (a.ints_size()) return AttributeProto::INTS;
  if (a.strings_size()) return AttributeProto::STRINGS;
  return AttributeProto::UNDEFINED;
}

bool NamesType(const std::string& name) {
  return name == "to" || name == "dtype" || name == "output_dtype" || name == "output_datatype";
}

// Returns the type's name in Mete. Returns nothing for UNDEFINED, which means the same as no attribute, and
// for a type that is reported to `problems` as unsupported.
std::optional<Attribute> TypeAttribute(const AttributeProto& a, const std::string& op,
                                       const std::string& where, ImportProblems& problems) {
  const int32_t number = a.i() >= 0 && a.i() < 1000 ? int32_t(a.i()) : 1000;
  if (number == 0) return std::nullopt;
  const DType type = DTypeOfOnnx(number);
  if (type != DType::kUnknown) return Name(type);
  problems.Unsupported("operator " + op,
                       fmt::format("attribute {} asks for element type {}", a.name(), OnnxTypeName(number)),
                       where);
  return std::nullopt;
}

// `custom`: the operator is one of the program's own, which may have the names of ONNX's operators and
// attributes.
std::optional<Attribute> Convert(const AttributeProto& a, const std::string& op, bool custom,
                                 const std::string& where, TensorReader& tensors, ImportProblems& problems) {
  const int kind = KindOf(a);
  if (kind == AttributeProto::INT && NamesType(a.name()) && !custom)
    return TypeAttribute(a, op, where, problems);
  switch (kind) {
    case AttributeProto::INT: return a.i();
    case AttributeProto::FLOAT: return a.f();
    case AttributeProto::STRING: return a.s();
    case AttributeProto::INTS: return Ints(a.ints().begin(), a.ints().end());
    case AttributeProto::FLOATS: return Floats(a.floats().begin(), a.floats().end());
    case AttributeProto::STRINGS: return Strings(a.strings().begin(), a.strings().end());
    case AttributeProto::TENSOR: return tensors.Read(a.t(), where + "." + a.name());
    case AttributeProto::GRAPH:
      // the importer reads it, with what is around it
      if (!custom && (IsControlFlow(op) || op == "FlexAttention")) return std::nullopt;
      [[fallthrough]];
    case AttributeProto::GRAPHS:
      problems.Unsupported("operator " + op, "it has a subgraph, which only If, Loop and Scan may have here",
                           where);
      return std::nullopt;
    default:
      problems.Unsupported("operator " + op,
                           fmt::format("attribute {} is of a kind that is not supported", a.name()), where);
      return std::nullopt;
  }
}

void RefuseAttribute(const std::string& where, const std::string& name, const std::string& op,
                     ImportProblems& problems) {
  problems.Bad(where, "attribute '{}' is none of operator {}: only Mete's own passes write it", name, op);
}

}  // namespace

Attributes ReadAttributes(const ::onnx::NodeProto& node, const std::string& where, TensorReader& tensors,
                          ImportProblems& problems) {
  const bool custom = FindCustom(node.domain(), node.op_type()) != nullptr;
  Attributes out;
  for (const AttributeProto& a : node.attribute()) {
    if (out.Has(a.name())) {
      problems.Bad(where, "has attribute '{}' twice", a.name());
      continue;
    }
    if (a.name().starts_with("mete_")) {
      RefuseAttribute(where, a.name(), node.op_type(), problems);
      continue;
    }
    try {
      if (auto value = Convert(a, node.op_type(), custom, where, tensors, problems))
        out.Set(a.name(), std::move(*value));
    } catch (const Error& e) {
      if (e.code() == Code::kUnimplemented)
        problems.Unsupported("operator " + node.op_type(), e.what(), where);
      else problems.Bad(e);
    }
  }
  return out;
}

void RefuseReserved(Node& node, const std::string& where, ImportProblems& problems) {
  if (node.op == "LSTM" || node.op == "GRU" || node.op == "RNN")
    return;  // ONNX gives them three of the names
  for (const char* name : {"layout", "residual", "activation", "activation_alpha", "activation_beta",
                           kSumPiece, kIntoOffset, kIntoChannels, kLevels, kOperands}) {
    if (!node.attributes.Has(name)) continue;
    RefuseAttribute(where, name, node.op, problems);
    node.attributes.Erase(name);
  }
}

}  // namespace mete::onnx_import
