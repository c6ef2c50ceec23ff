#include "answers.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "mete/io.h"
#include "terminal.h"

namespace mete::cli {
namespace {

// an output with at most this many elements is printed on one line of a terminal
constexpr int64_t kFewValues = 8;

struct Summary {
  double least = std::numeric_limits<double>::infinity(), most = -least, mean = 0;
  int64_t numbers = 0, nans = 0;
};

Summary SummaryOf(const ConstView& t) {
  Summary s;
  for (int64_t i = 0; i < t.elements(); ++i) {
    const double v = ElementAt(t, i);
    if (std::isnan(v)) {
      ++s.nans;
      continue;
    }
    s.least = std::min(s.least, v);
    s.most = std::max(s.most, v);
    s.mean += v;
    ++s.numbers;
  }
  if (s.numbers > 0) s.mean /= double(s.numbers);
  return s;
}

std::vector<double> FirstValues(const ConstView& t) {
  std::vector<double> first;
  for (int64_t i = 0; i < std::min(t.elements(), kFewValues); ++i) first.push_back(ElementAt(t, i));
  return first;
}

std::string NumberText(double v) { return fmt::format("{:.6g}", v); }

void PrintOutputs(const Model& model, const Answer& answer) {
  Rows rows{{"output", "type", "shape", "least", "most", "mean"}};
  std::string few, nans;
  for (size_t i = 0; i < answer.outputs.size(); ++i) {
    const Tensor& t = answer.outputs[i];
    const std::string& name = model.outputs()[i].name;
    const Summary s = SummaryOf(t.view());
    rows.push_back({name, Name(t.type()), ToString(t.shape())});
    for (const double v : {s.least, s.most, s.mean})
      rows.back().push_back(s.numbers > 0 ? NumberText(v) : "-");
    std::vector<std::string> values;
    for (const double v : FirstValues(t.view())) values.push_back(NumberText(v));
    if (t.elements() > 0 && t.elements() <= kFewValues)
      few += fmt::format("{}: {}\n", name, fmt::join(values, " "));
    if (s.nans > 0)
      nans += fmt::format("{}: {} of {} elements are not numbers (NaN)\n", name, s.nans, t.elements());
  }
  fmt::print("{}{}{}", FormatTable(rows, "lllrrr"), few, nans);
}

void PrintClasses(const std::vector<Ranked>& ranked) {
  const bool labels =
      std::any_of(ranked.begin(), ranked.end(), [](const Ranked& r) { return !r.label.empty(); });
  Rows rows{{"class", "score"}};
  if (labels) rows[0].push_back("label");
  for (const Ranked& r : ranked) {
    rows.push_back({std::to_string(r.index), fmt::format("{:.4f}", r.score)});
    if (labels) rows.back().push_back(r.label);
  }
  fmt::print("{}", FormatTable(rows, labels ? "rrw" : "rr"));
}

Json OutputJson(const Port& port, const Tensor& t) {
  const Summary s = SummaryOf(t.view());
  Json json{{"name", port.name},
            {"type", Name(t.type())},
            {"shape", std::vector<int64_t>(t.shape().begin(), t.shape().end())},
            {"first", FirstValues(t.view())}};
  if (s.numbers > 0) json.update({{"least", s.least}, {"most", s.most}, {"mean", s.mean}});
  if (s.nans > 0) json["nans"] = s.nans;
  return json;
}

// Returns whether the classified output has the scores of only one input; scores of several inputs are not
// ranked together.
bool IsOneRow(const Answer& answer, const AnswerStyle& style) {
  return answer.outputs[size_t(style.classified)].shape()[0] == 1;
}

std::vector<Ranked> RankedOf(const Model& model, const Answer& answer, const AnswerStyle& style) {
  if (style.classified < 0) return {};
  const size_t at = size_t(style.classified);
  const Tensor scores = NumbersOf(model.outputs()[at], answer.outputs[at]);
  return Rank(scores.view(), style.top_k, style.softmax, style.labels);
}

}  // namespace

std::vector<Answer> AnswersOf(Answer batch, const AnswerStyle& style) {
  const bool tensors = batch.pictures.empty();
  const int64_t ranked = style.classified < 0 ? 1 : batch.outputs[size_t(style.classified)].shape()[0];
  const int64_t rows = tensors ? ranked : int64_t(batch.pictures.size());
  const auto has_rows = [&](const Tensor& t) { return t.shape().rank() > 0 && t.shape()[0] == rows; };
  if (rows < 2 || !std::all_of(batch.outputs.begin(), batch.outputs.end(), has_rows))
    return {std::move(batch)};
  std::vector<Answer> answers;
  for (int64_t i = 0; i < rows; ++i) {
    Answer one{{}, {}, {}, batch.ms, rows, tensors ? i : -1};
    if (!tensors) {
      one.pictures = {batch.pictures[size_t(i)]};
      one.turned = {batch.turned[size_t(i)]};
      if (!batch.images.empty()) one.images = {std::move(batch.images[size_t(i)])};
    }
    for (const Tensor& t : batch.outputs) one.outputs.push_back(RowOf(t, i, rows));
    answers.push_back(std::move(one));
  }
  return answers;
}

int ClassifiedOutput(const Model& model, const std::string& name, bool wanted,
                     const PictureSetting& setting) {
  const auto& ports = model.outputs();
  std::vector<std::string> names;
  int classes = -1, count = 0;
  for (size_t i = 0; i < ports.size(); ++i) {
    names.push_back(fmt::format("'{}' {}", ports[i].name, ToString(ports[i].shape)));
    const bool can = CanBeClasses(ports[i].shape);
    if (can) {
      classes = int(i);
      ++count;
    }
    if (name.empty() || ports[i].name != name) continue;
    if (can) return int(i);
    setting.Fail(fmt::format(
        "output '{}' cannot be scores of classes; got {}, expected 1xN or 1xNx1x1; try without {}", name,
        ToString(ports[i].shape), setting.name()));
  }
  if (!name.empty())
    setting.Fail(
        fmt::format("the model has no output '{}'; expected one of {}", name, fmt::join(names, ", ")));
  return wanted && count == 1 ? classes : -1;
}

void PrintAnswer(const Model& model, const Answer& answer, const AnswerStyle& style) {
  const Style s = StyleOf(1);
  for (size_t i = 0; i < answer.pictures.size(); ++i)
    fmt::print(
        "{}{}{}{}\n", s.bold, answer.pictures[i], s.reset,
        answer.turned[i].empty() ? "" : fmt::format(" ({}, as its EXIF orientation says)", answer.turned[i]));
  if (answer.row >= 0) fmt::print("{}row {} of {}{}\n", s.bold, answer.row, answer.batch, s.reset);
  if (answer.said) PrintSaid(*answer.said);
  else if (answer.found) PrintFound(*answer.found, style.labels);
  else if (style.classified >= 0 && IsOneRow(answer, style)) PrintClasses(RankedOf(model, answer, style));
  else PrintOutputs(model, answer);
  fmt::print("answered in {}{}\n\n", FormatMs(answer.ms),
             answer.batch > 1
                 ? fmt::format(", {} {} at once", answer.batch, answer.row >= 0 ? "rows" : "pictures")
                 : "");
}

Json AnswerJson(const Model& model, const Answer& answer, const AnswerStyle& style) {
  Json json;
  if (answer.pictures.size() == 1) json["image"] = answer.pictures[0];
  else if (!answer.pictures.empty()) json["images"] = answer.pictures;
  if (answer.pictures.size() == 1 && !answer.turned[0].empty()) json["turned"] = answer.turned[0];
  if (answer.row >= 0) json["row"] = answer.row;
  json["ms"] = answer.ms;
  if (answer.batch > 1) json["batch"] = answer.batch;
  if (style.classified >= 0 && IsOneRow(answer, style)) {
    json["top"] = Json::array();
    for (const Ranked& r : RankedOf(model, answer, style))
      json["top"].push_back({{"class", r.index}, {"label", r.label}, {"score", r.score}});
  }
  if (answer.found) json.update(FoundJson(*answer.found, style.labels));
  if (answer.said) json.update(SaidJson(*answer.said));
  json["outputs"] = Json::array();
  for (size_t i = 0; i < answer.outputs.size(); ++i)
    json["outputs"].push_back(OutputJson(model.outputs()[i], answer.outputs[i]));
  return json;
}

std::string LabelsProblem(const std::string& path, size_t names, const Port& output) {
  const size_t classes = size_t(output.shape[1]);
  if (names == classes) return "";
  const char* what =
      names < classes ? "classes beyond them have no name" : "names may belong to other classes";
  return fmt::format(
      "[{}] {} names for {} classes of output '{}', so {}; try --labels with a line for each class", path,
      names, classes, output.name, what);
}

}  // namespace mete::cli
