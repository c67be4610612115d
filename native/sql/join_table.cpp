#include "sql/join_table.h"

#include <algorithm>

using namespace twinjit::sql;

std::vector<Column> JoinTable::columnsOf(const int64_t *words) const {
  std::vector<Column> columns;
  for (size_t key = 0; key < kinds().size(); ++key)
    columns.push_back({reinterpret_cast<const char *>(words[2 * key]),
                       reinterpret_cast<const uint8_t *>(words[2 * key + 1])});
  return columns;
}

bool JoinTable::hasNull(const std::vector<Column> &columns, int64_t row) const {
  for (const Column &column : columns)
    if (!column.validity[row])
      return true;
  return false;
}

void JoinTable::append(uint32_t number, int64_t row) {
  if (number == first.size()) {
    first.push_back(row);
    last.push_back(row);
  } else {
    next[last[number]] = row;
    last[number] = row;
  }
}

void JoinTable::build(const int64_t *words, int64_t rows) {
  std::vector<Column> columns = columnsOf(words);
  uint32_t numbers[blockRows];
  for (int64_t begin = 0; begin < rows; begin += blockRows) {
    int64_t count = std::min(blockRows, rows - begin);
    table.find(columns.data(), count, numbers);
    for (int64_t row = 0; row < count; ++row) {
      next.push_back(end);
      if (!hasNull(columns, row))
        append(numbers[row], static_cast<int64_t>(next.size()) - 1);
      else if (numbers[row] == first.size()) {
        first.push_back(end); // a key that no row has
        last.push_back(end);
      }
    }
    for (size_t key = 0; key < columns.size(); ++key)
      columns[key] = columns[key].from(count, kinds()[key]);
  }
}

JoinTable::Pairs JoinTable::probe(const int64_t *words, int64_t rows) {
  std::vector<Column> columns = columnsOf(words);
  uint32_t numbers[blockRows];
  Pairs pairs;
  for (int64_t begin = 0; begin < rows; begin += blockRows) {
    int64_t count = std::min(blockRows, rows - begin);
    table.lookUp(columns.data(), count, numbers);
    for (int64_t row = 0; row < count; ++row) {
      if (numbers[row] == GroupTable::none)
        continue;
      for (int64_t found = first[numbers[row]]; found != end; found = next[found]) {
        pairs.probed.push_back(begin + row);
        pairs.built.push_back(found);
      }
    }
    for (size_t key = 0; key < columns.size(); ++key)
      columns[key] = columns[key].from(count, kinds()[key]);
  }
  return pairs;
}

int64_t JoinTable::bytes() const {
  size_t numbers = first.capacity() + last.capacity() + next.capacity();
  return table.bytes() + numbers * sizeof(int64_t);
}
