// Makes a chosen system call fail, do only half its work, or be the last thing the process does.
//
// Preloaded (LD_PRELOAD) into a process that writes files. Only calls on files below FAIL_UNDER
// count; the rest of the process, Python itself for one, does not notice. The environment says what
// happens:
//
//   FAIL_UNDER   an absolute directory; without it nothing is counted and nothing happens
//   FAIL_CALL    write, writev, pwrite, fsync, rename, link, close, ftruncate, unlink, open;
//   several with commas, or "any" FAIL_AT      which of these calls, from 1 FAIL_TIMES   how many
//   in a row from there on; 0 for all of them (default 1) FAIL_HOW     a number: fail with that
//   errno, nothing done (close does close, as Linux does)
//                "short": write about half          "interrupt": SIGINT to ourselves, then EINTR
//                "kill": die before the call        "kill-after": die after it
//                "kill-half": write about half, then die
//   FAIL_LOG     a file that gets a line for every counted call: its name, its file, its errno or 0
//
// A process that changes its environment calls failing_calls_reload() to begin counting anew.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum how { NOTHING, ERRNO, SHORT, INTERRUPT, KILL, KILL_AFTER, KILL_HALF };

static char under[4096], calls[128], log_path[4096];
static long at, times, counted;
static enum how how;
static int wanted_errno;

static void copy_setting(char* out, size_t size, const char* name) {
  const char* value = getenv(name);
  snprintf(out, size, "%s", value ? value : "");
}

static long number_setting(const char* name, long otherwise) {
  const char* value = getenv(name);
  return value ? atol(value) : otherwise;
}

__attribute__((constructor)) void failing_calls_reload(void) {
  char word[32];
  copy_setting(under, sizeof under, "FAIL_UNDER");
  copy_setting(calls, sizeof calls, "FAIL_CALL");
  copy_setting(log_path, sizeof log_path, "FAIL_LOG");
  copy_setting(word, sizeof word, "FAIL_HOW");
  at = number_setting("FAIL_AT", 0);
  times = number_setting("FAIL_TIMES", 1);
  counted = 0;
  wanted_errno = atoi(word);
  how = !strcmp(word, "short")        ? SHORT
        : !strcmp(word, "interrupt")  ? INTERRUPT
        : !strcmp(word, "kill")       ? KILL
        : !strcmp(word, "kill-after") ? KILL_AFTER
        : !strcmp(word, "kill-half")  ? KILL_HALF
        : wanted_errno                ? ERRNO
                                      : NOTHING;
}

// How many calls of the chosen kind there were.
long failing_calls_counted(void) { return counted; }

static void note(const char* name, const char* path, int error) {
  char line[8300];
  if (!*log_path) return;
  const int length = snprintf(line, sizeof line, "%s %s %d\n", name, path, error);
  const long file =
      syscall(SYS_openat, AT_FDCWD, log_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  syscall(SYS_write, file, line, (size_t)length);
  syscall(SYS_close, file);
}

static void die(void) {
  kill(getpid(), SIGKILL);
  for (;;) pause();
}

static int is_chosen(const char* name) {
  const size_t length = strlen(name);
  for (const char* word = calls; *word;
       word += strcspn(word, ",") + (word[strcspn(word, ",")] == ',')) {
    if (strcspn(word, ",") == length && !strncmp(word, name, length)) return 1;
  }
  return !strcmp(calls, "any");
}

// What shall happen to this call. Dies here if that is to happen before it.
static enum how fate(const char* name, const char* path) {
  const size_t length = strlen(under);
  if (!length || strncmp(path, under, length) != 0 || (path[length] && path[length] != '/'))
    return NOTHING;
  enum how now = NOTHING;
  if (is_chosen(name)) {
    ++counted;
    if (at > 0 && counted >= at && (times == 0 || counted < at + times)) now = how;
  }
  note(name, path, now == ERRNO ? wanted_errno : now == INTERRUPT ? EINTR : 0);
  if (now == KILL) die();
  if (now == INTERRUPT) raise(SIGINT);
  if (now == ERRNO || now == INTERRUPT) errno = now == ERRNO ? wanted_errno : EINTR;
  return now;
}

static enum how fate_of_open_file(const char* name, int descriptor) {
  char link_path[64], path[4096];
  if (!*under) return NOTHING;
  snprintf(link_path, sizeof link_path, "/proc/self/fd/%d", descriptor);
  const ssize_t length = readlink(link_path, path, sizeof path - 1);
  if (length < 0) return NOTHING;
  path[length] = 0;
  return fate(name, path);
}

static long afterwards(enum how now, long result) {
  if (now == KILL_AFTER || now == KILL_HALF) die();
  return result;
}

#define FAILS(now) ((now) == ERRNO || (now) == INTERRUPT)
#define HALVES(now) ((now) == SHORT || (now) == KILL_HALF)
#define REAL(type, name, ...) ((type (*)(__VA_ARGS__))dlsym(RTLD_NEXT, name))

static size_t half(enum how now, size_t size) { return HALVES(now) && size > 1 ? size / 2 : size; }

ssize_t write(int descriptor, const void* data, size_t size) {
  const enum how now = fate_of_open_file("write", descriptor);
  if (FAILS(now)) return -1;
  return afterwards(
      now, REAL(ssize_t, "write", int, const void*, size_t)(descriptor, data, half(now, size)));
}

ssize_t writev(int descriptor, const struct iovec* parts, int count) {
  const enum how now = fate_of_open_file("writev", descriptor);
  if (FAILS(now)) return -1;
  struct iovec taken[16];
  size_t total = 0;
  for (int i = 0; i < count; ++i) total += parts[i].iov_len;
  size_t left = half(now, total);
  if (count > 16) abort();
  for (int i = 0; i < count; ++i) {
    taken[i] = parts[i];
    if (taken[i].iov_len > left) taken[i].iov_len = left;
    left -= taken[i].iov_len;
  }
  return afterwards(
      now, REAL(ssize_t, "writev", int, const struct iovec*, int)(descriptor, taken, count));
}

ssize_t pwrite64(int descriptor, const void* data, size_t size, off64_t offset) {
  const enum how now = fate_of_open_file("pwrite", descriptor);
  if (FAILS(now)) return -1;
  return afterwards(now, REAL(ssize_t, "pwrite64", int, const void*, size_t, off64_t)(
                             descriptor, data, half(now, size), offset));
}

ssize_t pwrite(int descriptor, const void* data, size_t size, off_t offset) {
  return pwrite64(descriptor, data, size, offset);
}

static int on_open_file(const char* name, const char* symbol, int descriptor) {
  const enum how now = fate_of_open_file(name, descriptor);
  int (*real)(int) = REAL(int, symbol, int);
  if (FAILS(now)) {
    if (!strcmp(name, "close")) syscall(SYS_close, descriptor);
    errno = now == ERRNO ? wanted_errno : EINTR;
    return -1;
  }
  return (int)afterwards(now, real(descriptor));
}

int fsync(int descriptor) { return on_open_file("fsync", "fsync", descriptor); }
int fdatasync(int descriptor) { return on_open_file("fsync", "fdatasync", descriptor); }
int close(int descriptor) { return on_open_file("close", "close", descriptor); }

int ftruncate64(int descriptor, off64_t size) {
  const enum how now = fate_of_open_file("ftruncate", descriptor);
  if (FAILS(now)) return -1;
  return (int)afterwards(now, REAL(int, "ftruncate64", int, off64_t)(descriptor, size));
}

int ftruncate(int descriptor, off_t size) { return ftruncate64(descriptor, size); }

int renameat(int from_directory, const char* from, int to_directory, const char* to) {
  const enum how now = fate("rename", to);
  if (FAILS(now)) return -1;
  return (int)afterwards(now, syscall(SYS_renameat2, from_directory, from, to_directory, to, 0));
}

int rename(const char* from, const char* to) { return renameat(AT_FDCWD, from, AT_FDCWD, to); }

int linkat(int from_directory, const char* from, int to_directory, const char* to, int flags) {
  const enum how now = fate("link", to);
  if (FAILS(now)) return -1;
  return (int)afterwards(now, syscall(SYS_linkat, from_directory, from, to_directory, to, flags));
}

int link(const char* from, const char* to) { return linkat(AT_FDCWD, from, AT_FDCWD, to, 0); }

int unlinkat(int directory, const char* path, int flags) {
  const enum how now = fate("unlink", path);
  if (FAILS(now)) return -1;
  return (int)afterwards(now, syscall(SYS_unlinkat, directory, path, flags));
}

int unlink(const char* path) { return unlinkat(AT_FDCWD, path, 0); }

int openat64(int directory, const char* path, int flags, ...) {
  mode_t mode = 0;
  if (flags & (O_CREAT | O_TMPFILE)) {
    va_list arguments;
    va_start(arguments, flags);
    mode = va_arg(arguments, mode_t);
    va_end(arguments);
  }
  const enum how now = fate("open", path);
  if (FAILS(now)) return -1;
  return (int)afterwards(now, syscall(SYS_openat, directory, path, flags, mode));
}

int openat(int directory, const char* path, int flags, ...) {
  mode_t mode = 0;
  if (flags & (O_CREAT | O_TMPFILE)) {
    va_list arguments;
    va_start(arguments, flags);
    mode = va_arg(arguments, mode_t);
    va_end(arguments);
  }
  return openat64(directory, path, flags, mode);
}

int open64(const char* path, int flags, ...) {
  mode_t mode = 0;
  if (flags & (O_CREAT | O_TMPFILE)) {
    va_list arguments;
    va_start(arguments, flags);
    mode = va_arg(arguments, mode_t);
    va_end(arguments);
  }
  return openat64(AT_FDCWD, path, flags, mode);
}

int open(const char* path, int flags, ...) {
  mode_t mode = 0;
  if (flags & (O_CREAT | O_TMPFILE)) {
    va_list arguments;
    va_start(arguments, flags);
    mode = va_arg(arguments, mode_t);
    va_end(arguments);
  }
  return openat64(AT_FDCWD, path, flags, mode);
}
