//@ words: --sym-args 1 2 10
//@ find: output:Well done, root
// Options, a name out of a table, and a password that is a function of the name.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    int level;
} users[] = {{"guest", 0}, {"operator", 1}, {"root", 7}, {"backup", 2}};

static void password(const char *name, char out[7]) {
    unsigned h = 5381;
    for (; *name; name++) h = h * 33 + (unsigned char)*name;
    snprintf(out, 7, "%06u", h % 1000000);
}

int main(int argc, char **argv) {
    if (argc != 3 || argv[1][0] != '-' || argv[1][1] != 'u') {
        puts("usage: login -uNAME PASSWORD");
        return 2;
    }
    const char *name = argv[1] + 2;
    for (size_t i = 0; i < sizeof users / sizeof *users; i++) {
        if (strcmp(users[i].name, name) != 0) continue;
        char wanted[7];
        password(name, wanted);
        if (strcmp(argv[2], wanted) != 0) {
            puts("No.");
            return 1;
        }
        printf("Well done, %s\n", users[i].level == 7 ? "root" : "user");
        return 0;
    }
    puts("who?");
    return 1;
}
