// What two ends of a connection know each other by: certificates of a small authority of one's own (make.h
// makes them), or a shared token. Reads and checks the files; the connection itself is the business of
// whoever has one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mete {

// The names of the files in a host's folder. kAuthorityKeyFile is in the authority's folder alone and never
// goes to a host.
inline constexpr const char* kAuthorityFile = "ca.pem";
inline constexpr const char* kCertificateFile = "cert.pem";
inline constexpr const char* kKeyFile = "key.pem";
inline constexpr const char* kAuthorityKeyFile = "ca-key.pem";

// PEM texts, as gRPC takes them.
struct KeyFiles {
  std::string ca, certificate, key;
  std::vector<std::string> notes;  // what is unwise but works: a key that others may read
};

// A host's folder: ca.pem, cert.pem, key.pem. They are checked as they will be used, now: the certificate is
// of this time, goes with the key, and is signed by the authority. Error NOT_FOUND or INVALID_ARGUMENT that
// names the file.
KeyFiles ReadKeys(const std::string& folder);

// A file with a token: 16 to 1024 characters from '!' to '~', then perhaps a line break, which is left out.
// Error NOT_FOUND or INVALID_ARGUMENT, that never repeats what the file has.
std::string ReadToken(const std::string& path);

// A note where others than the file's owner may read it, else "".
std::string NoteOfReaders(const std::string& path);

// In a time that does not depend on where they differ.
bool SameToken(std::string_view a, std::string_view b);

}  // namespace mete
