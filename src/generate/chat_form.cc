#include "generate/chat_form.h"

#include <algorithm>

namespace mete {
namespace {

// The texts are those of the chat templates that the models' makers ship. A token that begins a text (<s>,
// <bos>, <|begin_of_text|>) is the tokenizer's business.
constexpr ChatForm kForms[] = {
    {.name = "chatml",  // Qwen, SmolLM, Hermes
     .system_before = "<|im_start|>system\n",
     .system_behind = "<|im_end|>\n",
     .user_before = "<|im_start|>user\n",
     .user_behind = "<|im_end|>\n<|im_start|>assistant\n",
     .end = "<|im_end|>",
     .between = "\n"},
    {.name = "gemma",
     .system_behind = "\n\n",
     .system_in_turn = true,
     .user_before = "<start_of_turn>user\n",
     .user_behind = "<end_of_turn>\n<start_of_turn>model\n",
     .end = "<end_of_turn>",
     .between = "\n"},
    {.name = "llama2",
     .system_before = "<<SYS>>\n",
     .system_behind = "\n<</SYS>>\n\n",
     .system_in_turn = true,
     .user_before = "[INST] ",
     .user_behind = " [/INST]",
     .end = "</s>",
     .between = "<s>"},
    {.name = "llama3",
     .system_before = "<|start_header_id|>system<|end_header_id|>\n\n",
     .system_behind = "<|eot_id|>",
     .user_before = "<|start_header_id|>user<|end_header_id|>\n\n",
     .user_behind = "<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n",
     .end = "<|eot_id|>"},
    {.name = "mistral",
     .system_behind = "\n\n",
     .system_in_turn = true,
     .user_before = "[INST] ",
     .user_behind = " [/INST]",
     .end = "</s>"},
    {.name = "phi3",
     .system_before = "<|system|>\n",
     .system_behind = "<|end|>\n",
     .user_before = "<|user|>\n",
     .user_behind = "<|end|>\n<|assistant|>\n",
     .end = "<|end|>",
     .between = "\n"},
    {.name = "zephyr",  // TinyLlama, too
     .system_before = "<|system|>\n",
     .system_behind = "</s>\n",
     .user_before = "<|user|>\n",
     .user_behind = "</s>\n<|assistant|>\n",
     .end = "</s>",
     .between = "\n"},
};

std::string Joined(std::initializer_list<std::string_view> parts) {
  std::string text;
  for (const std::string_view part : parts) text += part;
  return text;
}

}  // namespace

std::span<const ChatForm> ChatForms() { return kForms; }

const ChatForm* FindChatForm(std::string_view name) {
  const auto* const found =
      std::find_if(std::begin(kForms), std::end(kForms), [&](const ChatForm& f) { return f.name == name; });
  return found == std::end(kForms) ? nullptr : found;
}

std::string FirstTurn(const ChatForm& form, std::string_view system, std::string_view user) {
  const std::string told = system.empty() ? "" : Joined({form.system_before, system, form.system_behind});
  if (form.system_in_turn) return Joined({form.user_before, told, user, form.user_behind});
  return Joined({told, form.user_before, user, form.user_behind});
}

std::string LaterTurn(const ChatForm& form, std::string_view user, bool ended) {
  return Joined({ended ? "" : form.end, form.between, form.user_before, user, form.user_behind});
}

}  // namespace mete
