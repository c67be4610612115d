#include "codegen/perf_map.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"

#include <ctime>
#include <sys/stat.h>
#include <unistd.h>

namespace twinjit {
namespace {

/// Seconds since 1970 at which this process began; 0 where /proc does not tell.
double startOfProcess() {
  // Fields of proc(5) after the name in parentheses, which may hold anything: state is the third.
  constexpr unsigned kStartTime = 22, kAfterName = 3;
  auto text = llvm::MemoryBuffer::getFileAsStream("/proc/self/stat");
  if (!text)
    return 0;
  llvm::SmallVector<llvm::StringRef> fields;
  (*text)->getBuffer().rsplit(')').second.ltrim().split(fields, ' ');
  uint64_t ticks = 0;
  if (fields.size() <= kStartTime - kAfterName ||
      fields[kStartTime - kAfterName].getAsInteger(10, ticks))
    return 0;
  auto seconds = [](clockid_t clock) {
    timespec now;
    clock_gettime(clock, &now);
    return now.tv_sec + now.tv_nsec * 1e-9;
  };
  return seconds(CLOCK_REALTIME) - seconds(CLOCK_BOOTTIME) +
         static_cast<double>(ticks) / sysconf(_SC_CLK_TCK);
}

/// Whether a file was last changed before this process began. Other compilers in it may have
/// written to the file before us; a process that had its number, in a container for instance, too.
bool isOfEarlierProcess(int descriptor) {
  constexpr double kClocksDiffer = 1; // second: ticks, and the clock having been set meanwhile
  struct stat status;
  return fstat(descriptor, &status) == 0 && status.st_size > 0 &&
         status.st_mtim.tv_sec + status.st_mtim.tv_nsec * 1e-9 < startOfProcess() - kClocksDiffer;
}

/// The rest of a line is the name, whatever it has but for what ends lines.
std::string onOneLine(llvm::StringRef name) {
  std::string plain = name.str();
  for (char &c : plain)
    if (static_cast<unsigned char>(c) < ' ')
      c = '?';
  return plain;
}

} // namespace

std::string PerfMap::open() {
  std::string path = "/tmp/perf-" + std::to_string(getpid()) + ".map";
  std::string trouble = file.open(path);
  if (trouble.empty() && isOfEarlierProcess(file.get()) && ftruncate(file.get(), 0) != 0)
    trouble = systemTrouble(path);
  return trouble;
}

std::string PerfMap::add(const std::vector<ObservedFunction> &functions, llvm::StringRef suffix) {
  std::string lines;
  for (const ObservedFunction &function : functions)
    lines += llvm::utohexstr(function.address, true) + " " + llvm::utohexstr(function.size, true) +
             " " + onOneLine(function.name) + suffix.str() + "\n";
  return file.append(lines);
}

} // namespace twinjit
