#include "codegen/jit_dump.h"

#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Process.h"

#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace twinjit {
namespace {

constexpr uint32_t kMagic = 0x4A695444; // "JiTD"
constexpr uint32_t kVersion = 1;
constexpr uint32_t kHeaderSize = 40;
constexpr uint32_t kRecordSize = 16; // of a record's beginning
constexpr uint32_t kLoad = 0, kClose = 3;

constexpr uint32_t kMachine =
#if defined(__x86_64__)
    llvm::ELF::EM_X86_64;
#elif defined(__aarch64__)
    llvm::ELF::EM_AARCH64;
#else
    llvm::ELF::EM_NONE; // perf takes its own machine's then
#endif

template <typename T> void put(std::string &into, T value) {
  into.append(reinterpret_cast<const char *>(&value), sizeof value);
}

uint64_t now() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * uint64_t{1'000'000'000} + time.tv_nsec;
}

void beginRecord(std::string &into, uint32_t id, uint64_t bodySize) {
  put<uint32_t>(into, id);
  put<uint32_t>(into, kRecordSize + bodySize);
  put<uint64_t>(into, now());
}

std::string header() {
  std::string bytes;
  put<uint32_t>(bytes, kMagic);
  put<uint32_t>(bytes, kVersion);
  put<uint32_t>(bytes, kHeaderSize);
  put<uint32_t>(bytes, kMachine);
  put<uint32_t>(bytes, 0);
  put<uint32_t>(bytes, getpid());
  put<uint64_t>(bytes, now());
  put<uint64_t>(bytes, 0);
  return bytes;
}

void putLoad(std::string &into, const ObservedFunction &function, const std::string &name,
             uint64_t index) {
  constexpr uint64_t kFixed = 2 * sizeof(uint32_t) + 4 * sizeof(uint64_t);
  beginRecord(into, kLoad, kFixed + name.size() + 1 + function.size);
  put<uint32_t>(into, getpid());
  put<uint32_t>(into, syscall(SYS_gettid));
  put<uint64_t>(into, function.address);
  put<uint64_t>(into, function.address);
  put<uint64_t>(into, function.size);
  put<uint64_t>(into, index);
  into.append(name.c_str(), name.size() + 1);
  into.append(reinterpret_cast<const char *>(function.address), function.size);
}

} // namespace

std::string JitDump::open(const std::string &base) {
  if (!llvm::sys::fs::is_directory(base))
    return base + " is not a directory that can be used; set JITDUMPDIR to one";
  std::string trouble = makeDirectory(base);
  if (trouble.empty())
    trouble = file.open(path);
  if (trouble.empty())
    trouble = file.append(header());
  if (trouble.empty())
    trouble = mark();
  if (!trouble.empty())
    close();
  return trouble;
}

std::string JitDump::makeDirectory(const std::string &base) {
  std::string parent = base + "/.debug/jit";
  using llvm::sys::fs::perms;
  if (std::error_code error =
          llvm::sys::fs::create_directories(parent, /*IgnoreExisting=*/true, perms::owner_all))
    return parent + ": " + error.message();
  std::string directory = parent + "/twinjit-XXXXXX";
  if (!mkdtemp(directory.data()))
    return systemTrouble(directory);
  path = directory + "/jit-" + std::to_string(getpid()) + ".dump";
  return {};
}

std::string JitDump::mark() {
  // The mapping stays, for those who attach to the process later.
  size_t page = llvm::sys::Process::getPageSizeEstimate();
  int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  void *mapped = descriptor < 0
                     ? MAP_FAILED
                     : mmap(nullptr, page, PROT_READ | PROT_EXEC, MAP_PRIVATE, descriptor, 0);
  std::string trouble;
  if (mapped == MAP_FAILED)
    trouble = systemTrouble(path) + " (mapping it executable); set JITDUMPDIR to a directory on a "
                                    "file system that is not mounted noexec";
  else
    marker = mapped;
  if (descriptor >= 0)
    ::close(descriptor);
  return trouble;
}

std::string JitDump::add(const std::vector<ObservedFunction> &functions, llvm::StringRef suffix) {
  std::string records;
  for (const ObservedFunction &function : functions)
    putLoad(records, function, function.name + suffix.str(), nextIndex++);
  return file.append(records);
}

void JitDump::finish() {
  if (!isOpen())
    return;
  std::string record;
  beginRecord(record, kClose, 0);
  (void)file.append(record); // optional, says the format; nobody is left to tell
  close();
}

void JitDump::close() {
  file.close();
  if (marker)
    munmap(marker, llvm::sys::Process::getPageSizeEstimate());
  marker = nullptr;
}

} // namespace twinjit
