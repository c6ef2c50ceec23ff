#include "text/token_frame.h"

#include <fmt/format.h>

namespace mete {
namespace {

constexpr const char* kKinds = "BertProcessing, ByteLevel, RobertaProcessing, Sequence or TemplateProcessing";

// The most special tokens around a text. A guess: files have two or three.
constexpr size_t kMostFrameTokens = 1024;

bool AreTooMany(const JsonPart& part, size_t tokens) {
  if (tokens <= kMostFrameTokens) return false;
  part.Refuse("a text gets too many special tokens", fmt::format("{} or more", tokens),
              fmt::format("{} at most", kMostFrameTokens));
  return true;
}

// A later processor's tokens stand around those of an earlier one.
void Surround(const JsonPart& part, const std::vector<int64_t>& before, const std::vector<int64_t>& behind,
              TokenFrame& frame) {
  if (AreTooMany(part, frame.before.size() + before.size() + frame.behind.size() + behind.size())) return;
  frame.before.insert(frame.before.begin(), before.begin(), before.end());
  frame.behind.insert(frame.behind.end(), behind.begin(), behind.end());
}

// A pair of text and number.
std::vector<int64_t> ReadPairNumber(JsonPart& part, const char* key) {
  const TextJson& pair = part.Value(key);
  if (!pair.is_array() || pair.size() != 2) {
    part.Refuse(fmt::format("'{}' is no token", key), pair.type_name(), "a list of its text and its number");
    return {};
  }
  const auto number = TokenNumber(pair[1], key, part);
  return number ? std::vector{*number} : std::vector<int64_t>();
}

std::vector<int64_t> ReadIds(JsonPart part) {
  std::vector<int64_t> ids;
  const TextJson& list = part.Value("ids");
  part.Leave({"id", "tokens"});
  if (!list.is_array()) part.Refuse("a special token has no numbers", list.type_name(), "a list 'ids'");
  else
    for (const TextJson& id : list) {
      const auto number = TokenNumber(id, "a value of 'ids'", part);
      if (!number) return {};
      ids.push_back(*number);
    }
  part.RefuseOthers();
  return ids;
}

// "single" has the text (Sequence) among its special tokens, whose numbers are in "special_tokens".
void AddTemplate(JsonPart& part, TokenFrame& frame) {
  std::vector<int64_t> before, behind;
  int texts = 0;
  JsonPart specials = part.Part("special_tokens");
  part.Leave({"pair"});
  if (AreTooMany(part, part.Value("single").size())) return;
  for (JsonPart& item : part.Parts("single")) {
    JsonPart special = item.Part("SpecialToken"), sequence = item.Part("Sequence");
    if (sequence.given()) ++texts;
    if (!special.given()) continue;
    const std::string id = special.Text("id");
    const std::vector<int64_t> ids = ReadIds(specials.Part(id));
    std::vector<int64_t>& side = texts == 0 ? before : behind;
    if (AreTooMany(part, before.size() + behind.size() + ids.size())) return;
    side.insert(side.end(), ids.begin(), ids.end());
  }
  if (texts != 1)
    part.Refuse("'single' is no template of a text", fmt::format("{} texts", texts), "one 'Sequence'");
  Surround(part, before, behind, frame);
}

}  // namespace

void ReadTokenFrame(JsonPart part, TokenFrame& frame) {
  if (!part.given()) return;
  const std::string type = part.Text("type");
  if (type == "Sequence")
    for (JsonPart& each : part.Steps("processors")) {
      if (part.HasTooMany(frame.before.size() + frame.behind.size())) return;
      ReadTokenFrame(std::move(each), frame);
    }
  else if (type == "ByteLevel") part.Leave({"add_prefix_space", "trim_offsets", "use_regex"});
  else if (type == "TemplateProcessing") AddTemplate(part, frame);
  else if (type == "BertProcessing" || type == "RobertaProcessing") {
    part.Leave({"trim_offsets", "add_prefix_space"});
    const std::vector<int64_t> begin = ReadPairNumber(part, "cls");
    Surround(part, begin, ReadPairNumber(part, "sep"), frame);
  } else return part.RefuseKind(type, kKinds);
  part.RefuseOthers();
}

}  // namespace mete
