// `mete run --show tokens`: the text that a network's outputs are, by a tokenizer.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "context.h"
#include "mete/answer.h"
#include "mete/engine.h"

namespace mete::cli {

struct SaidText {
  TokenAnswer answer;
  std::string text;
  std::vector<std::string> last;  // the texts of answer.last
};

// Returns what reads outputs by this file, which has `most` likeliest tokens of the last position.
using TextReader = std::function<SaidText(const Model& model, std::span<const Tensor> outputs)>;
TextReader ReaderOfText(const std::string& tokenizer, int most);

void PrintSaid(const SaidText& said);
Json SaidJson(const SaidText& said);

}  // namespace mete::cli
