#include "costs/gpu_estimate.h"

#include <algorithm>

#include "costs/describe.h"
#include "dispatch/options.h"

namespace mete {
namespace {

// The outputs of a work-group: 64 work-items with 4 x 4 sums each, as Arm's Compute Library has for f32
// (chip.md), 16 of them along the rows. The arrangement is an estimate.
constexpr int64_t kBlockRows = 64, kBlockColumns = 16;

int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

double GflopsOf(const GpuFigures& figures, const NodeCost& node, GpuType type) {
  const double share =
      node.kind == NodeKind::kDepthwise ? figures.depthwise_share.value : figures.compute_share.value;
  const Figure& per_cycle = type == GpuType::kF16 ? figures.f16_flops_per_cycle
                            : node.int8           ? figures.int8_ops_per_cycle
                                                  : figures.f32_flops_per_cycle;
  return figures.peak_gflops(per_cycle) * share;
}

// Returns the time of a product whose data are there. A GFLOP/s is a thousand operations per microsecond.
double ComputeUs(const OutputMatrix& out, const NodeCost& node, const GpuFigures& figures, GpuType type) {
  if (node.flops <= 0 || out.rows <= 0) return 0;
  const int64_t rows = std::min(out.rows, kBlockRows), units = int64_t(figures.compute_units.value);
  const int64_t blocks = CeilDiv(out.rows, rows) * CeilDiv(out.columns, kBlockColumns);
  const double flops_of_a_sum = double(node.flops) / double(out.rows) / double(out.columns);
  const double unit_flops_per_us = GflopsOf(figures, node, type) * 1e3 / double(units);
  const double block_us = flops_of_a_sum * double(rows * kBlockColumns) / unit_flops_per_us;
  return double(CeilDiv(blocks, units)) * block_us;
}

double NodeUs(const Graph& graph, const Node& node, const GpuFigures& figures, GpuType type) {
  const NodeCost cost = DescribeNode(graph, node);
  if (!cost.computes()) return 0;
  const double bytes = double(cost.bytes) * (type == GpuType::kF16 && !cost.int8 ? 0.5 : 1);
  return figures.launch_us.value + std::max(ComputeUs(OutputMatrixOf(graph, node), cost, figures, type),
                                            bytes / figures.gbytes_per_s.value * 1e-3);
}

}  // namespace

double EstimateGpuUs(const Graph& graph, const GpuFigures& figures, const GpuEntry& gpu) {
  const GpuType type = gpu.exact_bytes && HasBytes(graph) ? GpuType::kF32 : gpu.type;
  double us = 0;
  for (const Node& node : graph.nodes) us += NodeUs(graph, node, figures, type);
  return us;
}

}  // namespace mete
