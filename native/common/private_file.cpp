#include "common/private_file.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace twinjit {

std::string systemTrouble(const std::string &path) { return path + ": " + std::strerror(errno); }

std::string PrivateFile::open(const std::string &name) {
  path = name;
  constexpr int kFlags = O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
  descriptor = ::open(path.c_str(), kFlags | O_CREAT | O_EXCL, S_IRUSR | S_IWUSR);
  if (descriptor < 0 && errno == EEXIST)
    descriptor = ::open(path.c_str(), kFlags);
  if (descriptor < 0)
    return systemTrouble(path);
  struct stat status;
  if (fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == geteuid() &&
      status.st_nlink == 1 && !(status.st_mode & (S_IWGRP | S_IWOTH)))
    return {};
  close();
  return path + ": not a file that this user alone can write to";
}

std::string PrivateFile::append(llvm::StringRef data) {
  while (!data.empty()) {
    ssize_t written = ::write(descriptor, data.data(), data.size());
    if (written >= 0)
      data = data.drop_front(written);
    else if (errno != EINTR)
      return systemTrouble(path);
  }
  return {};
}

void PrivateFile::close() {
  if (descriptor >= 0)
    ::close(descriptor);
  descriptor = -1;
}

} // namespace twinjit
