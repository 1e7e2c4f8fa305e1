/* Memory that is never written, on the heap and on the stack below all that was. */
#include <stdlib.h>

int main(void) {
    char deep[30000], *heap = malloc(4);
    heap[1] = 'h';
    if (deep[0] != deep[0] || heap[1] != 'h') return 1;
    if (deep[0] == 'd') return 2;
    return heap[0] == 'x' ? 3 : 4;
}
