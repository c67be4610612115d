// An order of things that only their contents and their references to each other give.
#pragma once

#include "common/digest.h"

#include <vector>

namespace twinjit {

/// Orders things that have no order of their own, such as blocks that cannot be reached.
///
/// Each has a colour: what it is by itself; then, round by round, also the colours of what it
/// refers to and of what refers to it. What none refers to comes first, each followed by those it
/// leads to, and what is told apart from all others before what is not.
///
/// Things that nothing tells apart stay in the order in which they are given: programs that differ
/// there alone may be told apart for it, but are never merged.
class ContentOrder {
public:
  /// With `unordered`, the order of one's references does not count either.
  ContentOrder(size_t count, bool unordered);

  /// What `one` is by itself.
  void describe(size_t one, const Digest &content) { colours[one] = content; }

  /// In the order that the content of `from` gives.
  void refer(size_t from, size_t to);

  std::vector<size_t> sorted();

private:
  /// Rounds at most; a long chain would take one for each of its links.
  static constexpr size_t kMaxRounds = 64;

  void refine();
  void countComponents();
  size_t countColours() const;
  std::vector<size_t> starts() const;
  std::vector<size_t> follow(std::vector<size_t> starts) const;

  bool unordered;
  std::vector<Digest> colours;
  std::vector<std::vector<size_t>> uses;
  std::vector<std::vector<size_t>> users;
};

} // namespace twinjit
