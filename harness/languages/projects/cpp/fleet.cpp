#include "fleet.h"

Boat launch(int length) {
  return Boat{length};
}
