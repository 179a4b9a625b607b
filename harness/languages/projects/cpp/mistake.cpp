#include "fleet.h"

int wrong() {
  return launch("twelve").length;
}
