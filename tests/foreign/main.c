#include <stdio.h>
int first(int n);
int main(int argc, char **argv) {
    printf("first %d\n", first(argc));
    printf("first %d\n", first(7));
    return 0;
}
