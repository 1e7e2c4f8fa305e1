// Arrays of known size, and indices that the code itself has compared.
#include <stdlib.h>
#include <string.h>

static int table[10];
static const char names[4][8] = {"one", "two", "three", "four"};

int bad_index_known(unsigned i) {
    int local[4] = {1, 2, 3, 4};
    if (i >= 4)
        return local[i]; //~ out-of-bounds-read
    return 0;
}
int good_index_known(unsigned i) {
    int local[4] = {1, 2, 3, 4};
    if (i < 4)
        return local[i];
    return 0;
}

void bad_off_by_one(int value) {
    for (int i = 0; i <= 4; i++) {
        int local[4];
        local[i] = value; //~ out-of-bounds-write
    }
}
void good_off_by_one(int value) {
    for (int i = 0; i < 4; i++) {
        int local[4];
        local[i] = value;
    }
}

int bad_global_index(int n) {
    if (n == 10)
        return table[n]; //~ out-of-bounds-read
    return 0;
}
int good_global_index(int n) {
    if (n == 9)
        return table[n];
    return 0;
}

char *bad_small_allocation(int n) {
    char *p = malloc(4);
    if (!p)
        return NULL;
    if (n > 3)
        p[4] = 0; //~ out-of-bounds-write
    return p;
}
char *good_small_allocation(int n) {
    char *p = malloc(5);
    if (!p)
        return NULL;
    if (n > 3)
        p[4] = 0;
    return p;
}

char bad_name(unsigned kind) {
    if (kind < 4)
        return 0;
    return names[kind][0]; //~ out-of-bounds-read
}
char good_name(unsigned kind) {
    if (kind >= 4)
        return 0;
    return names[kind][0];
}

void bad_copy(char *to, const char *from) {
    char local[8];
    memcpy(local, from, 16); //~ out-of-bounds-write
    memcpy(to, local, 8);
}
void good_copy(char *to, const char *from) {
    char local[8];
    memcpy(local, from, 8);
    memcpy(to, local, 8);
}

int bad_negative(int i) {
    int local[4] = {0};
    if (i < 0)
        return local[i]; //~ out-of-bounds-read
    return 0;
}
int good_negative(int i) {
    int local[4] = {0};
    if (i < 0 || i > 3)
        return 0;
    return local[i];
}

void bad_read_only(char *to) {
    char *text = (char *)"constant";
    if (*to == 'x')
        text[0] = 'C'; //~ read-only-write
}
void good_read_only(char *to) {
    char text[] = "constant";
    if (*to == 'x')
        text[0] = 'C';
}
