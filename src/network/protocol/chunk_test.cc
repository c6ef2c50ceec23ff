#include "network/protocol/chunk.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>

#include "base/counting_testing.h"
#include "base/errors_testing.h"
#include "network/protocol/channel.h"
#include "network/protocol/check.h"

namespace mete {
namespace {

std::string Flat(const grpc::ByteBuffer& bytes) {
  grpc::Slice all;
  EXPECT_TRUE(bytes.DumpToSingleSlice(&all).ok());
  return std::string(BytesOf(all));
}

std::string Flat(const std::vector<grpc::Slice>& slices) {
  std::string all;
  for (const grpc::Slice& slice : slices) all += BytesOf(slice);
  return all;
}

// Cuts the bytes at random places, as a network may deliver them.
grpc::ByteBuffer InSlices(const std::string& bytes, std::mt19937& random) {
  std::vector<grpc::Slice> slices;
  for (size_t at = 0; at < bytes.size();) {
    const size_t n = std::min(bytes.size() - at, size_t(random() % (random() % 4 == 0 ? 9000 : 9)));
    slices.emplace_back(bytes.substr(at, n));
    at += n;
  }
  return {slices.data(), slices.size()};
}

std::vector<Chunk> ChunksOf(Coding coding, const Tensor& piece) {
  std::vector<Chunk> chunks;
  WritePiece(coding, 300, {4, 5}, {1, 2, 3}, piece, [&](const Chunk& chunk) {
    chunks.push_back(chunk);
    return true;
  });
  return chunks;
}

TEST(Chunk, RefersToThePieceAndKeepsIt) {
  std::vector<Chunk> chunks;
  const void* where = nullptr;
  {
    const Tensor piece = Counting({3, 50'000});  // two chunks and the beginning of a third
    where = piece.data();
    chunks = ChunksOf(Coding::kF32, piece);
  }
  ASSERT_EQ(chunks.size(), 3u);
  std::string all;
  for (const Chunk& chunk : chunks) {
    CheckChunk(chunk);
    ASSERT_EQ(chunk.data.size(), 1u);
    EXPECT_EQ(chunk.frame.offset(), int64_t(all.size()));
    EXPECT_EQ(chunk.data[0].begin(), static_cast<const uint8_t*>(where) + all.size());
    grpc::ByteBuffer bytes = Pack<pb::ToWorker>(chunk);
    std::vector<grpc::Slice> sent;
    ASSERT_TRUE(bytes.Dump(&sent).ok());
    EXPECT_EQ(sent.back().begin(), chunk.data[0].begin());  // the bytes were not copied on the way to gRPC
    all += Flat(chunk.data);
  }
  const Tensor expected = Counting({3, 50'000});
  ASSERT_EQ(all.size(), expected.bytes());
  EXPECT_EQ(std::memcmp(all.data(), expected.data(), all.size()), 0);
}

TEST(Chunk, OfCodedFloatsHasTheirCode) {
  const Tensor piece = Counting({1000});
  for (const Coding coding : {Coding::kF16, Coding::kU8}) {
    const std::vector<Chunk> chunks = ChunksOf(coding, piece);
    ASSERT_EQ(chunks.size(), 1u);
    EXPECT_EQ(Flat(chunks[0].data), Encode(coding, piece.view()));
  }
}

// What a processor needs of another one: a value of this shape.
Program Needing(const Shape& shape) {
  Program program;
  program.stages.resize(1);
  program.stages[0].needs.push_back({kNoValue, DType::kF32, shape, {{4, 0, Part::All(), Part::All()}}});
  return program;
}

TEST(Chunk, APieceWithoutBytesArrives) {
  const Shape shape{0, 7};
  const Program program = Needing(shape);
  for (const Coding coding : {Coding::kF32, Coding::kF16, Coding::kU8}) {
    std::vector<Chunk> chunks;
    WritePiece(coding, 300, {4, 5}, {0, 0, 0}, Counting(shape), [&](const Chunk& chunk) {
      grpc::ByteBuffer bytes = Pack<pb::ToWorker>(chunk);
      chunks.push_back(*Unpack<pb::ToWorker>(bytes).chunk);
      return true;
    });
    Inbox inbox(program, 5, coding);
    for (const Chunk& chunk : chunks) {
      CheckChunk(chunk);
      PutChunk(inbox, 4, chunk);
    }
    ASSERT_FALSE(chunks.empty());
    EXPECT_EQ(inbox.Take({0, 0, 0}).shape(), shape);
  }
}

TEST(Chunk, AFailedWriteEndsAPiece) {
  int writes = 0;
  EXPECT_FALSE(WritePiece(Coding::kF32, 1, {}, {}, Tensor(DType::kF32, {1'000'000}),
                          [&](const Chunk&) { return ++writes < 2; }));
  EXPECT_EQ(writes, 2);
}

// Compares with protobuf's own serializer and parser, in both directions.
TEST(Chunk, IsOnTheWireWhatProtobufMakesOfIt) {
  std::mt19937 random(5);
  for (const int64_t elements : {0, 1, 30, 5'000, 65'536}) {
    const Chunk chunk = ChunksOf(Coding::kF32, Counting({elements}))[0];
    pb::Fed fed;
    fed.set_deployment("sixteen letters!");
    fed.set_from(2);
    pb::Fed whole = fed;
    *whole.mutable_frame() = chunk.frame;
    whole.mutable_frame()->set_data(Flat(chunk.data));
    EXPECT_EQ(Flat(Pack(chunk, fed)), whole.SerializeAsString());
    grpc::ByteBuffer bytes = InSlices(whole.SerializeAsString(), random);
    const Unpacked<pb::Fed> got = Unpack<pb::Fed>(bytes);
    ASSERT_TRUE(got.chunk);
    EXPECT_EQ(got.message.SerializeAsString(), fed.SerializeAsString());
    EXPECT_EQ(got.chunk->frame.SerializeAsString(), chunk.frame.SerializeAsString());
    EXPECT_EQ(Flat(got.chunk->data), Flat(chunk.data));
    CheckChunk(*got.chunk);
  }
}

TEST(Chunk, OtherMessagesAreReadAsTheyAre) {
  std::mt19937 random(6);
  pb::ToWorker begin, deploy;
  begin.mutable_begin()->set_request(9);
  deploy.mutable_deploy()->set_deploy(std::string(3'000'000, 'x'));
  for (const pb::ToWorker& message : {begin, deploy, pb::ToWorker()}) {
    grpc::ByteBuffer bytes = InSlices(Flat(Pack(message)), random);
    const Unpacked<pb::ToWorker> got = Unpack<pb::ToWorker>(bytes);
    EXPECT_FALSE(got.chunk);
    EXPECT_EQ(got.message.SerializeAsString(), message.SerializeAsString());
  }
}

// Tests a message whose frame is at another place, and one that is incomplete.
TEST(Chunk, IsRefusedWhereItCannotBeLeftInPlace) {
  std::mt19937 random(7);
  const Chunk chunk = ChunksOf(Coding::kF32, Counting({1000}))[0];
  const std::string good = Flat(Pack<pb::Fed>(chunk));
  pb::Fed after;
  after.set_from(2);
  // an unknown field that is longer than a frame's numbers may be
  std::string unknown(1, char(9 << 3 | 2));
  unknown += char(0xff);
  unknown += char(3);
  unknown += std::string(511, 'x');
  for (const std::string& bad : {good + after.SerializeAsString(), unknown + good}) {
    pb::Fed protobuf;
    EXPECT_TRUE(protobuf.ParseFromString(bad));
    grpc::ByteBuffer bytes = InSlices(bad, random);
    EXPECT_TELLS(Unpack<pb::Fed>(bytes), "is not where it is expected");
  }
  for (size_t n = 1; n < good.size(); n += n < 100 ? 1 : 97) {
    grpc::ByteBuffer bytes = InSlices(good.substr(0, n), random);
    EXPECT_THROW(Unpack<pb::Fed>(bytes), Error) << n;
  }
}

// What Unpack() accepts is what protobuf parses; the converse does not hold, because a frame may be refused
// for its place.
TEST(Chunk, NothingIsReadOtherwiseThanProtobufDoes) {
  const uint32_t seed = std::random_device()();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  pb::Fed fed;
  fed.set_deployment("sixteen letters!");
  fed.set_from(2);
  const std::string good = Flat(Pack(ChunksOf(Coding::kF32, Counting({8}))[0], fed));
  int chunks = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string bad = good;
    for (unsigned n = random() % 4; n > 0; --n) {
      const size_t at = random() % bad.size();
      if (random() % 3 == 0) bad.erase(at, random() % 3);
      else if (random() % 3 == 0) bad.insert(at, 1, char(random()));
      else bad[at] = char(random() % 2 == 0 ? random() : uint8_t(bad[at]) + 1);
    }
    grpc::ByteBuffer bytes = InSlices(bad, random);
    Unpacked<pb::Fed> got;
    try {
      got = Unpack<pb::Fed>(bytes);
    } catch (const Error&) {
      continue;
    }
    pb::Fed protobuf;
    ASSERT_TRUE(protobuf.ParseFromString(bad));
    if (got.chunk) {
      ++chunks;
      *got.message.mutable_frame() = got.chunk->frame;
      if (const std::string data = Flat(got.chunk->data); !data.empty())
        got.message.mutable_frame()->set_data(data);
    }
    ASSERT_EQ(got.message.SerializeAsString(), protobuf.SerializeAsString());
  }
  EXPECT_GT(chunks, 1000);
}

// A frame of length 0, which is written in six bytes and in nine.
TEST(Chunk, LengthsOfMoreBytesThanProtobufReadsAreRefused) {
  for (const size_t bytes : {5, 8}) {
    const std::string bad = "\x1a" + std::string(bytes, '\x80') + std::string(1, '\0');
    EXPECT_FALSE(pb::Fed().ParseFromString(bad));
    const grpc::Slice slice(bad);
    grpc::ByteBuffer message(&slice, 1);
    EXPECT_TELLS((void)Unpack<pb::Fed>(message), "cannot be read");
  }
}

// Seeds are in tests/fuzz/chunk_fuzz. METE_WRITE_SEEDS=1 writes them again after the format has changed.
TEST(Chunk, SeedsOfTheFuzzerAreMessages) {
  const std::filesystem::path folder = "tests/fuzz/chunk_fuzz";
  pb::Fed fed;
  fed.set_deployment("sixteen letters!");
  fed.set_from(2);
  const auto write = [&](const char* name, const std::string& bytes) {
    std::ofstream(folder / name, std::ios::binary) << bytes;
  };
  if (std::getenv("METE_WRITE_SEEDS")) {
    write("first", Flat(Pack(ChunksOf(Coding::kF32, Counting({8}))[0], fed)));
    write("next", Flat(Pack<pb::Fed>(ChunksOf(Coding::kU8, Counting({300}))[0])));
    write("without", fed.SerializeAsString());
  }
  int chunks = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::ifstream file(entry.path(), std::ios::binary);
    const grpc::Slice slice(std::string{std::istreambuf_iterator<char>(file), {}});
    grpc::ByteBuffer bytes(&slice, 1);
    if (const auto chunk = Unpack<pb::Fed>(bytes).chunk) {
      CheckChunk(*chunk);
      ++chunks;
    }
  }
  EXPECT_EQ(chunks, 2);
}

}  // namespace
}  // namespace mete
