#include "show.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "base/nearest.h"
#include "checks.h"
#include "terminal.h"
#include "text_file.h"

namespace mete::cli {
namespace {

constexpr AnswerKind kKinds[] = {AnswerKind::kBoxes, AnswerKind::kMask, AnswerKind::kPicture,
                                 AnswerKind::kPoints};

std::string FileOf(const ShowFlags& flags, const std::string& picture) {
  if (!flags.out.empty()) return flags.out;
  return fmt::format("{}.{}.png", std::filesystem::path(picture).stem().string(), flags.kind);
}

std::string LabelOf(int label, std::span<const std::string> labels) {
  return label >= 0 && size_t(label) < labels.size() ? labels[size_t(label)] : "";
}

std::vector<std::string> HeadNames(const std::string& kind) {
  std::vector<std::string> names;
  for (const AnswerHead& head : AnswerHeads())
    if (kind.empty() || kind == Name(head.kind)) names.push_back(head.name);
  return names;
}

// The number of pixels of each class.
std::map<int, int64_t> PixelsOf(const PictureMask& mask) {
  std::map<int, int64_t> pixels;
  for (const int16_t label : mask.label)
    if (label != PictureMask::kOutside) ++pixels[label];
  return pixels;
}

std::string Pixels(float v) { return fmt::format("{:.1f}", v); }

std::string PointsText(std::span<const PicturePoint> points) {
  std::string text;
  for (const PicturePoint& p : points)
    text += (text.empty() ? "" : " ") + (p.seen ? fmt::format("{},{}", Pixels(p.x), Pixels(p.y)) : "-");
  return text;
}

Json WithLabel(Json json, int label, std::span<const std::string> labels) {
  json["class"] = label;
  json["label"] = LabelOf(label, labels);
  return json;
}

}  // namespace

void AddShowFlags(CLI::App& command, ShowFlags& flags) {
  std::vector<std::string> words;
  for (const AnswerKind kind : kKinds) words.push_back(Name(kind));
  words.push_back("tokens");
  command
      .add_option(
          "--show", flags.kind,
          "write a picture of what was found in each picture; --head says how the outputs say it. tokens: "
          "print the text of outputs that are tokens or their logits, by --tokenizer")
      ->type_name("WHAT")
      ->check(OneOf(words))
      ->group("Pictures");
  command
      .add_option("--out", flags.out,
                  "the file of --show (default: the picture's name with .WHAT.png, in this folder)")
      ->type_name("FILE.png")
      ->needs("--show")
      ->group("Pictures");
}

void CheckShow(const ShowFlags& flags, const std::vector<std::string>& pictures) {
  if (flags.tokens() && !flags.out.empty())
    throw UsageError("[--out] is the file of a picture; got --show tokens, which prints; try without --out");
  if (!flags.given()) return;
  if (pictures.empty())
    throw UsageError("[--show] shows what is in a picture; got none, expected one or more; try a picture");
  if (!flags.out.empty() && pictures.size() > 1)
    throw UsageError(fmt::format("[--out] is one file; got {} pictures, expected one; try without --out",
                                 pictures.size()));
  std::set<std::string> files;
  for (const std::string& picture : pictures) {
    const std::string file = FileOf(flags, picture);
    if (!files.insert(file).second)
      throw UsageError(
          fmt::format("[--show] two pictures would be shown in one file; got '{}' twice, expected "
                      "pictures of different names; try one picture at a time with --out",
                      file));
    CheckMayWrite(file);
  }
}

void CheckHead(const ShowFlags& flags, const Preprocess& settings, const PictureSetting& head) {
  const std::string& name = settings.head.name;
  if (name.empty() && !flags.given()) return;
  if (name.empty())
    throw UsageError(
        fmt::format("[--show] nothing says how the network's outputs say what it finds; got no "
                    "head{}; try --head ('mete help heads')",
                    ExpectedOneOf("", HeadNames(flags.kind))));
  const auto heads = AnswerHeads();
  const auto found =
      std::find_if(heads.begin(), heads.end(), [&](const AnswerHead& h) { return name == h.name; });
  if (found == heads.end())
    head.Fail(fmt::format("no such head; got '{}'{}", name, ExpectedOneOf(name, HeadNames(""))));
  if (flags.given() && flags.kind != Name(found->kind))
    throw UsageError(
        fmt::format("[--show] the head '{}' finds something else; got {}, expected {}; try --show {}", name,
                    flags.kind, Name(found->kind), Name(found->kind)));
}

Found FindIn(const Image& picture, const Model& model, std::span<const Tensor> outputs,
             const Preprocess& settings, const Shape& input, std::span<const std::string> labels,
             const ShowFlags& flags) {
  const std::vector<Tensor> numbers = NumbersOf(model.outputs(), outputs);
  std::vector<HeadOutput> values;
  for (size_t i = 0; i < numbers.size(); ++i) values.push_back({model.outputs()[i].name, numbers[i].view()});
  Preprocess named = settings;
  named.head.named = int(labels.size());
  Found found{DecodeAnswer(values, picture, named, input), ""};
  if (!flags.given()) return found;
  found.file = FileOf(flags, picture.name);
  WriteTextFile(found.file, PngOf(DrawAnswer(picture, found.answer, labels)));
  return found;
}

void PrintFound(const Found& found, std::span<const std::string> labels) {
  const PictureAnswer& answer = found.answer;
  Rows rows;
  switch (answer.kind) {
    case AnswerKind::kBoxes:
      rows = {
          {"class", "score", "left", "top", "right", "bottom", answer.points.empty() ? "label" : "points"}};
      for (size_t i = 0; i < answer.boxes.size(); ++i) {
        const PictureBox& b = answer.boxes[i];
        rows.push_back(
            {std::to_string(b.label), fmt::format("{:.4f}", b.score), Pixels(b.x0), Pixels(b.y0),
             Pixels(b.x1), Pixels(b.y1),
             answer.points.empty() ? LabelOf(b.label, labels) : PointsText(PointsOfBox(answer, i))});
      }
      break;
    case AnswerKind::kPoints:
      rows = {{"point", "score", "x", "y", "label"}};
      for (const PicturePoint& p : answer.points)
        rows.push_back({std::to_string(p.label), fmt::format("{:.4f}", p.score), Pixels(p.x), Pixels(p.y),
                        LabelOf(p.label, labels)});
      break;
    case AnswerKind::kMask:
      rows = {{"class", "pixels", "label"}};
      for (const auto& [label, pixels] : PixelsOf(answer.mask))
        rows.push_back({std::to_string(label), std::to_string(pixels), LabelOf(label, labels)});
      break;
    case AnswerKind::kPicture:
      fmt::print("a picture of {}x{} pixels\n", answer.picture.width, answer.picture.height);
      break;
  }
  const bool none = rows.size() == 1;
  if (none) fmt::print("nothing found\n");
  else if (!rows.empty()) fmt::print("{}", FormatTable(rows, std::string(rows[0].size() - 1, 'r') + "w"));
  if (!found.file.empty()) fmt::print("shown in {}\n", found.file);
}

Json FoundJson(const Found& found, std::span<const std::string> labels) {
  const PictureAnswer& answer = found.answer;
  Json json, items = Json::array();
  for (size_t i = 0; i < answer.boxes.size(); ++i) {
    const PictureBox& b = answer.boxes[i];
    items.push_back(WithLabel({{"box", {b.x0, b.y0, b.x1, b.y1}}, {"score", b.score}}, b.label, labels));
    for (const PicturePoint& p : PointsOfBox(answer, i)) {
      items.back()["points"].push_back({p.x, p.y});
      items.back()["point_scores"].push_back(p.score);
    }
  }
  if (answer.kind == AnswerKind::kPoints)
    for (const PicturePoint& p : answer.points)
      items.push_back(WithLabel({{"point", {p.x, p.y}}, {"score", p.score}}, p.label, labels));
  for (const auto& [label, pixels] : PixelsOf(answer.mask))
    items.push_back(WithLabel({{"pixels", pixels}}, label, labels));
  if (answer.kind == AnswerKind::kPicture)
    items.push_back({{"width", answer.picture.width}, {"height", answer.picture.height}});
  json[Name(answer.kind)] = std::move(items);
  if (!found.file.empty()) json["shown"] = found.file;
  return json;
}

std::string HeadsHelp() {
  std::string text =
      "How a network's outputs say what it has found: --head NAME, or head = \"NAME\" in the TOML beside the "
      "model. N is a number of boxes, C one of classes, K one of points.\n\nHeads:\n";
  for (const AnswerHead& head : AnswerHeads())
    text += fmt::format("  {:<12} {} ({})\n", head.name, head.help, Name(head.kind));
  return text +
         "\nPositions are pixels of the picture as it is upright: what --resize, --crop and --letterbox did "
         "is "
         "undone.\n"
         "\nExamples:\n"
         "  mete run faces.onnx people.jpg --mean 127 --std 128 --head ultraface --show boxes\n"
         "  mete run detector.onnx street.jpg --preprocess yolo --head yolo-v8 --labels coco.txt --show "
         "boxes\n";
}

}  // namespace mete::cli
