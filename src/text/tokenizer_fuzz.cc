// A libFuzzer target that reads any bytes as a tokenizer's file, of either form, and encodes the same bytes
// as a text with it.
#include "base/error.h"
#include "text/tokenizer.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using mete::Tokenizer;
  try {
    const auto tokenizer = Tokenizer::Parse(std::as_bytes(std::span(data, size)), "fuzz");
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    for (const auto place : {Tokenizer::Place::kFirst, Tokenizer::Place::kLater})
      (void)tokenizer->Decode(tokenizer->Encode(text, place));
  } catch (const mete::Error&) {}
  return 0;
}
