#include <stdio.h>
int main(int argc, char **argv) {
    printf("hello, %d argument%s\n", argc - 1, argc == 2 ? "" : "s");
    return 3;
}
