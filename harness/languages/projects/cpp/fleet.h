#pragma once

/// Something that floats.
struct Boat {
  int length;
  int doubled() const { return length * 2; }
};

Boat launch(int length);
