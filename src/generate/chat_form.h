// How a chat model is told who says what: the texts and tokens around the turns of a conversation, as the
// model's makers trained it. A tokenizer finds the tokens in the text.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace mete {

struct ChatForm {
  std::string_view name;
  // The text before and behind what the program says once, at the beginning, to say how the model should
  // answer. It stands before the first turn of the user, or in that turn.
  std::string_view system_before, system_behind;
  bool system_in_turn = false;
  std::string_view user_before, user_behind;  // the model's answer begins behind the latter
  std::string_view end;                       // the text of the token that ends an answer
  std::string_view between;                   // between that token and the user's next turn
};

std::span<const ChatForm> ChatForms();
// Returns nullptr if no form has the name.
const ChatForm* FindChatForm(std::string_view name);

// Returns the text of the first turn of a conversation. `system`: "" for none.
std::string FirstTurn(const ChatForm& form, std::string_view system, std::string_view user);

// Returns the text of a later turn, behind the answer to the turn before it. `ended`: the model has given the
// token that ends an answer; otherwise the text has it.
std::string LaterTurn(const ChatForm& form, std::string_view user, bool ended);

}  // namespace mete
