/// Runtime functions over vectors: how the interpreter calls what kernels call row by row.

#ifndef TWINJIT_SQL_APPLY_H
#define TWINJIT_SQL_APPLY_H

#include "sql/arena.h"
#include "sql/runtime.h"

#include <array>
#include <cstring>
#include <map>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace twinjit::sql {

/// How a value lies in a vector. A text is its address and its length, a numeric its low and its
/// high word.
enum class Form : uint8_t { Byte, Int2, Int4, Int8, Float4, Float8, Text, Numeric };

/// The values of an argument: one for each row, `stride` bytes apart; 0 for the same for all.
struct Vector {
  const char *values;
  int64_t stride;
  /// Whether they are bytes, where the function takes int4.
  bool isBytes;
};

/// What a call is about.
struct Rows {
  int64_t count;
  const uint8_t *active;
  uint8_t *failures;
  Arena *arena;
};

using Loop = void (*)(const Vector *arguments, const Rows &rows, char *result);

/// A function that kernels and the interpreter call.
struct Function {
  const void *address;
  Loop loop;
  std::vector<Form> arguments;
  Form result;
};

namespace detail {

template <typename T> constexpr Form formOf() {
  if constexpr (std::is_same_v<T, uint8_t>)
    return Form::Byte;
  else if constexpr (std::is_same_v<T, int16_t>)
    return Form::Int2;
  else if constexpr (std::is_same_v<T, int32_t>)
    return Form::Int4;
  else if constexpr (std::is_same_v<T, int64_t>)
    return Form::Int8;
  else if constexpr (std::is_same_v<T, float>)
    return Form::Float4;
  else if constexpr (std::is_same_v<T, double>)
    return Form::Float8;
  else if constexpr (std::is_same_v<T, const char *> || std::is_same_v<T, Text>)
    return Form::Text;
  else {
    static_assert(std::is_same_v<T, uint64_t> || std::is_same_v<T, Numeric>, "no form");
    return Form::Numeric;
  }
}

/// Which argument a parameter in C is of, and which of its two words; -1 for the arena.
struct Place {
  int argument;
  int offset;
};

template <typename... Parameters> constexpr auto placesOf() {
  constexpr size_t count = sizeof...(Parameters);
  constexpr std::array<bool, count> isArena{std::is_same_v<Parameters, Arena *>...};
  constexpr std::array<bool, count> isFirstOfTwo{
      (std::is_same_v<Parameters, const char *> || std::is_same_v<Parameters, uint64_t>)...};
  std::array<Place, count> places{};
  int argument = -1;
  for (size_t index = 0; index < count; ++index) {
    if (isArena[index])
      places[index] = {-1, 0};
    else if (index > 0 && isFirstOfTwo[index - 1])
      places[index] = {argument, 8};
    else
      places[index] = {++argument, 0};
  }
  return places;
}

template <typename T> T load(const Vector *arguments, const Rows &rows, Place place, int64_t row) {
  if constexpr (std::is_same_v<T, Arena *>) {
    return rows.arena;
  } else {
    const Vector &vector = arguments[place.argument];
    const char *address = vector.values + row * vector.stride + place.offset;
    if constexpr (std::is_same_v<T, int32_t>)
      if (vector.isBytes)
        return static_cast<uint8_t>(*address);
    T value;
    std::memcpy(&value, address, sizeof(T));
    return value;
  }
}

template <auto function, typename Result, typename... Parameters, size_t... index>
void loopWith(const Vector *arguments, const Rows &rows, char *result,
              std::index_sequence<index...>, std::bool_constant<true>) {
  constexpr auto places = placesOf<Parameters...>();
  for (int64_t row = 0; row < rows.count; ++row) {
    if (!rows.active[row] || rows.failures[row])
      continue;
    Result value{};
    Code code = function(load<Parameters>(arguments, rows, places[index], row)..., &value);
    if (code)
      rows.failures[row] = static_cast<uint8_t>(code);
    else
      std::memcpy(result + row * sizeof(Result), &value, sizeof(Result));
  }
}

template <auto function, typename Result, typename... Parameters, size_t... index>
void loopWith(const Vector *arguments, const Rows &rows, char *result,
              std::index_sequence<index...>, std::bool_constant<false>) {
  constexpr auto places = placesOf<Parameters...>();
  for (int64_t row = 0; row < rows.count; ++row) {
    if (!rows.active[row] || rows.failures[row])
      continue;
    Result value = function(load<Parameters>(arguments, rows, places[index], row)...);
    std::memcpy(result + row * sizeof(Result), &value, sizeof(Result));
  }
}

template <typename... Parameters> std::vector<Form> formsOf() {
  constexpr auto places = placesOf<Parameters...>();
  constexpr std::array<bool, sizeof...(Parameters)> isArena{std::is_same_v<Parameters, Arena *>...};
  std::vector<Form> forms;
  size_t index = 0;
  auto add = [&](Form form) {
    if (!isArena[index] && places[index].offset == 0)
      forms.push_back(form);
    ++index;
  };
  auto formUnlessArena = [](auto *parameter) {
    using Parameter = std::remove_pointer_t<decltype(parameter)>;
    if constexpr (std::is_same_v<Parameter, Arena *>)
      return Form::Byte; // not looked at
    else
      return formOf<Parameter>();
  };
  (add(formUnlessArena(static_cast<Parameters *>(nullptr))), ...);
  return forms;
}

/// Takes the signature of a function apart.
template <auto function, bool canFail, typename Result, typename... Parameters>
Function describe() {
  Loop loop = [](const Vector *arguments, const Rows &rows, char *result) {
    loopWith<function, Result, Parameters...>(arguments, rows, result,
                                              std::index_sequence_for<Parameters...>(),
                                              std::bool_constant<canFail>());
  };
  return {reinterpret_cast<const void *>(function), loop, formsOf<Parameters...>(),
          formOf<Result>()};
}

template <typename T>
constexpr bool isResult = std::is_pointer_v<T> && !std::is_same_v<T, Arena *> &&
                          !std::is_const_v<std::remove_pointer_t<T>>;

template <auto function, typename... Parameters, size_t... index>
Function describeFailing(std::index_sequence<index...>) {
  using All = std::tuple<Parameters...>;
  using Result = std::remove_pointer_t<std::tuple_element_t<sizeof...(index), All>>;
  return describe<function, true, Result, std::tuple_element_t<index, All>...>();
}

template <auto function, typename Returned, typename... Parameters>
Function describe(Returned (*)(Parameters...)) {
  using Last = std::tuple_element_t<sizeof...(Parameters) - 1, std::tuple<Parameters...>>;
  if constexpr (isResult<Last>)
    return describeFailing<function, Parameters...>(
        std::make_index_sequence<sizeof...(Parameters) - 1>());
  else
    return describe<function, false, Returned, Parameters...>();
}

} // namespace detail

/// The functions by the names that src/twinjit/sql/runtime.py has for them.
class Registry {
public:
  /// Adds a function: one that can fail returns a `Code`, and its last parameter is a pointer for
  /// the result.
  template <auto function> void add(const char *name) {
    functions.emplace(name, detail::describe<function>(function));
  }

  const std::map<std::string, Function> &all() const { return functions; }

private:
  std::map<std::string, Function> functions;
};

void registerIntegers(Registry &registry);
void registerFloats(Registry &registry);
void registerNumerics(Registry &registry);
void registerText(Registry &registry);
void registerTextConversions(Registry &registry);
void registerDates(Registry &registry);

} // namespace twinjit::sql

#endif // TWINJIT_SQL_APPLY_H
