#include "base/controls.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/json.h"

namespace mete {
namespace {

const std::string kSecond = "a\xc2\x9b\x32J\xc2\x80\xc2\x9f";  // U+009B begins sequences as "ESC [" does

TEST(WithoutControls, ReplacesBothRangesOfControlCharacters) {
  EXPECT_EQ(WithoutControls("a\x1b[2J\n\t\x7f", "\n\t"), "a?[2J\n\t?");
  EXPECT_EQ(WithoutControls(kSecond, "\n"), "a?2J??");
  EXPECT_EQ(Printable(kSecond + "\n"), "a?2J???");
  EXPECT_EQ(WithoutControls("\xc2\xa0\xc3\x80\xe2\x82\xac\xc2", ""),
            "\xc2\xa0\xc3\x80\xe2\x82\xac\xc2");  // none
  EXPECT_EQ(WithoutControls("", ""), "");
}

TEST(WithEscapedControls, KeepsWhatJsonSays) {
  const nlohmann::ordered_json json{{kSecond, "\x1b\x7f\n\xc3\xa4"}};
  const std::string text = JsonText(json, -1);
  EXPECT_EQ(text, "{\"a\\u009b2J\\u0080\\u009f\":\"\\u001b\\u007f\\n\xc3\xa4\"}");
  EXPECT_EQ(nlohmann::ordered_json::parse(text), json);
  EXPECT_EQ(WithEscapedControls("{}"), "{}");
}

}  // namespace
}  // namespace mete
