// Reads and writes whole text files: plans, labels, curves.
#pragma once

#include <string>

namespace mete::cli {

// Writes the whole file or leaves it as it was. A path that is no regular file (/dev/stdout) is written in
// place. Error UNAVAILABLE.
void WriteTextFile(const std::string& path, const std::string& text);

// Error UNAVAILABLE if WriteTextFile() could not write now. For a check before work that takes long.
void CheckMayWrite(const std::string& path);

// Calls WriteTextFile(). If that fails, prints the text to stdout, because it took long to measure; the Error
// says so.
void WriteOrPrint(const std::string& path, const std::string& text);

// Error NOT_FOUND, or INVALID_ARGUMENT if the file is too large. The message names `flag`, the flag that the
// path came from, if it is given.
std::string ReadTextFile(const std::string& path, const std::string& flag = "");

}  // namespace mete::cli
