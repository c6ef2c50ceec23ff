#include "show_text.h"

#include <fmt/format.h>

#include <memory>

#include "base/json.h"
#include "terminal.h"
#include "text/tokenizer.h"

namespace mete::cli {
namespace {

SaidText TextIn(const Model& model, std::span<const Tensor> outputs, const Tokenizer& tokenizer, int most) {
  const std::vector<Tensor> numbers = NumbersOf(model.outputs(), outputs);
  std::vector<HeadOutput> values;
  for (size_t i = 0; i < numbers.size(); ++i) values.push_back({model.outputs()[i].name, numbers[i].view()});
  SaidText said{DecodeTokens(values, most), {}, {}};
  said.text = tokenizer.Decode(said.answer.tokens);
  for (const LikelyToken& likely : said.answer.last)
    said.last.push_back(tokenizer.TextOf(likely.token, Tokenizer::Place::kLater));
  return said;
}

// In quotation marks, so that spaces are seen.
std::string Quoted(const std::string& text) { return ForTerminals(JsonText(Json(text), -1)); }

}  // namespace

TextReader ReaderOfText(const std::string& tokenizer, int most) {
  const std::shared_ptr<const Tokenizer> shared = Tokenizer::Load(tokenizer);
  return [shared, most](const Model& model, std::span<const Tensor> outputs) {
    return TextIn(model, outputs, *shared, most);
  };
}

void PrintSaid(const SaidText& said) {
  fmt::print("{} tokens: {}\n", said.answer.tokens.size(), ForTerminals(said.text));
  if (said.last.empty()) return;
  Rows rows{{"at the last", "probability", "text"}};
  for (size_t i = 0; i < said.last.size(); ++i)
    rows.push_back({std::to_string(said.answer.last[i].token),
                    fmt::format("{:.4f}", said.answer.last[i].probability), Quoted(said.last[i])});
  fmt::print("{}", FormatTable(rows, "rrw"));
}

Json SaidJson(const SaidText& said) {
  Json json{{"tokens", said.answer.tokens}, {"text", said.text}};
  for (size_t i = 0; i < said.last.size(); ++i)
    json["last"].push_back({{"token", said.answer.last[i].token},
                            {"text", said.last[i]},
                            {"probability", said.answer.last[i].probability}});
  return json;
}

}  // namespace mete::cli
