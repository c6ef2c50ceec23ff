#include "network/keys/make.h"

#include <arpa/inet.h>
#include <openssl/bn.h>
#include <openssl/ec.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>
#include <span>

#include "base/error.h"
#include "network/keys/files.h"
#include "network/keys/keys.h"
#include "network/keys/pem.h"

namespace mete {
namespace {

namespace fs = std::filesystem;

// characters; the longest common name that X.509 permits (RFC 5280, ub-common-name)
constexpr size_t kLongestName = 64;
constexpr size_t kLongestLabel = 63;   // characters between two dots (RFC 1035)
constexpr size_t kMostAddresses = 32;  // addresses of a host; guess: a board has a few
constexpr int kSerialBits = 128;       // a choice; RFC 5280 permits 159
constexpr int kTokenBytes = 32;        // 256 bits, twice the security level of the P-256 keys
// Boards have no clock that runs without power: their clocks may be behind by hours after a start.
constexpr int kEarlierDays = 1;

bool IsAlphanumeric(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool IsLabel(const std::string& label) {
  return !label.empty() && label.size() <= kLongestLabel && label.front() != '-' && label.back() != '-' &&
         std::all_of(label.begin(), label.end(), [](char c) { return IsAlphanumeric(c) || c == '-'; });
}

std::vector<std::string> Split(const std::string& text, char at) {
  std::vector<std::string> parts(1);
  for (const char c : text)
    if (c == at) parts.emplace_back();
    else parts.back() += c;
  return parts;
}

bool IsName(const std::string& name) {
  const std::vector<std::string> labels = Split(name, '.');
  return name.size() <= kLongestName && std::all_of(labels.begin(), labels.end(), IsLabel);
}

bool IsIp(const std::string& text) {
  unsigned char bytes[16];
  return inet_pton(AF_INET, text.c_str(), bytes) == 1 || inet_pton(AF_INET6, text.c_str(), bytes) == 1;
}

std::string Shown(const std::string& text) { return Printable(text.substr(0, 80)); }

// A name of digits and dots is an address for which the user forgot the name, or a mistyped address.
bool IsNumeric(const std::string& name) { return name.find_first_not_of("0123456789.") == name.npos; }

void CheckName(const std::string& name) {
  if (IsIp(name) || (IsName(name) && IsNumeric(name)))
    Invalid("NAME", "a host needs a name; got '{}', expected letters; try 'board={}'", Shown(name),
            Shown(name));
  if (!IsName(name) || name == kAuthorityFile || name == kAuthorityKeyFile)
    Invalid(
        "NAME",
        "not a host's name; got '{}', expected at most {} letters, digits and '-', with single dots between",
        Shown(name), kLongestName);
}

void CheckAddress(const std::string& address, const std::string& name) {
  if (!IsIp(address) && (!IsName(address) || IsNumeric(address)))
    Invalid(name, "not an address; got '{}', expected one as 192.168.1.20, fd00::20 or board.local",
            Shown(address));
}

struct Authority {
  SslCertificate certificate;
  SslKey key;
  bool is_new = false;
};

SslKey NewKey() {
  SslKey key(EVP_EC_gen("P-256"));
  CheckSsl(key != nullptr, "a key");
  return key;
}

void SetRandomSerial(X509* certificate) {
  const std::unique_ptr<BIGNUM, SslFree<BN_free>> number(BN_new());
  CheckSsl(number && BN_rand(number.get(), kSerialBits, BN_RAND_TOP_ANY, BN_RAND_BOTTOM_ANY) == 1,
           "a random serial number");
  CheckSsl(BN_to_ASN1_INTEGER(number.get(), X509_get_serialNumber(certificate)) != nullptr,
           "a serial number");
}

void SetTime(ASN1_TIME* time, std::time_t seconds) {
  CheckSsl(ASN1_TIME_set(time, seconds) != nullptr, "a time");
}

void AddExtension(X509* certificate, X509* issuer, int kind, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  using Extension = std::unique_ptr<X509_EXTENSION, SslFree<X509_EXTENSION_free>>;
  const Extension extension(X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str()));
  CheckSsl(extension && X509_add_ext(certificate, extension.get(), -1) == 1, "an extension of a certificate");
}

// Makes a certificate without issuer, extensions and signature.
SslCertificate NewCertificate(EVP_PKEY* key, const std::string& name, std::time_t from, std::time_t until) {
  SslCertificate certificate(X509_new());
  X509* c = certificate.get();
  CheckSsl(c && X509_set_version(c, X509_VERSION_3) == 1 && X509_set_pubkey(c, key) == 1, "a certificate");
  SetRandomSerial(c);
  SetTime(X509_getm_notBefore(c), from);
  SetTime(X509_getm_notAfter(c), until);
  const auto* text = reinterpret_cast<const unsigned char*>(name.c_str());
  CheckSsl(X509_NAME_add_entry_by_txt(X509_get_subject_name(c), "CN", MBSTRING_ASC, text, -1, -1, 0) == 1,
           "a certificate's name");
  return certificate;
}

void Sign(X509* certificate, X509* issuer, EVP_PKEY* key) {
  CheckSsl(X509_set_issuer_name(certificate, X509_get_subject_name(issuer)) == 1, "a certificate's issuer");
  AddExtension(certificate, issuer, NID_subject_key_identifier, "hash");
  AddExtension(certificate, issuer, NID_authority_key_identifier, "keyid:always");
  CheckSsl(X509_sign(certificate, key, EVP_sha256()) > 0, "a signature");
}

template <size_t N>
std::string RandomHex() {
  std::array<unsigned char, N> bytes;
  CheckSsl(RAND_bytes(bytes.data(), int(N)) == 1, "random bytes");
  return fmt::format("{:02x}", fmt::join(bytes, ""));
}

std::time_t Days(int days) { return std::time_t(days) * 24 * 60 * 60; }

// The authority gets a random name because some programs look authorities up by name and must tell it from
// other authorities of this tool.
Authority NewAuthority(std::time_t now) {
  Authority authority{.key = NewKey(), .is_new = true};
  const std::string name = "Mete " + RandomHex<4>();
  authority.certificate =
      NewCertificate(authority.key.get(), name, now - Days(kEarlierDays), now + Days(kAuthorityDays));
  X509* c = authority.certificate.get();
  AddExtension(c, c, NID_basic_constraints, "critical,CA:TRUE,pathlen:0");
  AddExtension(c, c, NID_key_usage, "critical,keyCertSign,cRLSign");
  Sign(c, c, authority.key.get());
  return authority;
}

Authority ReadAuthority(const fs::path& folder, std::time_t now) {
  const std::string file = (folder / kAuthorityFile).string(),
                    key_file = (folder / kAuthorityKeyFile).string();
  if (!fs::exists(key_file))
    Fail(Code::kNotFound, key_file, "the authority's key is not here; try the machine where '{}' was made",
         file);
  Authority authority{.key = ParseKey(ReadSmallFile(key_file, kLargestPem), key_file)};
  authority.certificate = std::move(ParseCertificates(ReadSmallFile(file, kLargestPem), file)[0]);
  X509* c = authority.certificate.get();
  if (X509_check_ca(c) != 1) Invalid(file, "no authority's certificate; expected one that may sign others");
  if (EVP_PKEY_eq(X509_get0_pubkey(c), authority.key.get()) != 1)
    Invalid(key_file, "not the key of the certificate '{}'", file);
  const std::string problem = ProblemOfTime(c, now);
  if (!problem.empty()) Invalid(file, "{}; try a new folder, and its keys on all hosts", problem);
  return authority;
}

Authority AuthorityOf(const fs::path& folder, std::time_t now) {
  if (fs::exists(folder / kAuthorityFile) || fs::exists(folder / kAuthorityKeyFile))
    return ReadAuthority(folder, now);
  return NewAuthority(now);
}

std::string AlternativeNames(const Host& host) {
  std::string text = "DNS:" + host.name;
  for (const std::string& a : host.addresses) text += (IsIp(a) ? ",IP:" : ",DNS:") + a;
  return text;
}

SslCertificate NewHostCertificate(const Authority& authority, EVP_PKEY* key, const Host& host,
                                  std::time_t now, int days) {
  X509* issuer = authority.certificate.get();
  const std::time_t until = std::min(now + Days(days), TimeOf(X509_get0_notAfter(issuer)));
  SslCertificate certificate = NewCertificate(key, host.name, now - Days(kEarlierDays), until);
  X509* c = certificate.get();
  AddExtension(c, issuer, NID_basic_constraints, "critical,CA:FALSE");
  AddExtension(c, issuer, NID_key_usage, "critical,digitalSignature");
  AddExtension(c, issuer, NID_ext_key_usage, "serverAuth,clientAuth");
  AddExtension(c, issuer, NID_subject_alt_name, AlternativeNames(host));
  Sign(c, issuer, authority.key.get());
  return certificate;
}

// Returns the addresses of the certificate that a new certificate replaces.
std::vector<std::string> AddressesBefore(const fs::path& folder, const std::string& name) {
  const std::string file = (folder / kCertificateFile).string();
  if (!fs::exists(file)) return {};
  std::vector<std::string> all =
      AddressesOf(ParseCertificates(ReadSmallFile(file, kLargestPem), file)[0].get());
  std::erase(all, name);
  for (const std::string& a : all) CheckAddress(a, file);
  return all;
}

class Maker {
 public:
  Maker(fs::path folder, const MakeOptions& options)
      : folder_(std::move(folder)), options_(options), now_(options.now ? options.now : std::time(nullptr)) {}

  MadeKeys Do(const std::vector<Host>& hosts) {
    Check(hosts);
    MakeFolder(folder_);
    const Authority authority = AuthorityOf(folder_, now_);
    const Aside aside(folder_);
    MadeKeys made{.made_authority = authority.is_new};
    if (authority.is_new) WriteAuthority(authority, aside.path());
    for (const Host& host : hosts) made.hosts.push_back(WriteHost(host, authority, aside.path()));
    if (authority.is_new)
      for (const char* file : {kAuthorityKeyFile, kAuthorityFile}) Place(aside.path() / file, folder_ / file);
    for (const Host& host : hosts) PlaceHost(aside.path() / host.name, folder_ / host.name);
    return made;
  }

 private:
  void Check(const std::vector<Host>& hosts) const {
    if (hosts.empty()) Invalid("NAME", "no host to make keys for");
    if (options_.days < 1 || options_.days > kAuthorityDays)
      Invalid("--days", "how long a certificate is valid; got {}, expected 1 to {}", options_.days,
              kAuthorityDays);
    std::set<std::string> names;
    for (const Host& host : hosts) {
      CheckName(host.name);
      for (const std::string& a : host.addresses) CheckAddress(a, host.name);
      if (!names.insert(host.name).second)
        Invalid("NAME", "'{}' twice; try 'NAME=ADDRESS,ADDRESS' for several addresses", host.name);
      if (fs::exists(fs::symlink_status(folder_ / host.name))) CheckMayReplace(host.name);
    }
  }

  void CheckMayReplace(const std::string& name) const {
    const std::string there = (folder_ / name).string();
    if (!options_.renew)
      Fail(Code::kFailedPrecondition, there,
           "is there already and is not replaced; try --renew for a new key and certificate");
    if (!fs::is_directory(fs::symlink_status(there)))
      Fail(Code::kFailedPrecondition, there, "is no folder; expected the keys of the host");
  }

  static void WriteAuthority(const Authority& authority, const fs::path& aside) {
    WriteNewFile(aside / kAuthorityKeyFile, ToPem(authority.key.get()), 0600);
    WriteNewFile(aside / kAuthorityFile, ToPem(authority.certificate.get()), 0644);
  }

  MadeHost WriteHost(Host host, const Authority& authority, const fs::path& aside) const {
    if (host.addresses.empty()) host.addresses = AddressesBefore(folder_ / host.name, host.name);
    const SslKey key = NewKey();
    const SslCertificate certificate = NewHostCertificate(authority, key.get(), host, now_, options_.days);
    const fs::path place = aside / host.name;
    MakeFolder(place);
    WriteNewFile(place / kKeyFile, ToPem(key.get()), 0600);
    WriteNewFile(place / kCertificateFile, ToPem(certificate.get()), 0644);
    WriteNewFile(place / kAuthorityFile, ToPem(authority.certificate.get()), 0644);
    return {host.name, (folder_ / host.name).string(), host.addresses,
            TimeOf(X509_get0_notAfter(certificate.get()))};
  }

  void PlaceHost(const fs::path& from, const fs::path& to) const {
    if (options_.renew && fs::exists(to)) Exchange(from, to);
    else Place(from, to);
  }

  const fs::path folder_;
  const MakeOptions options_;
  const std::time_t now_;
};

void WriteToken(const fs::path& path) {
  if (fs::exists(fs::symlink_status(path)))
    Fail(Code::kFailedPrecondition, path.string(),
         "is there already and is not replaced; try another name, or delete it");
  const Aside aside(path.has_parent_path() ? path.parent_path() : fs::path("."));
  WriteNewFile(aside.path() / "token", RandomHex<kTokenBytes>() + "\n", 0600);
  Place(aside.path() / "token", path);
}

}  // namespace

Host ParseHost(const std::string& text) {
  const size_t equals = text.find('=');
  Host host{.name = text.substr(0, equals)};
  CheckName(host.name);
  if (equals == text.npos) return host;
  host.addresses = Split(text.substr(equals + 1), ',');
  if (host.addresses.size() > kMostAddresses)
    Invalid(host.name, "too many addresses; got {}, expected at most {}", host.addresses.size(),
            kMostAddresses);
  for (const std::string& a : host.addresses) CheckAddress(a, host.name);
  return host;
}

MadeKeys MakeKeys(const std::string& folder, const std::vector<Host>& hosts, const MakeOptions& options) {
  return Guarded(folder, [&] { return Maker(folder, options).Do(hosts); });
}

void MakeToken(const std::string& path) {
  Guarded(path, [&] { WriteToken(path); });
}

}  // namespace mete
