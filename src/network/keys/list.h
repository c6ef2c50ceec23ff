// What certificates there are in a folder of make.h, or in a host's folder, for people to look at.
#pragma once

#include <ctime>
#include <string>
#include <vector>

namespace mete {

struct CertificateFacts {
  std::string file;
  // the first one in the certificate, of an authority its own; from the file's text, printable
  std::string name;
  std::vector<std::string> addresses;  // the other names, and IP addresses
  std::time_t valid_from = 0, valid_until = 0;
  std::string sha256;  // fingerprint as OpenSSL prints it: AB:CD:..; empty where the file could not be read
  bool is_authority = false;
  bool is_signed = false;  // by the folder's ca.pem; an authority by itself
  std::string problem;     // empty where it serves now
};

// The authority first, then the hosts by name. A certificate that cannot be read is in the list with its
// problem. Error NOT_FOUND where there is none at all.
std::vector<CertificateFacts> ListCertificates(const std::string& folder);

std::string FormatDate(std::time_t time);       // "2028-02-29", UTC
std::string FormatTimestamp(std::time_t time);  // "2028-02-29T12:00:00Z"
int DaysUntil(std::time_t time);                // whole ones; negative where it is past

}  // namespace mete
