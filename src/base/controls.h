// Text of others without the characters that control terminals.
#pragma once

#include <string>
#include <string_view>

namespace mete {

// Returns `text` with every control character but those in `kept` replaced by '?'. Control characters are
// those of ASCII and, in UTF-8, U+0080 to U+009F, which terminals obey as well.
std::string WithoutControls(std::string text, std::string_view kept);

// Writes U+007F to U+009F of a JSON text, which may be only within its strings, as "\\u007f". The JSON
// library does so with those of ASCII before them.
std::string WithEscapedControls(std::string json);

}  // namespace mete
