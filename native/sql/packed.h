/// Bytes that another process reads; both are of one byte order.

#ifndef TWINJIT_SQL_PACKED_H
#define TWINJIT_SQL_PACKED_H

#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace twinjit::sql {

/// Appends values.
class Packer {
public:
  template <typename T> void put(T value) {
    static_assert(std::is_trivially_copyable_v<T>);
    bytes.append(reinterpret_cast<const char *>(&value), sizeof(T));
  }

  void putBytes(const char *data, int64_t length) {
    put(length);
    bytes.append(data, length);
  }

  template <typename T> void putAll(const std::vector<T> &values) {
    putBytes(reinterpret_cast<const char *>(values.data()), values.size() * sizeof(T));
  }

  std::string bytes;
};

/// Reads them; what is cut off or too long is a std::invalid_argument.
class Unpacker {
public:
  Unpacker(const char *data, size_t size) : next(data), end(data + size) {}

  template <typename T> T take() {
    T value;
    std::memcpy(&value, taken(sizeof(T)), sizeof(T));
    return value;
  }

  std::string_view takeBytes() {
    auto length = take<int64_t>();
    return {taken(length), static_cast<size_t>(length)};
  }

  /// Takes as many values as are expected.
  template <typename T> std::vector<T> takeAll(size_t count) {
    std::string_view bytes = takeBytes();
    if (bytes.size() / sizeof(T) != count || bytes.size() % sizeof(T))
      refuse();
    std::vector<T> values(count);
    if (count)
      std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }

  void finish() const {
    if (next != end)
      refuse();
  }

  [[noreturn]] static void refuse() { throw std::invalid_argument("the bytes are damaged"); }

private:
  const char *taken(int64_t length) {
    if (length < 0 || length > end - next)
      refuse();
    const char *place = next;
    next += length;
    return place;
  }

  const char *next;
  const char *end;
};

} // namespace twinjit::sql

#endif // TWINJIT_SQL_PACKED_H
