// `mete run --chat` and `--prompt`: text from a language model.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "context.h"
#include "model_flags.h"

namespace mete::cli {

struct ChatFlags {
  bool chat = false;
  std::optional<std::string> prompt;
  float temperature = 0, top_p = 1;  // as SamplerOptions has them
  uint64_t seed = 0;
  int most_tokens = 256;          // of an answer; this value is a guess: a page of text
  std::string form;               // the name of a ChatForm; "": texts go on as they are
  std::string system;             // what a chat model is told before the conversation
  std::vector<std::string> ends;  // texts that end an answer

  std::vector<CLI::Option*> choices;  // the flags that say how text is continued

  bool given() const { return chat || prompt; }
};

// Adds the flags to a command that has those of pictures, of which --tokenizer is one, already.
void AddChatFlags(CLI::App& command, ChatFlags& flags);

// Continues the prompt, or each line of stdin, and prints the text as it comes. `tokenizer` is a file.
void Chat(const ChatFlags& flags, const std::string& tokenizer, const ModelFlags& model,
          const Context& context);

}  // namespace mete::cli
