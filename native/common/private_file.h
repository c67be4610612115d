// A file of this user's that is only written to.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <string>

namespace twinjit {

class PrivateFile {
public:
  PrivateFile() = default;
  ~PrivateFile() { close(); }
  PrivateFile(const PrivateFile &) = delete;
  PrivateFile &operator=(const PrivateFile &) = delete;

  bool isOpen() const { return descriptor >= 0; }
  int get() const { return descriptor; }

  /// Make a file of mode 0600 to append to, or open one that is a regular file of this user's, has
  /// one name and that others cannot write to: whoever made it before us may be somebody else who
  /// can write to the directory. No link is followed, no pipe waited for. Says what is wrong, if
  /// anything is.
  std::string open(const std::string &name);

  /// All of it, or say what is wrong, naming the file.
  std::string append(llvm::StringRef data);

  void close();

private:
  int descriptor = -1;
  std::string path;
};

/// "PATH: what `errno` means"
std::string systemTrouble(const std::string &path);

} // namespace twinjit
