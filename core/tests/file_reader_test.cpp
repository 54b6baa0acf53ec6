#include "file_reader.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <new>
#include <string>
#include <system_error>
#include <vector>

#include "check.hpp"
#include "frame_buffer.hpp"

namespace {

std::size_t largest_array = static_cast<std::size_t>(-1);  // there is no memory for a larger one

}  // namespace

void* operator new[](std::size_t size) {
  void* memory = size > largest_array ? nullptr : std::malloc(size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }

namespace tfreel {
namespace {

// A temporary file of `count` records, each a number in ten digits and some padding.
struct TemporaryFile {
  explicit TemporaryFile(std::size_t count) {
    FrameBuffer frames(count * 1100 + 1);
    for (std::size_t i = 0; i < count; ++i) {
      const std::string record = expected(i);
      frames.append(std::as_bytes(std::span(record.data(), record.size())));
    }
    size = frames.size();
    std::fwrite(frames.bytes().data(), 1, size, file.get());
    std::fflush(file.get());
  }

  static std::string expected(std::size_t i) {
    const std::string number = std::to_string(i);
    return std::string(10 - number.size(), '0') + number + std::string(i % 1000, '.');
  }

  int descriptor() const { return fileno(file.get()); }
  void flip(long offset) {
    std::fseek(file.get(), offset, SEEK_SET);
    const int old = std::fgetc(file.get());
    std::fseek(file.get(), offset, SEEK_SET);
    std::fputc(old ^ 1, file.get());
    std::fflush(file.get());
  }

  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file{std::tmpfile(), std::fclose};
  std::uint64_t size = 0;
};

DecoderOptions options_for(const TemporaryFile& file, bool salvage = false) {
  DecoderOptions options;
  options.size = file.size;
  options.salvage = salvage;
  return options;
}

// Reads to the end; gives the number of records, checking each.
std::size_t read_all(FileReader& reader, std::size_t next = 0, int* faults = nullptr) {
  std::size_t count = 0;
  while (true) {
    const auto step = reader.next();
    if (step == Decoder::Step::finished) return count;
    if (step == Decoder::Step::fault) {
      ++*faults;
      ++next;
    }
    if (step != Decoder::Step::records) continue;
    const Block block = reader.take_block();
    for (std::size_t i = 0; i < block.size(); ++i, ++count, ++next) {
      const auto payload = block.payload(i);
      CHECK(std::string(reinterpret_cast<const char*>(payload.data()), payload.size()) ==
            TemporaryFile::expected(next));
    }
  }
}

TEST(file_reader_gives_all_records_and_then_the_end_for_ever) {
  const TemporaryFile file(20000);
  FileReader reader(file.descriptor(), options_for(file));
  CHECK_EQ(read_all(reader), 20000u);
  CHECK_EQ(reader.offset(), file.size);
  CHECK_EQ(reader.record(), 20000u);
  CHECK(reader.next() == Decoder::Step::finished);
}

TEST(file_reader_goes_on_from_any_position) {
  const TemporaryFile file(20000);
  FileReader reader(file.descriptor(), options_for(file));
  while (reader.next() != Decoder::Step::records) {
  }
  const Block block = reader.take_block();
  auto options = options_for(file);
  options.offset = reader.offset();
  options.record = reader.record();
  FileReader rest(file.descriptor(), options);
  CHECK_EQ(read_all(rest, block.size()), 20000 - block.size());
}

TEST(file_reader_repeats_its_fault_and_salvages_past_it) {
  TemporaryFile file(5000);
  file.flip(static_cast<long>(file.size / 2));
  FileReader strict(file.descriptor(), options_for(file));
  Decoder::Step step;
  do step = strict.next();
  while (step == Decoder::Step::records || step == Decoder::Step::starved);
  CHECK(step == Decoder::Step::fault);
  CHECK(strict.next() == Decoder::Step::fault);
  FileReader lenient(file.descriptor(), options_for(file, true));
  int faults = 0;
  CHECK_EQ(read_all(lenient, 0, &faults), 4999u);
  CHECK_EQ(faults, 1);
}

TEST(file_reader_reads_on_when_its_descriptor_is_closed_by_its_owner) {
  const TemporaryFile file(2000);
  const int descriptor = ::dup(file.descriptor());
  FileReader reader(descriptor, options_for(file));
  ::close(descriptor);
  CHECK_EQ(read_all(reader), 2000u);
}

// A file of long records, of which the second is too short to be one.
std::unique_ptr<std::FILE, int (*)(std::FILE*)> long_file(std::uint64_t& size) {
  FrameBuffer frames(400000);
  for (const std::size_t length : {40000, 100, 70000, 50000}) {
    const std::vector<std::byte> record(length, static_cast<std::byte>(length / 1000));
    frames.append(record);
  }
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file{std::tmpfile(), std::fclose};
  size = std::fwrite(frames.bytes().data(), 1, frames.size(), file.get());
  std::fflush(file.get());
  return file;
}

TEST(file_reader_reads_long_records_straight_into_place) {
  DecoderOptions options;
  const auto file = long_file(options.size);
  FileReader reader(fileno(file.get()), options);
  CHECK_EQ(reader.long_record(), 40000u);
  std::vector<std::byte> record(40000);
  CHECK(reader.read_long(record));
  CHECK(record == std::vector<std::byte>(40000, std::byte{40}));
  CHECK_EQ(reader.offset(), 40016u);
  CHECK_EQ(reader.record(), 1u);
  CHECK_EQ(reader.long_record(), 0u);
  CHECK(reader.next() == Decoder::Step::records);
  CHECK_EQ(reader.take_block().size(), 3u);
  CHECK_EQ(reader.long_record(), 0u);
  CHECK(reader.next() == Decoder::Step::finished);
}

TEST(file_reader_leaves_damaged_long_records_to_next) {
  DecoderOptions options;
  const auto file = long_file(options.size);
  std::fseek(file.get(), 100, SEEK_SET);
  std::fputc(0, file.get());
  std::fflush(file.get());
  FileReader reader(fileno(file.get()), options);
  std::vector<std::byte> record(reader.long_record());
  CHECK_EQ(record.size(), 40000u);
  CHECK(!reader.read_long(record));
  CHECK_EQ(reader.record(), 0u);
  CHECK(reader.next() == Decoder::Step::fault);
  CHECK(reader.fault().kind == FaultKind::data_crc);

  options.verify = false;
  FileReader trusting(fileno(file.get()), options);
  record.resize(trusting.long_record());
  CHECK(trusting.read_long(record));
}

TEST(file_reader_leaves_files_that_shrank_to_next) {
  DecoderOptions options;
  const auto file = long_file(options.size);
  FileReader reader(fileno(file.get()), options);
  std::vector<std::byte> record(reader.long_record());
  CHECK_EQ(::ftruncate(fileno(file.get()), 40014), 0);
  CHECK(!reader.read_long(record));
  CHECK(reader.next() == Decoder::Step::fault);
  CHECK(reader.fault().kind == FaultKind::truncated_body);
}

TEST(file_reader_leaves_long_records_to_next_when_memory_is_short) {
  DecoderOptions options;
  options.window_bytes = 60000;
  const auto file = long_file(options.size);
  FileReader reader(fileno(file.get()), options);
  CHECK(reader.next() == Decoder::Step::records);
  const Block held = reader.take_block();  // so that its buffer cannot be used again
  std::vector<std::byte> record(reader.long_record());
  CHECK_EQ(record.size(), 70000u);
  largest_array = 1000;
  CHECK(!reader.read_long(record));
  largest_array = static_cast<std::size_t>(-1);
  CHECK_EQ(reader.record(), 2u);
  CHECK(reader.next() == Decoder::Step::records);
  CHECK_EQ(reader.take_block().payload(0).size(), 70000u);
}

TEST(file_reader_throws_what_the_system_says) {
  const TemporaryFile file(100);
  const int directory = ::open("/", O_RDONLY | O_DIRECTORY);
  FileReader reader(directory, options_for(file));
  ::close(directory);
  int code = 0;
  try {
    reader.next();
  } catch (const std::system_error& error) {
    code = error.code().value();
  }
  CHECK_EQ(code, EISDIR);
}

}  // namespace
}  // namespace tfreel
