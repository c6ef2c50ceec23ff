#include "chat.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <iostream>
#include <random>
#include <string>
#include <utility>

#include "base/error.h"
#include "checks.h"
#include "generate/answer_text.h"
#include "generate/chat_form.h"
#include "generate/generator.h"
#include "stopwatch.h"
#include "terminal.h"
#include "text/sampler.h"
#include "text/tokenizer.h"

namespace mete::cli {
namespace {

constexpr const char* kGroup = "Text";

// What became of one prompt.
struct Continuation {
  std::string text;
  std::vector<int64_t> tokens;  // those of the model
  double first_ms = 0, all_ms = 0;

  double tokens_per_s() const { return all_ms > 0 ? double(tokens.size()) * 1e3 / all_ms : 0; }
};

// ForTerminals() of a text that comes in parts. A byte that would begin a control character with the next
// part waits for that part.
class PartsForTerminals {
 public:
  std::string Next(const std::string& part) {
    constexpr char kLead = '\xc2';  // of U+0080 to U+009F in UTF-8
    std::string text = std::exchange(held_, "") + part;
    if (text.ends_with(kLead)) {
      text.pop_back();
      held_ = kLead;
    }
    return ForTerminals(text);
  }
  std::string Rest() { return std::exchange(held_, ""); }  // when no part follows

 private:
  std::string held_;
};

// Returns the token that is this text, or -1.
int64_t TokenOf(const Tokenizer& tokenizer, std::string_view text) {
  try {
    const std::vector<int64_t> tokens = tokenizer.Encode(text, Tokenizer::Place::kLater);
    return tokens.size() == 1 ? tokens[0] : -1;
  } catch (const Error&) {  // the tokenizer has no piece for a character of it
    return -1;
  }
}

// Returns the token that ends an answer in this form. Error INVALID_ARGUMENT if the tokenizer has none.
int64_t EndOf(const ChatForm& form, const Tokenizer& tokenizer) {
  const int64_t end = TokenOf(tokenizer, form.end);
  if (end < 0)
    Invalid(
        "--template",
        "the tokenizer is none of a chat model of this form; got no token '{}', expected one; try another "
        "template or the tokenizer.json of the model",
        form.end);
  return end;
}

// Returns the form whose end the tokenizer has as a token, or nullptr. Many tokenizers have "</s>", also
// those of other models.
const ChatForm* FormOf(const Tokenizer& tokenizer) {
  for (const ChatForm& form : ChatForms())
    if (form.end != "</s>" && TokenOf(tokenizer, form.end) >= 0) return &form;
  return nullptr;
}

class Conversation {
 public:
  Conversation(const ChatFlags& flags, const std::string& tokenizer, const Model& model, Session& session,
               const Context& context)
      : flags_(flags),
        context_(context),
        tokenizer_(Tokenizer::Load(tokenizer)),
        form_(FindChatForm(flags.form)),
        generator_(model, session),
        random_(flags.seed) {
    if (form_) end_ = EndOf(*form_, *tokenizer_);
    else if (const ChatForm* form = FormOf(*tokenizer_))
      PrintNote(context, fmt::format("the tokenizer has '{}' as a token; if the model was trained for chats, "
                                     "try --template {}",
                                     form->end, form->name));
  }

  // The model sees what was said before.
  Continuation Continue(const std::string& prompt) {
    std::vector<int64_t> tokens = TokensOf(prompt);
    if (tokens.empty()) return {};
    Continuation done;
    PartsForTerminals shown;
    AnswerText answer(flags_.ends);
    const auto show = [&](const std::string& text) {
      done.text += text;
      Say(shown.Next(text));
    };
    const Stopwatch watch;
    while (int(done.tokens.size()) < flags_.most_tokens && !answer.ended()) {
      CheckCancelled(context_);
      last_ = NextOf(tokens);
      if (Ended()) break;
      if (done.tokens.empty()) done.first_ms = watch.ms();
      done.tokens.push_back(last_);
      show(answer.Add(tokenizer_->TextOf(last_, Tokenizer::Place::kLater)));
      tokens = {last_};
    }
    show(answer.Rest());
    Say(shown.Rest());
    done.all_ms = watch.ms();
    return done;
  }

 private:
  bool Ended() const { return last_ == end_ || tokenizer_->IsEnd(last_); }

  // The tokens that the model has not seen, up to the place where its answer begins.
  std::vector<int64_t> TokensOf(const std::string& prompt) const {
    const bool first = generator_.seen() == 0;
    std::string text = prompt;
    if (form_)
      text = first ? FirstTurn(*form_, flags_.system, prompt) : LaterTurn(*form_, prompt, last_ == end_);
    std::vector<int64_t> tokens =
        tokenizer_->Encode(text, first ? Tokenizer::Place::kFirst : Tokenizer::Place::kLater);
    if (last_ >= 0) tokens.insert(tokens.begin(), last_);  // which the model has given but not seen
    return tokens;
  }

  int64_t NextOf(std::span<const int64_t> tokens) {
    const std::vector<float> logits = generator_.Next(tokens, {context_.cancel});
    constexpr double kUnit = 0x1p-53;  // the upper 53 of 64 random bits are a number from 0 to below 1
    return SampleToken(logits, {flags_.temperature, flags_.top_p}, double(random_() >> 11) * kUnit);
  }

  void Say(const std::string& text) const {
    if (context_.json) return;
    fmt::print("{}", text);
    std::fflush(stdout);
  }

  const ChatFlags& flags_;
  const Context& context_;
  const std::unique_ptr<const Tokenizer> tokenizer_;
  const ChatForm* const form_;  // nullptr: texts go on as they are
  int64_t end_ = -1;            // the token that ends an answer in this form; -1: none
  Generator generator_;
  std::mt19937_64 random_;
  int64_t last_ = -1;  // -1: the model has given none
};

Json JsonOf(const std::string& prompt, const Continuation& done) {
  return {{"prompt", prompt},
          {"text", done.text},
          {"tokens", done.tokens},
          {"first_token_ms", done.first_ms},
          {"tokens_per_s", done.tokens_per_s()}};
}

void PrintEnd(const Continuation& done) {
  fmt::print("\n");
  if (done.tokens.empty()) return PrintText("the model had nothing to say");
  PrintText(fmt::format("{} tokens, {:.1f} a second; the first after {}", done.tokens.size(),
                        done.tokens_per_s(), FormatMs(done.first_ms)));
}

std::vector<std::string> NamesOfForms() {
  std::vector<std::string> names;
  for (const ChatForm& form : ChatForms()) names.emplace_back(form.name);
  return names;
}

void AddChoices(CLI::App& command, ChatFlags& flags) {
  flags.choices.push_back(
      command
          .add_option(
              "--temperature", flags.temperature,
              "choose tokens at random: below 1 likely ones more often (default: 0, always the likeliest)")
          ->type_name("F")
          ->check(Between(0, 100)));
  flags.choices.push_back(command
                              .add_option("--top-p", flags.top_p,
                                          "only of the likeliest tokens that have this probability together "
                                          "(default: 1, of all)")
                              ->type_name("F")
                              ->check(Between(0, 1)));
  flags.choices.push_back(
      command.add_option("--seed", flags.seed, "of the random choices (default: 0)")->type_name("N"));
  flags.choices.push_back(
      command.add_option("--most-tokens", flags.most_tokens, "end an answer after N tokens (default: 256)")
          ->type_name("N")
          ->check(Between(1, 1 << 20)));
}

void AddForm(CLI::App& command, ChatFlags& flags) {
  CLI::Option* form = command
                          .add_option("--template", flags.form,
                                      "put what is said into the form of a model that was trained for chats, "
                                      "by the tokens of its tokenizer")
                          ->check(OneOf(NamesOfForms()));
  flags.choices.push_back(form);
  flags.choices.push_back(command
                              .add_option("--system", flags.system,
                                          "tell a model with a --template how to answer: 'Answer in French.'")
                              ->type_name("TEXT")
                              ->needs(form));
  flags.choices.push_back(command
                              .add_option("--end", flags.ends,
                                          "end an answer before this text; may be repeated. Answers end by "
                                          "themselves at tokens that the tokenizer marks as special")
                              ->type_name("TEXT")
                              ->take_all()
                              ->allow_extra_args(false));
}

// Reads the next prompt, with a sign for people in front of it.
bool ReadLine(const Context& context, std::string& line) {
  if (!context.json && isatty(STDIN_FILENO)) {
    fmt::print("> ");
    std::fflush(stdout);
  }
  return bool(std::getline(std::cin, line));
}

}  // namespace

void AddChatFlags(CLI::App& command, ChatFlags& flags) {
  CLI::Option* chat = command.add_flag("--chat", flags.chat,
                                       "continue each line of stdin by a language model, which sees the "
                                       "lines before; where it does not load by itself, "
                                       "--shape says the lengths for which it is planned first");
  CLI::Option* prompt =
      command.add_option("--prompt", flags.prompt, "continue this text, and end")->type_name("TEXT");
  chat->excludes(prompt);
  AddChoices(command, flags);
  AddForm(command, flags);
  for (CLI::Option* option : {chat, prompt, command.get_option("--tokenizer")}) option->group(kGroup);
  for (CLI::Option* option : flags.choices) option->group(kGroup);
}

void Chat(const ChatFlags& flags, const std::string& tokenizer, const ModelFlags& model_flags,
          const Context& context) {
  const Model model = LoadQuietly(model_flags, context);
  Session session = MakeSession(model, model_flags, context);
  Conversation conversation(flags, tokenizer, model, session, context);
  const auto answer = [&](const std::string& prompt) {
    const Continuation done = conversation.Continue(prompt);
    if (context.json) PrintJson(JsonOf(prompt, done));
    else PrintEnd(done);
  };
  if (!flags.chat) {
    if (!context.json) fmt::print("{}", ForTerminals(*flags.prompt));
    return answer(*flags.prompt);
  }
  for (std::string line; ReadLine(context, line);) answer(line);
}

}  // namespace mete::cli
