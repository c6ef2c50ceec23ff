#include "text/text_pattern.h"

#include <algorithm>

#include "base/error.h"
#include "text/pattern_text.h"
#include "text/text_changes.h"

namespace mete {
namespace {

using Kind = PatternStep::Kind;

// Bounds of what a hostile pattern may take, which are guesses: patterns of models take less than 100 steps
// for a byte, and remember a place for each character of a word.
constexpr size_t kMostStepsOfByte = 1024, kMostPlacesOfByte = 4, kMostPlacesOfAny = 4096;

// Runs a program at places of one text. Where a step fails, it goes back to the last place with another way.
class PatternRun {
 public:
  PatternRun(const PatternProgram& program, std::string_view text, PatternSteps& steps)
      : program_(program),
        text_(text),
        steps_(steps),
        most_steps_(kMostStepsOfByte * (text.size() + 1)),
        most_places_(kMostPlacesOfAny + kMostPlacesOfByte * text.size()) {}

  // Returns the end of what the steps match at a place. Nothing: they do not match.
  std::optional<size_t> From(size_t step, size_t at) {
    const size_t others = places_.size();
    Place now{step, at};
    while (true) {
      Take(1);
      if (program_.steps[now.step].kind == Kind::kDone) {
        places_.resize(others);
        return now.at;
      }
      if (Advance(now)) continue;
      if (places_.size() == others) return std::nullopt;
      now = places_.back();
      places_.pop_back();
    }
  }

 private:
  struct Place {
    size_t step = 0, at = 0;
  };

  [[noreturn]] void Refuse(const char* what, size_t most) const {
    Fail(Code::kResourceExhausted, "tokenizer",
         "a pattern takes too many {} for a text of {} bytes; got more than {}; try another text, or another "
         "tokenizer",
         what, text_.size(), most);
  }

  void Take(size_t steps) {
    if ((taken_ += steps) > most_steps_) Refuse("steps", most_steps_);
    if (steps_.left < steps)
      Fail(Code::kResourceExhausted, "tokenizer",
           "patterns take too many steps for all words of a text; got more than {}; try a shorter text, or "
           "another tokenizer",
           PatternSteps::kMost);
    steps_.left -= steps;
  }

  // Returns whether the step matches, and goes on behind it.
  bool Advance(Place& now) {
    const PatternStep& step = program_.steps[now.step];
    const auto further = [&](int32_t steps) { now.step = size_t(int64_t(now.step) + steps); };
    switch (step.kind) {
      case Kind::kSet: {
        if (now.at == text_.size()) return false;
        const Character c = FirstCharacter(text_.substr(now.at));
        const CharacterSet& set = program_.sets[size_t(step.first)];
        Take(set.StepsFor(c.code) - 1);
        if (!set.Contains(c.code)) return false;
        now.at += c.size;
        break;
      }
      case Kind::kTry:
        if (places_.size() >= most_places_) Refuse("places", most_places_);
        places_.push_back({size_t(int64_t(now.step) + step.second), now.at});
        further(step.first);
        return true;
      case Kind::kJump: further(step.first); return true;
      case Kind::kAtomic:
      case Kind::kAhead:
      case Kind::kNotAhead: {
        const std::optional<size_t> end = From(now.step + 1, now.at);
        if (end.has_value() == (step.kind == Kind::kNotAhead)) return false;
        if (step.kind == Kind::kAtomic) now.at = *end;
        further(step.first);
        return true;
      }
      case Kind::kLineBegin:
        if (now.at > 0 && (text_[now.at - 1] != '\n' || now.at == text_.size())) return false;
        break;
      case Kind::kLineEnd:
        if (now.at < text_.size() && text_[now.at] != '\n') return false;
        break;
      case Kind::kTextBegin:
        if (now.at > 0) return false;
        break;
      case Kind::kTextEnd:
        if (now.at < text_.size()) return false;
        break;
      case Kind::kDone: return false;
    }
    ++now.step;
    return true;
  }

  const PatternProgram& program_;
  const std::string_view text_;
  PatternSteps& steps_;
  const size_t most_steps_;
  size_t taken_ = 0;
  const size_t most_places_;
  std::vector<Place> places_;
};

// Every character is itself.
PatternProgram ProgramOfText(std::string_view text) {
  PatternProgram program;
  ForEachCharacter(text, [&](char32_t code, std::string_view) {
    program.steps.push_back({Kind::kSet, int32_t(program.sets.size())});
    program.sets.emplace_back().Add(code, code);
    program.sets.back().Prepare();
  });
  program.steps.push_back({Kind::kDone});
  return program;
}

}  // namespace

std::vector<TextPattern::Match> TextPattern::FindAll(std::string_view text, PatternSteps& steps) const {
  PatternRun run(*program_, text, steps);
  std::vector<Match> matches;
  for (size_t at = 0; at <= text.size();) {
    const auto end = run.From(0, at);
    const bool counts = end && (*end > at || matches.empty() || matches.back().end != at);
    if (counts) matches.push_back({at, *end});
    if (counts && *end > at) at = *end;
    else at += at < text.size() ? FirstCharacter(text.substr(at)).size : 1;
  }
  return matches;
}

std::string TextPattern::Replaced(std::string_view text, const std::string& to, PatternSteps& steps) const {
  std::string replaced;
  size_t at = 0;
  for (const Match& match : FindAll(text, steps)) {
    CheckTextSize(replaced.size() + match.begin - at + to.size());
    replaced.append(text.substr(at, match.begin - at)).append(to);
    at = match.end;
  }
  return replaced.append(text.substr(at));
}

std::optional<TextPattern> ReadPattern(JsonPart part) {
  const std::string text = part.Text("String"), expression = part.Text("Regex");
  part.RefuseOthers();
  if (text.empty() == expression.empty()) {
    part.Refuse("a pattern is neither a text nor a regular expression", text.empty() ? "none" : "both",
                "'String' or 'Regex' with a character or more");
    return std::nullopt;
  }
  try {
    return TextPattern(text.empty() ? ReadExpression(expression) : ProgramOfText(text));
  } catch (const PatternProblem& problem) {
    part.Refuse(problem.what, Shown(problem.got), problem.expected);
    return std::nullopt;
  }
}

}  // namespace mete
