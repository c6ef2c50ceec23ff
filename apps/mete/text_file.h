// Whole files of text: plans, labels, curves.
#pragma once

#include <string>

namespace mete::cli {

// All or nothing; what is no regular file (/dev/stdout) is written in place. Error UNAVAILABLE.
void WriteTextFile(const std::string& path, const std::string& text);

// Error UNAVAILABLE where WriteTextFile() could not write just now: for asking before what takes long.
void CheckMayWrite(const std::string& path);

// WriteTextFile(); where that fails the text goes to stdout, because it took long to measure, and the Error
// says so.
void WriteOrPrint(const std::string& path, const std::string& text);

// Error NOT_FOUND, or where it is too large; it names the flag that the path came from, where there is one.
std::string ReadTextFile(const std::string& path, const std::string& flag = "");

}  // namespace mete::cli
