// Reads and checks the files by which the two ends of a connection know each other: certificates of a small
// private authority (make.h makes them), or a shared token. This file opens no connection;
// network/protocol/channel.h does.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mete {

// The names of the files in a host's folder. kAuthorityKeyFile is only in the authority's folder and is never
// copied to a host.
inline constexpr const char* kAuthorityFile = "ca.pem";
inline constexpr const char* kCertificateFile = "cert.pem";
inline constexpr const char* kKeyFile = "key.pem";
inline constexpr const char* kAuthorityKeyFile = "ca-key.pem";

// PEM texts in the form that gRPC takes.
struct KeyFiles {
  std::string ca, certificate, key;
  std::vector<std::string> notes;  // what works but is unwise, for example a key that others may read
};

// Reads a host's folder: ca.pem, cert.pem, key.pem. The files are checked as a connection made now would use
// them: the certificate is valid at this time, belongs to the key, and is signed by the authority. Error
// NOT_FOUND or INVALID_ARGUMENT that names the file.
KeyFiles ReadKeys(const std::string& folder);

// Reads a file with a token: 16 to 1024 characters from '!' to '~', then at most one line break, which is not
// part of the token. Error NOT_FOUND or INVALID_ARGUMENT whose text never repeats the content of the file.
std::string ReadToken(const std::string& path);

// Returns a note if others than the file's owner may read the file, else "".
std::string NoteOfReaders(const std::string& path);

// Compares two tokens in a time that does not depend on where they differ.
bool SameToken(std::string_view a, std::string_view b);

}  // namespace mete
