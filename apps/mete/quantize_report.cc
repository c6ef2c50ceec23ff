#include "quantize_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "terminal.h"

namespace mete::cli {
namespace {

constexpr size_t kRows = 10;  // as many worst layers as fit on a screen with the summary

Json ToJson(const QuantizeReport& r) {
  Json json{{"model", r.model}, {"file", r.file},
            {"bytes", r.bytes}, {"bytes_before", r.bytes_before},
            {"opset", r.opset}, {"activations", r.activations},
            {"ms", r.ms}};
  if (r.activations == "dynamic") return json;
  json["pictures"] = r.pictures;
  json["unreadable"] = r.unreadable;
  json["method"] = r.method;
  json["equalized"] = r.equalized;
  json["biases_corrected"] = r.biases_corrected;
  if (r.answers_db) json["answers_db"] = *r.answers_db;
  if (r.holdout)
    json["holdout"] = {
        {"pictures", r.holdout->of}, {"changed", r.holdout->pictures}, {"points", r.holdout->points()}};
  json["kept"] = r.kept;
  json["layers"] = Json::array();
  for (const LayerError& layer : r.layers)
    json["layers"].push_back(
        {{"node", layer.node}, {"op", layer.op}, {"bytes", layer.bytes}, {"db", layer.db}});
  return json;
}

void PrintWorst(std::vector<LayerError> layers) {
  std::stable_sort(layers.begin(), layers.end(),
                   [](const LayerError& a, const LayerError& b) { return a.db < b.db; });
  layers.resize(std::min(layers.size(), kRows));
  Rows rows{{"layer", "operator", "output", "error, dB"}};
  for (const LayerError& layer : layers)
    rows.push_back(
        {layer.node, layer.op, layer.bytes ? "8 bits" : "floats", fmt::format("{:.1f}", layer.db)});
  fmt::print("\nlayers farthest from their outputs in floats\n{}", FormatTable(rows, "lllr", "  "));
}

}  // namespace

void Report(const QuantizeReport& r, const Context& context) {
  if (context.json) return PrintJson(ToJson(r));
  PrintText(fmt::format("{}: {} (constants in floats: {}), ONNX opset {}, in {}", r.file,
                        FormatBytes(r.bytes), FormatBytes(r.bytes_before), r.opset, FormatMs(r.ms)));
  if (r.activations == "dynamic")
    return PrintText("weights: i8, a scale for each column; activations: u8, a scale for each run");
  PrintText(
      fmt::format("weights: i8, a scale for each channel; activations: {}, ranges by {} of {} pictures{}{}",
                  r.activations, r.method, r.pictures, r.biases_corrected ? ", biases corrected" : "",
                  r.equalized ? ", channels equalized" : ""));
  PrintText(r.answers_db ? fmt::format("answers: {:.1f} dB above their error", *r.answers_db)
                         : "answers: no answers in f32 to compare");
  if (r.holdout)
    PrintText(fmt::format("holdout: {} of {} pictures change their class ({:.3g} points)",
                          r.holdout->pictures, r.holdout->of, r.holdout->points()));
  if (!r.kept.empty()) PrintText(fmt::format("in floats: {}", fmt::join(r.kept, ", ")));
  PrintWorst(r.layers);
}

}  // namespace mete::cli
