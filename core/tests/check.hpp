// The smallest test harness that serves: tests register themselves, failures print where and what.
#pragma once

#include <functional>
#include <iostream>
#include <string>
#include <vector>

namespace tfreel::check {

struct Test {
  std::string name;
  std::function<void()> body;
};

inline std::vector<Test>& tests() {
  static std::vector<Test> all;
  return all;
}

inline int& failures() {
  static int count = 0;
  return count;
}

struct Registration {
  Registration(std::string name, std::function<void()> body) {
    tests().push_back({std::move(name), std::move(body)});
  }
};

inline void expect(bool holds, const char* expression, const char* file, int line) {
  if (holds) return;
  ++failures();
  std::cerr << file << ":" << line << ": failed: " << expression << "\n";
}

template <typename A, typename B>
void expect_equal(const A& a, const B& b, const char* expression, const char* file, int line) {
  if (a == b) return;
  ++failures();
  std::cerr << file << ":" << line << ": failed: " << expression << " (" << a << " against " << b
            << ")\n";
}

}  // namespace tfreel::check

#define TEST(name)                                                             \
  static void name();                                                          \
  static const ::tfreel::check::Registration registration_##name{#name, name}; \
  static void name()
#define CHECK(expression) ::tfreel::check::expect((expression), #expression, __FILE__, __LINE__)
#define CHECK_EQ(a, b) ::tfreel::check::expect_equal((a), (b), #a " == " #b, __FILE__, __LINE__)
