#include "csv.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace tfreel {
namespace {

constexpr std::uint64_t kOnes = 0x0101010101010101;

// Marks each byte of the word that is zero: exactly the lowest one, perhaps others above it too.
constexpr std::uint64_t zero_bytes(std::uint64_t word) noexcept {
  return (word - kOnes) & ~word & (kOnes << 7);
}

constexpr std::uint64_t repeated(char c) noexcept { return kOnes * static_cast<unsigned char>(c); }

// Where the next delimiter or line end is, from `at` on; the end if there is none.
std::size_t find_end(std::string_view bytes, std::size_t at, char delimiter) noexcept {
  const std::uint64_t delimiters = repeated(delimiter);
  for (; bytes.size() - at >= sizeof(std::uint64_t); at += sizeof(std::uint64_t)) {
    std::uint64_t word;
    std::memcpy(&word, bytes.data() + at, sizeof word);
    const std::uint64_t ends = zero_bytes(word ^ delimiters) | zero_bytes(word ^ repeated('\n')) |
                               zero_bytes(word ^ repeated('\r'));
    if (ends != 0) return at + static_cast<std::size_t>(std::countr_zero(ends)) / 8;
  }
  while (at < bytes.size() && bytes[at] != delimiter && bytes[at] != '\n' && bytes[at] != '\r')
    ++at;
  return at;
}

}  // namespace

bool CsvReader::next() {
  if (!skip_blank_lines()) return false;
  row_ = at_row_;
  line_ = row_.line;
  if (!unescaped_.empty()) unescaped_.clear();
  found_ = 0;
  End end = End::cell;
  while (end == End::cell) end = take_cell();
  if (end == End::bytes) {
    at_ = consumed_;
    return false;
  }
  consumed_ = at_;
  at_row_ = {row_.row + 1, line_};
  return true;
}

bool CsvReader::skip_blank_lines() {
  while (at_ < bytes_.size() && (bytes_[at_] == '\n' || bytes_[at_] == '\r')) {
    line_ = at_row_.line;
    if (take_line_end() == End::bytes) {
      at_ = consumed_;
      return false;
    }
    consumed_ = at_;
    at_row_.line = line_;
  }
  return at_ < bytes_.size();
}

CsvReader::End CsvReader::take_cell() {
  return at_ < bytes_.size() && bytes_[at_] == '"' ? take_quoted() : take_plain();
}

CsvReader::End CsvReader::take_plain() {
  const std::size_t begin = at_;
  at_ = find_end(bytes_, begin, dialect_.delimiter);
  check_lengths(begin);
  const std::string_view text = bytes_.substr(begin, at_ - begin);
  // As almost always; anything else is left to others, so that this is short.
  if (at_ < bytes_.size() && bytes_[at_] == dialect_.delimiter && found_ < cells_.size()) {
    cells_[found_++] = {text, false};
    ++at_;
    return End::cell;
  }
  return end_of_cell(text, false);
}

CsvReader::End CsvReader::take_quoted() {
  const std::uint64_t opened = line_;
  const std::size_t begin = at_ + 1;
  bool doubled = false;
  std::size_t quote = bytes_.find('"', begin);
  while (quote != bytes_.npos && quote + 1 < bytes_.size() && bytes_[quote + 1] == '"') {
    doubled = true;
    quote = bytes_.find('"', quote + 2);
  }
  const bool closed = quote != bytes_.npos;
  at_ = closed ? quote : bytes_.size();
  if (!closed && last_) fail(CsvFault::What::open_quote, opened);
  if (!closed && at_ - begin > dialect_.longest_cell) fail(CsvFault::What::open_quote, opened);
  check_lengths(begin);
  if (!closed) return End::bytes;
  const std::string_view inside = bytes_.substr(begin, quote - begin);
  count_lines(inside);
  ++at_;
  return end_of_cell(doubled ? without_doubled(inside) : inside, true);
}

CsvReader::End CsvReader::end_of_cell(std::string_view text, bool quoted) {
  // More of it may follow, or a second quote.
  if (at_ == bytes_.size() && !last_) return End::bytes;
  if (found_ < cells_.size()) cells_[found_] = {text, quoted};
  ++found_;
  if (at_ == bytes_.size()) return End::row;
  if (bytes_[at_] == dialect_.delimiter) {
    ++at_;
    return End::cell;
  }
  if (bytes_[at_] == '\n' || bytes_[at_] == '\r') return take_line_end();
  --found_;  // it is this cell that is wrong
  fail(CsvFault::What::text_after_quote, line_);
}

CsvReader::End CsvReader::take_line_end() {
  const bool carriage_return = bytes_[at_] == '\r';
  ++at_;
  if (carriage_return && at_ == bytes_.size() && !last_) return End::bytes;  // LF may follow
  if (carriage_return && at_ < bytes_.size() && bytes_[at_] == '\n') ++at_;
  ++line_;
  return End::row;
}

std::string_view CsvReader::without_doubled(std::string_view text) {
  std::string& plain = unescaped_.emplace_back();
  plain.reserve(text.size());
  while (!text.empty()) {
    const std::size_t quote = std::min(text.find('"'), text.size() - 1);
    plain.append(text.substr(0, quote + 1));
    text.remove_prefix(std::min(text.size(), quote + (text[quote] == '"' ? 2 : 1)));
  }
  return plain;
}

void CsvReader::count_lines(std::string_view text) noexcept {
  for (std::size_t at = text.find_first_of("\r\n"); at != text.npos;
       at = text.find_first_of("\r\n", at + 1)) {
    const bool goes_on = text[at] == '\r' && at + 1 < text.size() && text[at + 1] == '\n';
    if (!goes_on) ++line_;
  }
}

void CsvReader::check_lengths(std::size_t cell_begin) const {
  if (at_ - cell_begin > dialect_.longest_cell) fail(CsvFault::What::long_cell, line_);
  if (at_ - consumed_ > dialect_.longest_row) fail(CsvFault::What::long_row, row_.line);
}

void CsvReader::fail(CsvFault::What what, std::uint64_t line) const {
  throw CsvFault{what, row_.row, line, found_};
}

}  // namespace tfreel
