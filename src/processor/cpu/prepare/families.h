// The families of fast kernels: one row for each in families.cc. A row says which operators the family
// computes and how one of their nodes is prepared. The nodes that its test computes stand in
// nodes/<family>.txt, those of the benchmark in bench/kernels/nodes/<family>.txt.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "processor/cpu/prepare/kernels.h"

namespace mete {

// Prepares a node of the family's operators. Returns null if the family cannot compute the node; `why` then
// receives the reason.
using PrepareFn = std::unique_ptr<PreparedNode> (*)(const Graph&, const Node&, Packer&, const KernelOptions&,
                                                    std::string* why);

struct KernelFamily {
  const char* name;
  std::vector<std::string_view> operators;
  PrepareFn prepare;
};

// Each operator belongs to at most one family.
const std::vector<KernelFamily>& KernelFamilies();
const KernelFamily* FamilyOf(std::string_view op);  // null if no family computes the operator

// The rows' functions, in a file for each of conv, matrix, quantized, pooling, elementwise, normalization and
// movement.
std::unique_ptr<PreparedNode> PrepareConv(const Graph&, const Node&, Packer&, const KernelOptions&,
                                          std::string* why);
std::unique_ptr<PreparedNode> PrepareMatrix(const Graph&, const Node&, Packer&, const KernelOptions&,
                                            std::string* why);
std::unique_ptr<PreparedNode> PrepareQuantizedConv(const Graph&, const Node&, Packer&, const KernelOptions&,
                                                   std::string* why);
std::unique_ptr<PreparedNode> PrepareConvert(const Graph&, const Node&, Packer&, const KernelOptions&,
                                             std::string* why);
std::unique_ptr<PreparedNode> PreparePool(const Graph&, const Node&, Packer&, const KernelOptions&,
                                          std::string* why);
std::unique_ptr<PreparedNode> PrepareElementwise(const Graph&, const Node&, Packer&, const KernelOptions&,
                                                 std::string* why);
std::unique_ptr<PreparedNode> PrepareRows(const Graph&, const Node&, Packer&, const KernelOptions&,
                                          std::string* why);
std::unique_ptr<PreparedNode> PrepareLrn(const Graph&, const Node&, Packer&, const KernelOptions&,
                                         std::string* why);
std::unique_ptr<PreparedNode> PrepareTranspose(const Graph&, const Node&, Packer&, const KernelOptions&,
                                               std::string* why);
std::unique_ptr<PreparedNode> PrepareJoin(const Graph&, const Node&, Packer&, const KernelOptions&,
                                          std::string* why);

}  // namespace mete
