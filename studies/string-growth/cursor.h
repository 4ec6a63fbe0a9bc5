// Ours: how much is written and how much room there is are values that stay in registers. A string
// object keeps its size in memory, and as `char` may alias everything, each append reads it anew
// and waits for the append before to have written it.

#pragma once
#include "growth.h"

// Memory for characters.
struct Room {
  char *start;
  uint64_t bytes;
};

// Makes room larger by a factor of two; with no room, makes the first. Ends the program where there
// is no memory.
static Room larger(Room room);
static void release(Room room);

class Cursor {
public:
  uint64_t size() const { return used; }
  const char *data() const { return room.start; }
  void push(char character) {
    // By value: if the object's own address were known elsewhere, it could not stay in registers.
    if (__builtin_expect(used == room.bytes, 0)) room = larger(room);
    room.start[used++] = character;
    // The compiler knows no more where the next one goes, so it merges no two appends into one:
    // that would be another contract, `batch`.
    __asm__ volatile("" : "+r"(used));
  }
  ~Cursor() { release(room); }

private:
  Room room{nullptr, 0};
  uint64_t used = 0;
};

static void grow(uint64_t volume, const Look &look) {
  Cursor text;
  while (text.size() <= volume) text.push('a');
  look(text.data(), text.size());
}
