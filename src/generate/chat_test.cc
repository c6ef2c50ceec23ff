#include <gtest/gtest.h>

#include "generate/answer_text.h"
#include "generate/chat_form.h"

namespace mete {
namespace {

TEST(ChatForm, SaysWhoSaysWhat) {
  const ChatForm& form = *FindChatForm("chatml");
  EXPECT_EQ(FirstTurn(form, "", "Hello"), "<|im_start|>user\nHello<|im_end|>\n<|im_start|>assistant\n");
  EXPECT_EQ(FirstTurn(form, "Be short.", "Hello"),
            "<|im_start|>system\nBe short.<|im_end|>\n"
            "<|im_start|>user\nHello<|im_end|>\n<|im_start|>assistant\n");
  EXPECT_EQ(LaterTurn(form, "Why?", true), "\n<|im_start|>user\nWhy?<|im_end|>\n<|im_start|>assistant\n");
}

TEST(ChatForm, PutsTheSystemIntoTheTurnWhereTheModelHasItThere) {
  const ChatForm& form = *FindChatForm("llama2");
  EXPECT_EQ(FirstTurn(form, "Be short.", "Hello"), "[INST] <<SYS>>\nBe short.\n<</SYS>>\n\nHello [/INST]");
  EXPECT_EQ(FirstTurn(form, "", "Hello"), "[INST] Hello [/INST]");
}

TEST(ChatForm, EndsAnAnswerThatTheModelHasNotEnded) {
  EXPECT_EQ(LaterTurn(*FindChatForm("llama2"), "Why?", false), "</s><s>[INST] Why? [/INST]");
  EXPECT_EQ(LaterTurn(*FindChatForm("llama2"), "Why?", true), "<s>[INST] Why? [/INST]");
}

TEST(ChatForm, HasAnEndAndANameOfItsOwn) {
  EXPECT_EQ(FindChatForm("chat"), nullptr);
  for (const ChatForm& form : ChatForms()) {
    EXPECT_EQ(FindChatForm(form.name), &form);
    EXPECT_FALSE(form.end.empty()) << form.name;
    EXPECT_FALSE(form.user_behind.empty()) << form.name;
  }
}

TEST(AnswerText, EndsBeforeTheFirstEnd) {
  AnswerText answer({"##", "END"});
  EXPECT_EQ(answer.Add("one END two ## three"), "one ");
  EXPECT_TRUE(answer.ended());
  EXPECT_EQ(answer.Add("four"), "");
  EXPECT_EQ(answer.Rest(), "");
}

TEST(AnswerText, HoldsBackWhatMayBeAnEnd) {
  AnswerText answer({"<end>"});
  EXPECT_EQ(answer.Add("a<"), "a");
  EXPECT_EQ(answer.Add("b<en"), "<b");
  EXPECT_EQ(answer.Add("d><"), "");
  EXPECT_TRUE(answer.ended());
}

TEST(AnswerText, ShowsWhatWasNoEnd) {
  AnswerText answer({"aab"});
  EXPECT_EQ(answer.Add("aa"), "");
  EXPECT_EQ(answer.Add("a"), "a");  // the last two may begin the end
  EXPECT_FALSE(answer.ended());
  EXPECT_EQ(answer.Rest(), "aa");
  AnswerText without({""});
  EXPECT_EQ(without.Add("aab"), "aab");
  EXPECT_FALSE(without.ended());
}

}  // namespace
}  // namespace mete
