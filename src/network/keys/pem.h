// OpenSSL's objects with owners, and their texts. Nothing here asks for a password, and its queue of errors
// is left empty, because others in the process (gRPC) read it too.
#pragma once

#include <openssl/evp.h>
#include <openssl/x509.h>

#include <ctime>
#include <memory>
#include <string>
#include <vector>

namespace mete {

template <auto kFree>
struct SslFree {
  template <class T>
  void operator()(T* p) const {
    kFree(p);
  }
};
using SslCertificate = std::unique_ptr<X509, SslFree<X509_free>>;
using SslKey = std::unique_ptr<EVP_PKEY, SslFree<EVP_PKEY_free>>;

// Error INTERNAL where `good` is false: what OpenSSL can only refuse where it has no memory or no random
// numbers.
void CheckSsl(bool good, const char* what);

// At least one; the first one of a host's file is its own, others are of authorities between. Errors name
// `where`, as below.
std::vector<SslCertificate> ParseCertificates(const std::string& pem, const std::string& where);
SslKey ParseKey(const std::string& pem, const std::string& where);

std::string ToPem(X509* certificate);
std::string ToPem(EVP_PKEY* key);

std::time_t TimeOf(const ASN1_TIME* time);
std::string FingerprintOf(const X509* certificate);  // SHA-256, "AB:CD:.."
std::string CommonNameOf(const X509* certificate);   // "" where it has none
// names and IP addresses (subjectAltName), printable
std::vector<std::string> AddressesOf(const X509* certificate);

// "" where the certificate is of this time; where one of `authorities` has signed it, with `others` between
// perhaps. Else why not.
std::string ProblemOfTime(const X509* certificate, std::time_t now);
std::string ProblemOfSignature(X509* certificate, const std::vector<SslCertificate>& others,
                               const std::vector<SslCertificate>& authorities);

}  // namespace mete
