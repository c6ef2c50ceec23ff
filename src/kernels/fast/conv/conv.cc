#include "kernels/fast/conv/conv.h"

#include <algorithm>

#include "kernels/fast/conv/indirection.h"
#include "kernels/fast/conv/strip_rows.h"
#include "kernels/fast/target/targets.h"
#include "kernels/fast/tile/tile.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/fast/conv/conv.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include "kernels/fast/target/name-inl.h"
#include "kernels/fast/tile/dots-inl.h"
#include "kernels/fast/tile/tile-inl.h"

#ifndef METE_CONV_ONCE
#define METE_CONV_ONCE
namespace mete {

struct ConvCode {
  const char* target;
  // Runs all chunks of one panel. The caller has set the strip's rows (tile.h). `packed` is the panel,
  // which has `width` columns.
  void (*run_panel)(const ConvPlan&, Strip, const float* packed, int64_t width);
  // The same where the plan has dots.
  void (*run_dots)(const ConvPlan&, Strip, const float* packed, int64_t width);
};

}  // namespace mete
#endif  // METE_CONV_ONCE

HWY_BEFORE_NAMESPACE();
namespace mete {
namespace HWY_NAMESPACE {

// Runs the channels [k.begin, k.end) of the taps [taps.begin, taps.end).
inline void RunConvChunk(const ConvPlan& plan, Strip s, const float* packed, int64_t width, Range taps,
                         Range k) {
  s.rows += static_cast<size_t>(taps.begin) * s.tap_stride;
  s.taps = static_cast<size_t>(taps.size());
  s.offset += static_cast<size_t>(k.begin);
  s.k = static_cast<size_t>(k.size());
  s.panel = packed + (taps.begin * plan.tap_length + k.begin) * width;
  s.next = s.panel + s.taps * s.k * static_cast<size_t>(width);
  s.first = taps.begin == 0 && k.begin == 0;
  s.last = taps.end == plan.taps && k.end == plan.tap_length;
  s.width = static_cast<size_t>(width);
  RunPanel(s);
}

// Runs a panel of few columns, whose lanes hold elements of K.
void RunConvDots(const ConvPlan& plan, Strip s, const float* packed, int64_t) {
  s.taps = static_cast<size_t>(plan.taps);
  s.k = static_cast<size_t>(plan.tap_length);
  s.panel = packed;
  RunDots(s);
}

// Runs a panel in chunks. A chunk consists of whole taps if several taps fit, otherwise of a part of one
// tap's channels.
void RunConvPanel(const ConvPlan& plan, Strip s, const float* packed, int64_t width) {
  const int64_t longest = ChunkLength(width);
  const int64_t together = std::max<int64_t>(1, longest / plan.tap_length);
  const EvenPieces tap_pieces(plan.taps, together);
  const EvenPieces channel_pieces(plan.tap_length, longest);
  for (int64_t t = 0; t < tap_pieces.count(); ++t) {
    if (together > 1) {
      RunConvChunk(plan, s, packed, width, tap_pieces[t], {0, plan.tap_length});
      continue;
    }
    for (int64_t c = 0; c < channel_pieces.count(); ++c)
      RunConvChunk(plan, s, packed, width, tap_pieces[t], channel_pieces[c]);
  }
}

const ConvCode* GetConvCode() {
  static constexpr ConvCode code = {TargetName(), RunConvPanel, RunConvDots};
  return &code;
}

}  // namespace HWY_NAMESPACE
}  // namespace mete
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mete {
HWY_EXPORT(GetConvCode);

namespace {

bool IsGemm(const ConvShape& s) {
  return s.groups == 1 && s.kernel_height == 1 && s.kernel_width == 1 && s.stride_y == 1 && s.stride_x == 1 &&
         s.pad_top == 0 && s.pad_left == 0 && s.in_height == s.out_height && s.in_width == s.out_width &&
         s.out_row_stride == 0;
}

int64_t SumLength(const ConvPlan& plan) { return plan.taps * plan.tap_length; }

int64_t PackedLength(const ConvPlan& plan) {
  return plan.shape.groups * plan.gemm.packed_columns() * SumLength(plan);
}

PanelPlace PlaceOf(const ConvPlan& plan, int64_t panel) {
  PanelPlace place(plan.split, SumLength(plan), panel);
  if (plan.gemm.dots) place.packed = place.group * plan.gemm.packed_columns() * SumLength(plan);
  return place;
}

// Packs one panel as [ky][kx][c][width], or as [column][ky][kx][c] for dots.
void PackPanel(const ConvPlan& plan, const float* weights, int64_t first, const PanelPlace& place,
               float* to) {
  const int64_t taps = plan.shape.kernel_height * plan.shape.kernel_width, columns = place.columns.size();
  const float* from =
      weights + (place.group * plan.group_outputs + place.columns.begin - first) * plan.group_channels * taps;
  if (plan.gemm.dots) {
    for (int64_t j = 0; j < columns; ++j)
      for (int64_t tap = 0; tap < taps; ++tap)
        for (int64_t c = 0; c < plan.group_channels; ++c)
          *to++ = from[(j * plan.group_channels + c) * taps + tap];
    return;
  }
  // The loop over channels is the outer one, so that the weights are read nearly in order.
  for (int64_t c = 0; c < plan.group_channels; ++c) {
    for (int64_t tap = 0; tap < taps; ++tap) {
      float* row = to + (tap * plan.group_channels + c) * place.width;
      for (int64_t j = 0; j < columns; ++j) row[j] = from[(j * plan.group_channels + c) * taps + tap];
      std::fill(row + columns, row + place.width, 0.0f);
    }
  }
}

struct ConvCall {
  const ConvPlan& plan;
  const float* packed;
  float* output;
};

// Computes the columns of a panel. `s` has the inputs of the pixels of `pass`.
void RunColumns(const ConvCall& call, Strip s, Range pass, int64_t panel) {
  const ConvPlan& plan = call.plan;
  const PanelPlace place = PlaceOf(plan, panel);
  const int64_t column = place.group * plan.group_outputs + place.columns.begin;
  s.offset = static_cast<size_t>(place.group * plan.group_channels);
  s.columns = static_cast<size_t>(place.columns.size());
  const float* packed = call.packed + place.packed;
  const auto run = plan.gemm.dots ? plan.code->run_dots : plan.code->run_panel;
  RunByRows(plan.shape, s, pass, column, call.output,
            [&](const Strip& strip) { run(plan, strip, packed, place.width); });
}

}  // namespace

ConvPlan PlanConv(const ConvShape& shape, int64_t most_vectors) {
  ConvPlan plan;
  plan.shape = shape;
  plan.code = HWY_DYNAMIC_DISPATCH(GetConvCode)();
  plan.group_channels = shape.in_channels / shape.groups;
  plan.group_outputs = shape.out_channels / shape.groups;
  plan.as_gemm = IsGemm(shape);
  const int64_t length = plan.group_channels * shape.kernel_height * shape.kernel_width;
  plan.gemm =
      PlanGemm(plan.group_outputs, length, most_vectors, SumOrder::kInOrder);  // the taps decide on dots
  plan.split = plan.gemm.split;
  plan.panels = plan.split.count() * shape.groups;
  static_cast<ConvTaps&>(plan) = PlanTaps(shape, plan.gemm.row_step, sizeof(float));
  if (const int64_t lanes = plan.split.lanes();
      TakesDots(plan.group_outputs, plan.taps, plan.tap_length, lanes)) {
    plan.gemm.dots = true;
    plan.gemm.row_step = kRowsOfDots;
    plan.gemm.steps = DotSteps(plan.group_outputs, plan.taps, plan.tap_length, lanes);
  }
  plan.row_step = plan.gemm.row_step;
  return plan;
}

const char* TargetOf(const ConvPlan& plan) { return plan.code->target; }

size_t PackedConvBytes(const ConvPlan& plan) {
  const int64_t zeros = std::max(plan.shape.in_channels, plan.tap_length);
  return static_cast<size_t>(PackedLength(plan) + zeros) * sizeof(float);
}

Range PanelChannels(const ConvPlan& plan, int64_t panel) {
  const PanelPlace place = PlaceOf(plan, panel);
  const int64_t of_group = place.group * plan.group_outputs;
  return {of_group + place.columns.begin, of_group + place.columns.end};
}

void PackConv(const ConvPlan& plan, const float* weights, Range panels, float* packed, int64_t first) {
  for (int64_t p = panels.begin; p < panels.end; ++p) {
    const PanelPlace place = PlaceOf(plan, p);
    PackPanel(plan, weights, first, place, packed + place.packed);
  }
  if (panels.end == plan.panels)
    std::fill(packed + PackedLength(plan), packed + PackedConvBytes(plan) / sizeof(float), 0.0f);
}

size_t ConvScratchBytes(const ConvPlan& plan) { return plan.as_gemm ? 0 : TableBytes(plan, sizeof(float)); }

void RunConv(const ConvPlan& plan, const float* input, const float* packed, const Epilogue& epilogue,
             Range pixels, Range panels, float* output, void* scratch) {
  const ConvShape& shape = plan.shape;
  const int64_t out_stride = shape.out_pixel_stride ? shape.out_pixel_stride : shape.out_channels;
  if (plan.as_gemm) {
    const int64_t in_stride = shape.in_pixel_stride ? shape.in_pixel_stride : shape.in_channels;
    return RunGemm(plan.gemm, input, in_stride, packed, epilogue, pixels, panels, output, out_stride);
  }
  const int64_t residual_stride = epilogue.residual_stride ? epilogue.residual_stride : out_stride;
  const ConvCall call = {plan, packed, output};
  const float** table = static_cast<const float**>(scratch);
  float* joined = reinterpret_cast<float*>(table + plan.taps * plan.pass);
  const EvenPieces passes(pixels.size(), plan.pass);
  for (int64_t i = 0; i < passes.count(); ++i) {
    const Range pass = {pixels.begin + passes[i].begin, pixels.begin + passes[i].end};
    FillIndirection(shape, plan, input, packed + PackedLength(plan), pass, table, joined);
    Strip strip = {};
    strip.rows = table;
    strip.padding = packed + PackedLength(plan);
    strip.tap_stride = static_cast<size_t>(plan.pass);
    strip.row_count = static_cast<size_t>(pass.size());
    strip.out_stride = static_cast<size_t>(out_stride);
    strip.residual_stride = static_cast<size_t>(residual_stride);
    strip.epilogue = &epilogue;
    strip.tile = plan.gemm.tile;
    for (int64_t p = panels.begin; p < panels.end; ++p) RunColumns(call, strip, pass, p);
  }
}

}  // namespace mete
#endif  // HWY_ONCE
