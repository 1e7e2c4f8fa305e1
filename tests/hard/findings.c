// Many findings, each of which waits natively, which neither the engine nor the replay's clock shortens.
#include <poll.h>
#include <stdlib.h>
#define FAULT(n) \
  case n: \
    poll(0, 0, 1500);
int main(int argc, char **argv) {
  switch (argv[1][0]) {
    FAULT(1)
    abort();
    FAULT(2)
    abort();
    FAULT(3)
    abort();
    FAULT(4)
    abort();
    FAULT(5)
    abort();
    FAULT(6)
    abort();
    FAULT(7)
    abort();
    FAULT(8)
    abort();
    FAULT(9)
    abort();
    FAULT(10)
    abort();
    FAULT(11)
    abort();
    FAULT(12)
    abort();
    FAULT(13)
    abort();
    FAULT(14)
    abort();
    FAULT(15)
    abort();
    FAULT(16)
    abort();
    FAULT(17)
    abort();
    FAULT(18)
    abort();
    FAULT(19)
    abort();
    FAULT(20)
    abort();
    FAULT(21)
    abort();
    FAULT(22)
    abort();
    FAULT(23)
    abort();
    FAULT(24)
    abort();
  }
  return 0;
}
