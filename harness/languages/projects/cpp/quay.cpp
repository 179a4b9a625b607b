#include "fleet.h"

int main() {
  Boat first = launch(12);
  return first.doubled();
}
