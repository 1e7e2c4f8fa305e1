// Atomics are plain accesses in one thread.
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>

static _Atomic int counter = 5;
static _Atomic uint8_t byte = 250;
static _Atomic(int *) pointer;
static atomic_flag flag = ATOMIC_FLAG_INIT;
static struct { long a, b; } plain;
static long word = 40;

int main(int argc, char **argv) {
  (void)argv;
  printf("%d %d %d\n", atomic_fetch_add(&counter, argc), atomic_fetch_sub(&counter, 3), atomic_load(&counter));
  printf("%d %d %d %d\n", atomic_fetch_and(&counter, 6), atomic_fetch_or(&counter, 9), atomic_fetch_xor(&counter, 5), atomic_exchange(&counter, 77));
  int expected = 76;
  printf("%d", atomic_compare_exchange_strong(&counter, &expected, 1));
  printf(" %d", expected);
  printf(" %d %d\n", atomic_compare_exchange_strong(&counter, &expected, 2), atomic_load(&counter));
  for (int i = 0; i < 10; i++) byte++;
  printf("%d %d %d\n", byte, atomic_flag_test_and_set(&flag), atomic_flag_test_and_set(&flag));
  static int cells[3] = {1, 2, 3};
  atomic_store(&pointer, cells);
  atomic_fetch_add(&pointer, 1);
  printf("%d %ld %ld %ld\n", *atomic_load(&pointer), __sync_fetch_and_nand(&word, 12), __sync_add_and_fetch(&word, 2), __sync_lock_test_and_set(&word, 1));
  printf("%ld %ld\n", __atomic_fetch_max(&word, 9, __ATOMIC_SEQ_CST), __atomic_fetch_min(&word, 4, __ATOMIC_SEQ_CST));
  atomic_thread_fence(memory_order_seq_cst), atomic_signal_fence(memory_order_acquire);
  plain.a = argc;
  __sync_synchronize();
  return (int)word;
}
