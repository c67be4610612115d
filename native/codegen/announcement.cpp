#include "codegen/announcement.h"

#include "codegen/gdb_jit.h"
#include "codegen/jit_dump.h"
#include "codegen/perf_map.h"

#include "llvm/ADT/StringExtras.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <set>

namespace twinjit {
namespace {

constexpr size_t kDigestBytes = 4; // shown

std::atomic<bool> isAnyWanted = false;

} // namespace

/// The files of this process, and all code that is told of. Never destroyed: images outlive static
/// destructors.
class Files {
public:
  static Files &ofProcess() {
    static auto *files = [] {
      auto *made = new Files();
      pthread_atfork([] { ofProcess().mutex.lock(); }, [] { ofProcess().mutex.unlock(); },
                     [] { ofProcess().restartInChild(); });
      std::atexit([] { ofProcess().finish(); });
      return made;
    }();
    return *files;
  }

  void want(const Profilers &more, const std::string &base) {
    std::lock_guard<std::mutex> lock(mutex);
    wanted = {wanted.perfMap || (more.perfMap && !failed.perfMap),
              wanted.jitDump || (more.jitDump && !failed.jitDump), wanted.gdb || more.gdb};
    if (more.jitDump && jitDumpBase.empty())
      jitDumpBase = base;
    isAnyWanted.store(wanted.perfMap || wanted.jitDump || wanted.gdb, std::memory_order_relaxed);
  }

  void add(Announcement &announcement, llvm::StringRef object) {
    std::lock_guard<std::mutex> lock(mutex);
    living.insert(&announcement);
    if (wanted.perfMap)
      write(map, wanted.perfMap, failed.perfMap, announcement, [this] { return map.open(); });
    if (wanted.jitDump)
      write(dump, wanted.jitDump, failed.jitDump, announcement,
            [this] { return dump.open(jitDumpBase); });
    if (wanted.gdb)
      if (auto placed = placedObject(object, announcement.code.sections))
        announcement.gdb = std::make_unique<GdbEntry>(std::move(*placed));
  }

  void remove(Announcement &announcement) {
    std::lock_guard<std::mutex> lock(mutex);
    living.erase(&announcement);
    announcement.gdb.reset();
  }

private:
  /// Add code to a file, or all code that lives to one that is begun. What fails is not wanted any
  /// longer, by this process and those that it forks: the next one would most likely fail, too.
  template <typename File, typename Open>
  void write(File &file, bool &isWanted, bool &hasFailed, Announcement &announcement, Open open) {
    bool isNew = !file.isOpen();
    std::string trouble = isNew ? open() : "";
    auto add = [&](const Announcement &each) {
      if (trouble.empty())
        trouble = file.add(each.code.functions, each.suffix);
    };
    if (isNew)
      std::for_each(living.begin(), living.end(), [&](const Announcement *each) { add(*each); });
    else
      add(announcement);
    if (trouble.empty())
      return;
    announcement.whatFailed += (announcement.whatFailed.empty() ? "" : "; ") + trouble;
    isWanted = false;
    hasFailed = true;
    file.close();
  }

  void restartInChild() {
    map.close();
    dump.close();
    mutex.unlock();
  }

  void finish() {
    std::lock_guard<std::mutex> lock(mutex);
    wanted.jitDump = false;
    dump.finish();
  }

  /// Guards all below, and libLLVM's list for gdb as far as we change it. Held while files are
  /// written, and by the thread that forks across fork().
  std::mutex mutex;
  Profilers wanted, failed;
  std::string jitDumpBase;
  std::set<const Announcement *> living;
  PerfMap map;
  JitDump dump;
};

void tellProfilers(const Profilers &profilers, const std::string &jitDumpBase) {
  Files::ofProcess().want(profilers, jitDumpBase);
}

Announcement::Announcement(ObservedCode code) : code(std::move(code)) {}

std::unique_ptr<Announcement> Announcement::prepare(llvm::jitlink::LinkGraph &graph) {
  if (!isAnyWanted.load(std::memory_order_relaxed))
    return nullptr;
  return std::unique_ptr<Announcement>(new Announcement(ObservedCode(graph)));
}

void Announcement::publish(llvm::StringRef object, llvm::StringRef digest) {
  if (!digest.empty())
    suffix = "@" + llvm::toHex(digest.take_front(kDigestBytes), /*LowerCase=*/true);
  Files::ofProcess().add(*this, object);
}

Announcement::~Announcement() { Files::ofProcess().remove(*this); }

} // namespace twinjit
