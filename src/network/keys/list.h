// Lists the certificates of a folder of make.h or of a host's folder, for people to look at.
#pragma once

#include <ctime>
#include <string>
#include <vector>

namespace mete {

struct CertificateFacts {
  std::string file;
  // the first name in the certificate, or the authority's own name; printable text from the file
  std::string name;
  std::vector<std::string> addresses;  // the certificate's other names, and its IP addresses
  std::time_t valid_from = 0, valid_until = 0;
  std::string sha256;  // fingerprint as OpenSSL prints it: AB:CD:..; empty where the file cannot be read
  bool is_authority = false;
  bool is_signed = false;  // by the folder's ca.pem; an authority's certificate by itself
  std::string problem;     // empty where the certificate is usable now
};

// Returns the authority's certificate first, then those of the hosts in the order of their names. A
// certificate that cannot be read is in the list with its problem. Error NOT_FOUND where the folder has no
// authority's certificate.
std::vector<CertificateFacts> ListCertificates(const std::string& folder);

std::string FormatDate(std::time_t time);       // "2028-02-29", UTC
std::string FormatTimestamp(std::time_t time);  // "2028-02-29T12:00:00Z"
int DaysUntil(std::time_t time);                // whole days; negative where `time` is past

}  // namespace mete
