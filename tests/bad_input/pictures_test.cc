// Picture files that are damaged or that claim a huge size.
#include "bad_input.h"
#include "mete/image.h"

namespace mete {
namespace {

class BadPicture : public BadInput {
 protected:
  std::string Error_(const std::string& bytes) {
    const std::string path = Write("picture.jpg", bytes);
    try {
      LoadImage(path);
    } catch (const Error& e) {
      ExpectForm(e.what());
      EXPECT_TRUE(Contains(e.what(), path));
      return std::string(CodeName(e.code())) + ": " + e.what();
    }
    return "";
  }

  // Returns a grayscale JPEG of 8 x 8 pixels with `width` and `height` in its header.
  static std::string Jpeg(unsigned width, unsigned height) {
    std::string quantization(64, 1),
        huffman = std::string("\x00", 1) + std::string(1, 1) + std::string(15, 0) + std::string(1, 0);
    std::string ac = huffman;
    ac[0] = 0x10;
    const std::string frame = {8, char(height >> 8), char(height), char(width >> 8), char(width), 1, 1, 0x11,
                               0};
    const std::string scan = {1, 1, 0, 0, 63, 0};
    return "\xff\xd8" + Segment(0xdb, std::string(1, 0) + quantization) + Segment(0xc0, frame) +
           Segment(0xc4, huffman) + Segment(0xc4, ac) + Segment(0xda, scan) + std::string(1, 0x3f) +
           "\xff\xd9";
  }

 private:
  static std::string Segment(int marker, const std::string& content) {
    const size_t n = content.size() + 2;
    return std::string({char(0xff), char(marker), char(n >> 8), char(n)}) + content;
  }
};

TEST_F(BadPicture, TheSoundOneLoads) { EXPECT_EQ(Error_(Jpeg(8, 8)), ""); }

TEST_F(BadPicture, EmptyTruncatedAndCorrupt) {
  const std::string sound = Jpeg(8, 8);
  EXPECT_NE(Error_(""), "");
  for (size_t n = 0; n + 3 < sound.size(); n += 5) EXPECT_NE(Error_(sound.substr(0, n)), "") << n;
  for (size_t at : {size_t(2), size_t(5), size_t(70)}) {
    std::string corrupt = sound;
    for (size_t i = at; i < at + 8; ++i) corrupt[i] = char(0xee);
    EXPECT_NE(Error_(corrupt), "") << at;
  }
  EXPECT_NE(Error_("<!DOCTYPE html>"), "");
}

// The header of a JPEG has 16 bits per side: it can claim at most 65,535, for which a decoder would allocate
// 12 GB. A PNG can claim 100,000.
TEST_F(BadPicture, HugeClaimsAreRefusedBeforeAskingForMemory) {
  EXPECT_TRUE(StartsWith(Error_(Jpeg(65535, 65535)), "RESOURCE_EXHAUSTED: "));
  EXPECT_TRUE(StartsWith(Error_(Jpeg(65500, 65500)), "RESOURCE_EXHAUSTED: "));
  // 100,000 modulo 2^16: more pixels than data
  EXPECT_NE(Error_(Jpeg(100000 & 0xffff, 100000 & 0xffff)), "");
  std::string png("\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\1\x86\xa0\0\1\x86\xa0\x08\x02\0\0\0", 29);
  png += std::string("\x3e\x20\x6d\x8f", 4);  // a wrong checksum, which the decoder checks too
  EXPECT_NE(Error_(png), "");
}

TEST_F(BadPicture, AMissingFileIsNotFound) {
  try {
    LoadImage((folder_ / "none.jpg").string());
    ADD_FAILURE();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::kNotFound);
  }
}

}  // namespace
}  // namespace mete
