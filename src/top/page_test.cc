#include "top/page.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "top/words.h"

namespace mete::top {
namespace {

View Made(int models = 2, int processors = 2) {
  View view{.source = "server 127.0.0.1:8080",
            .about = "mete 0.1.0",
            .interval_s = 1,
            .uptime_s = 3700,
            .waiting = 2,
            .resident_bytes = 1 << 20};
  for (int i = 0; i < models; ++i)
    view.models.push_back({.name = "model " + std::to_string(i),
                           .requests_per_s = 10.0 * (i % 3),
                           .failed_per_s = 0,
                           .median = Quantile{0.00123, false},
                           .high = Quantile{10, true},
                           .waiting = i,
                           .queued_s = 0.01,
                           .predicted_s = 0.5,
                           .measured_s = 0.75});
  for (int i = 0; i < processors; ++i)
    view.processors.push_back({.name = "cpu:" + std::to_string(i), .busy = i % 2 ? 0.25 : 1});
  return view;
}

std::string Joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

std::string TextAt(const View& view, const PageOptions& options) {
  return Joined(TextOf(Draw(view, options)));
}

TEST(PageTest, FitsIntoTerminalsOfAnySize) {
  for (const bool ascii : {false, true})
    for (const bool keys : {false, true})
      for (int columns = 20; columns <= 200; columns += 3)
        for (const int rows : {3, 5, 12, 24, 60}) {
          View view = Made(9, 5);
          view.silent_s = 3;
          view.problem = "[server] cannot connect: Connection refused, " + std::string(100, 'x');
          view.models[0].name = std::string(300, 'n');
          view.models[1].name = "ネットワークネットワークネットワーク";
          const Page page = Draw(view, {.rows = rows, .columns = columns, .ascii = ascii, .keys = keys});
          EXPECT_LE(int(page.lines.size()), rows);
          for (const PageLine& line : page.lines) {
            int end = 0;
            for (const Piece& piece : line) {
              EXPECT_GE(piece.column, end) << piece.text << " overlaps at " << columns;
              end = piece.column + ColumnsOf(piece.text);
              EXPECT_LE(end, columns) << piece.text;
            }
          }
        }
}

TEST(PageTest, ShowsWhatAStrangerNeeds) {
  const std::string text = TextAt(Made(), {.rows = 24, .columns = 80});
  for (const char* shown : {"mete top", "server 127.0.0.1:8080", "up 1 h 01 min", "req/s", "1.23 ms",
                            "> 10.00 s", "+50 %", "cpu:1", "25 %", "2 waiting", "1.0 MiB now", "q ends"})
    EXPECT_NE(text.find(shown), std::string::npos) << shown << "\n" << text;
}

TEST(PageTest, NarrowTerminalsHaveTheImportantColumns) {
  const std::string text = TextAt(Made(), {.rows = 24, .columns = 40});
  EXPECT_NE(text.find("req/s"), std::string::npos) << text;
  EXPECT_NE(text.find("median"), std::string::npos) << text;
  EXPECT_EQ(text.find("in queue"), std::string::npos) << text;
}

TEST(PageTest, ScrollsBetweenTitleAndKeys) {
  const View view = Made(30, 2);
  const Page top = Draw(view, {.rows = 12, .columns = 80});
  EXPECT_GT(top.most_scroll, 20);
  const std::vector<std::string> end = TextOf(Draw(view, {.rows = 12, .columns = 80, .scroll = 10000}));
  EXPECT_EQ(end[0], TextOf(top)[0]);
  EXPECT_NE(end[10].find("memory"), std::string::npos) << Joined(end);
  EXPECT_NE(end[11].find("q ends"), std::string::npos);
  EXPECT_EQ(Draw(Made(1, 1), {.rows = 24, .columns = 80}).most_scroll, 0);
}

TEST(PageTest, SortsTheLargestFirst) {
  PageOptions options{.rows = 24, .columns = 100, .sort = Sort::kRequests};
  std::string text = TextAt(Made(3), options);
  EXPECT_LT(text.find("model 2"), text.find("model 1"));
  EXPECT_LT(text.find("model 1"), text.find("model 0"));
  EXPECT_NE(text.find("req/s▼"), std::string::npos);
  options.sort = Sort::kBusy;
  View view = Made(3, 2);
  std::swap(view.processors[0], view.processors[1]);
  text = TextAt(view, options);
  EXPECT_LT(text.find("cpu:0"), text.find("cpu:1"));
}

TEST(PageTest, OffersOnlySortsThatSort) {
  const View view = Made(1, 2);
  EXPECT_EQ(NextSort(Sort::kGiven, view), Sort::kBusy);
  EXPECT_EQ(NextSort(Sort::kBusy, view), Sort::kGiven);
  EXPECT_EQ(NextSort(Sort::kGiven, Made(2, 2)), Sort::kRequests);
  EXPECT_EQ(NextSort(Sort::kGiven, View()), Sort::kGiven);
}

TEST(PageTest, SaysSinceWhenThereIsNoAnswer) {
  View view = Made();
  view.silent_s = 65;
  view.problem = "[server] cannot connect";
  const std::string text = TextAt(view, {.rows = 24, .columns = 80});
  EXPECT_NE(text.find("for 1 min 05 s, asking again: [server] cannot connect"), std::string::npos) << text;
}

TEST(PageTest, HostileNamesStayText) {
  View view = Made();
  view.source = "server \x1b[2J";
  view.models[0].name =
      "a\x1b]0;title\x07\r\n\xc2\x9b"
      "31m\xff\u202e\u200b";
  view.processors[0].name =
      "\x9b"
      "31m";
  view.events = {"told\x1b[31m\nmore"};
  view.plan = "layers\x1b[31m";
  for (const std::string& line : TextOf(Draw(view, {.rows = 40, .columns = 120}))) {
    EXPECT_EQ(CleanText(line), line);
    for (const char c : line) EXPECT_FALSE(static_cast<unsigned char>(c) < ' ' || c == 0x7f) << line;
  }
}

TEST(PageTest, AsciiHasNoOtherCharacters) {
  View view = Made();
  view.models[0].name = "n\u00e9t" + std::string(100, 'x');
  for (const std::string& line :
       TextOf(Draw(view, {.rows = 40, .columns = 60, .ascii = true, .sort = Sort::kRequests})))
    for (const char c : line) EXPECT_LT(static_cast<unsigned char>(c), 0x7f) << line;
}

TEST(WordsTest, TextsAreCutBetweenCharacters) {
  EXPECT_EQ(CutText("kurz", 4), "kurz");
  EXPECT_EQ(CutText("l\u00e4nger", 3), "l\u00e4\u2026");
  EXPECT_EQ(CutText("\u30cd\u30c3\u30c8", 4), "\u30cd\u2026") << "a wide character takes two columns";
  EXPECT_EQ(CutText("abc", 1), "\u2026");
  EXPECT_EQ(CutText("abc", 0), "");
  EXPECT_EQ(ColumnsOf("\u30cd\u00e9x"), 4);
}

TEST(WordsTest, BytesThatAreNoTextAreQuestions) {
  EXPECT_EQ(CleanText("a\xc0\xaf"
                      "b"),
            "a??b")
      << "a longer form than needed";
  EXPECT_EQ(CleanText("\xed\xa0\x80"), "???") << "half of a pair";
  EXPECT_EQ(CleanText("\xf4\x90\x80\x80"), "????") << "beyond Unicode";
  EXPECT_EQ(CleanText("\xe2\x82"), "??") << "cut";
  EXPECT_EQ(CleanText("\u00e9"), "\u00e9");
  EXPECT_EQ(CleanText("\u00e9", true), "?");
}

TEST(WordsTest, FiguresHaveUnits) {
  EXPECT_EQ(RateText(41.24), "41.2");
  EXPECT_EQ(RateText(412.4), "412");
  EXPECT_EQ(RateText(41240), "41.2k");
  EXPECT_EQ(RateText({}), "-");
  EXPECT_EQ(CountText(1e300), "1.0e+300");
  EXPECT_EQ(DriftText(-0.125), "-12 %");
  EXPECT_EQ(SpanText(59), "59 s");
  EXPECT_EQ(SpanText(90061), "1 d 01 h");
  EXPECT_EQ(BytesText(1e30), "-");
}

}  // namespace
}  // namespace mete::top
