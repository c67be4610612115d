#include "ir/content_order.h"

#include "llvm/ADT/IntEqClasses.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace twinjit {
namespace {

std::vector<Digest> coloursOf(const std::vector<size_t> &which,
                              const std::vector<Digest> &colours) {
  std::vector<Digest> result;
  result.reserve(which.size());
  for (size_t one : which)
    result.push_back(colours[one]);
  return result;
}

} // namespace

ContentOrder::ContentOrder(size_t count, bool unordered)
    : unordered(unordered), colours(count), uses(count), users(count) {}

void ContentOrder::refer(size_t from, size_t to) {
  uses[from].push_back(to);
  users[to].push_back(from);
}

std::vector<size_t> ContentOrder::sorted() {
  countComponents();
  // A refinement never merges colours, so that one which tells no more apart is the last.
  size_t known = countColours();
  for (size_t before = 0, round = 0; before < known && round != kMaxRounds; ++round) {
    before = known;
    refine();
    known = countColours();
  }
  return follow(starts());
}

/// Tell apart parts that have no connection, by their size and all colours in them: a cycle of
/// three from one of four.
void ContentOrder::countComponents() {
  llvm::IntEqClasses components(static_cast<unsigned>(colours.size()));
  for (size_t one = 0; one != uses.size(); ++one)
    for (size_t used : uses[one])
      components.join(static_cast<unsigned>(one), static_cast<unsigned>(used));
  components.compress();
  std::vector<std::vector<Digest>> contents(components.getNumClasses());
  for (size_t one = 0; one != colours.size(); ++one)
    contents[components[static_cast<unsigned>(one)]].push_back(colours[one]);
  std::vector<Digest> digests;
  for (std::vector<Digest> &content : contents) {
    llvm::sort(content);
    FieldHasher fields;
    for (const Digest &colour : content)
      fields.digest(colour);
    digests.push_back(fields.finish());
  }
  for (size_t one = 0; one != colours.size(); ++one) {
    FieldHasher fields;
    fields.digest(colours[one]);
    fields.digest(digests[components[static_cast<unsigned>(one)]]);
    colours[one] = fields.finish();
  }
}

void ContentOrder::refine() {
  std::vector<Digest> refined;
  refined.reserve(colours.size());
  for (size_t one = 0; one != colours.size(); ++one) {
    std::vector<Digest> used = coloursOf(uses[one], colours);
    std::vector<Digest> using_ = coloursOf(users[one], colours);
    if (unordered)
      llvm::sort(used);
    llvm::sort(using_);
    FieldHasher fields;
    fields.digest(colours[one]);
    fields.number(used.size());
    for (const Digest &colour : used)
      fields.digest(colour);
    for (const Digest &colour : using_)
      fields.digest(colour);
    refined.push_back(fields.finish());
  }
  colours = std::move(refined);
}

size_t ContentOrder::countColours() const {
  std::vector<Digest> all = colours;
  llvm::sort(all);
  return static_cast<size_t>(std::unique(all.begin(), all.end()) - all.begin());
}

std::vector<size_t> ContentOrder::starts() const {
  std::map<Digest, size_t> alike;
  for (const Digest &colour : colours)
    ++alike[colour];
  std::vector<size_t> result(colours.size());
  for (size_t one = 0; one != result.size(); ++one)
    result[one] = one;
  auto rank = [&](size_t one) {
    return std::make_tuple(!users[one].empty(), alike[colours[one]], colours[one]);
  };
  llvm::stable_sort(result, [&](size_t a, size_t b) { return rank(a) < rank(b); });
  return result;
}

std::vector<size_t> ContentOrder::follow(std::vector<size_t> starts) const {
  std::vector<size_t> order;
  std::vector<bool> seen(colours.size());
  std::reverse(starts.begin(), starts.end());
  std::vector<size_t> pending = std::move(starts);
  while (!pending.empty()) {
    size_t one = pending.back();
    pending.pop_back();
    if (seen[one])
      continue;
    seen[one] = true;
    order.push_back(one);
    size_t first = pending.size();
    pending.insert(pending.end(), uses[one].begin(), uses[one].end());
    if (unordered)
      std::stable_sort(pending.begin() + first, pending.end(),
                       [&](size_t a, size_t b) { return colours[a] < colours[b]; });
    std::reverse(pending.begin() + first, pending.end());
  }
  return order;
}

} // namespace twinjit
