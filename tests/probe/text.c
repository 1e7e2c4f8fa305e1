// Strings and parsers: copies, lengths with pointers, sentinels, tokens, escapes, numbers.
#include <assert.h>
#include <ctype.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

char *bad_duplicate(const char *s) {
    size_t n = strlen(s);
    if (n > 6)
        return NULL;
    char *copy = malloc(n);
    if (!copy)
        return NULL;
    memcpy(copy, s, n);
    copy[n] = 0; //~ out-of-bounds-write
    return copy;
}
char *good_duplicate(const char *s) {
    size_t n = strlen(s);
    if (n > 6)
        return NULL;
    char *copy = malloc(n + 1);
    if (!copy)
        return NULL;
    memcpy(copy, s, n);
    copy[n] = 0;
    return copy;
}

int bad_after_colon(const char *line) {
    const char *colon = strchr(line, ':');
    if (line[0] == 'k' && colon == NULL)
        return colon[1]; //~ null-dereference
    return 0;
}
int good_after_colon(const char *line) {
    const char *colon = strchr(line, ':');
    if (line[0] == 'k' && colon != NULL)
        return colon[1];
    return 0;
}

void bad_label(const char *name) {
    char label[4];
    if (strcmp(name, "north") == 0)
        strcpy(label, name); //~ out-of-bounds-write
}
void good_label(const char *name) {
    char label[8];
    if (strcmp(name, "north") == 0)
        strcpy(label, name);
}

int bad_digits(const char *s) {
    int n = 0;
    while (isdigit((unsigned char)*s))
        n = n * 10 + (*s++ - '0');
    if (n == 0)
        return 60 / n; //~ division-by-zero
    return n;
}
int good_digits(const char *s) {
    int n = 0, seen = 0;
    while (seen < 4 && isdigit((unsigned char)*s)) {
        n = n * 10 + (*s++ - '0');
        seen++;
    }
    return n ? 60 / n : 0;
}

struct slice { const uint8_t *data; size_t length; };

// The length says how much there is.
int bad_slice_copy(const struct slice *s) {
    uint8_t local[4];
    if (s->length > sizeof local + 1)
        return -1;
    if (s->length == 5)
        memcpy(local, s->data, s->length); //~ out-of-bounds-write
    return 0;
}
int good_slice_copy(const struct slice *s) {
    uint8_t local[4];
    if (s->length > sizeof local)
        return -1;
    memcpy(local, s->data, s->length);
    return s->length ? local[0] : 0;
}

int bad_slice_last(struct slice *s) {
    uint8_t last[3] = {1, 2, 3};
    size_t n = s->length;
    if (n > 3)
        return -1;
    if (n == 0)
        return last[n - 1]; //~ out-of-bounds-read
    return s->data[0];
}
int good_slice_last(struct slice *s) {
    uint8_t last[3] = {1, 2, 3};
    size_t n = s->length;
    if (n > 3 || n == 0)
        return -1;
    if (!s->data)
        return last[n - 1];
    return s->data[n - 1];
}

static const char *const words[] = {"if", "else", "while", NULL};
int bad_keyword(const char *word) {
    int i = 0;
    while (words[i] && strcmp(words[i], word) != 0)
        i++;
    return words[i][0]; //~ null-dereference
}
int good_keyword(const char *word) {
    int i = 0;
    while (words[i] && strcmp(words[i], word) != 0)
        i++;
    return words[i] ? words[i][0] : 0;
}

struct lexer { const char *at; int depth; char token[4]; };

int bad_next_token(struct lexer *l) {
    char token[4];
    int n = 0;
    while (*l->at >= 'a' && *l->at <= 'z')
        token[n++] = *l->at++; //~ out-of-bounds-write
    return n ? token[0] : 0;
}
int good_next_token(struct lexer *l) {
    char token[4];
    int n = 0;
    while (n < 4 && *l->at >= 'a' && *l->at <= 'z')
        token[n++] = *l->at++;
    return n ? token[0] : 0;
}

int bad_brackets(struct lexer *l) {
    int depth = 0;
    for (const char *p = l->at; *p; p++)
        if (*p == '[')
            depth++;
        else if (*p == ']')
            depth--;
    assert(depth == 0 || depth == 1 || l->depth > 0 || depth < 0);
    if (depth == -1)
        return 10 % (depth + 1); //~ division-by-zero
    return depth;
}
int good_brackets(struct lexer *l) {
    int depth = 0;
    for (const char *p = l->at; *p; p++)
        if (*p == '[')
            depth++;
        else if (*p == ']' && --depth < 0)
            return -1;
    return 10 / (depth + 1);
}

static int hex(char c) {
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return -1;
}
int bad_hex(const char *s) {
    static const unsigned char weights[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
    int digit = hex(*s);
    if (*s == 'x')
        return weights[digit]; //~ out-of-bounds-read
    return 0;
}
int good_hex(const char *s) {
    static const unsigned char weights[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
    int digit = hex(*s);
    return digit >= 0 ? weights[digit] : 0;
}

int bad_utf8(const unsigned char *s) {
    int extra = s[0] >= 0xf0 ? 3 : s[0] >= 0xe0 ? 2 : s[0] >= 0xc0 ? 1 : 0;
    unsigned char room[3];
    for (int i = 0; i <= extra; i++) {
        if (i > 0 && (s[i] & 0xc0) != 0x80)
            return -1;
        room[i] = s[i]; //~ out-of-bounds-write
    }
    return room[0];
}
int good_utf8(const unsigned char *s) {
    int extra = s[0] >= 0xf0 ? 3 : s[0] >= 0xe0 ? 2 : s[0] >= 0xc0 ? 1 : 0;
    unsigned char room[4];
    for (int i = 0; i <= extra; i++) {
        if (i > 0 && (s[i] & 0xc0) != 0x80)
            return -1;
        room[i] = s[i];
    }
    return room[0];
}

void bad_trim(char *s) {
    char *end = s + strlen(s);
    char copy[8] = "        ";
    while (end > s && end[-1] == ' ')
        end--;
    *end = 0;
    if (end == s)
        copy[end - s - 1] = 0; //~ out-of-bounds-write
}
void good_trim(char *s) {
    char *end = s + strlen(s);
    while (end > s && end[-1] == ' ')
        end--;
    *end = 0;
}

int bad_records(const uint8_t *p, size_t left) {
    int seen = 0;
    while (left >= 2) {
        size_t size = p[1];
        if (size + 2 > left)
            return -1;
        if (size == 0)
            seen = 0;
        p += size + 2;
        left -= size + 2;
        if (p[-1] == 0 && size == 0)
            return 7 / seen; //~ division-by-zero
        seen++;
    }
    return seen;
}
int good_records(const uint8_t *p, size_t left) {
    int seen = 0;
    while (left >= 2) {
        size_t size = p[1];
        if (size + 2 > left)
            return -1;
        p += size + 2;
        left -= size + 2;
        seen++;
    }
    return seen ? 7 / seen : 0;
}

void bad_join(char *to, const char *a, const char *b) {
    char *room = malloc(strlen(a) + strlen(b));
    if (!room)
        return;
    strcpy(room, a); //~ out-of-bounds-write
    strcat(room, b);
    *to = room[0];
    free(room);
}
void good_join(char *to, const char *a, const char *b) {
    char *room = malloc(strlen(a) + strlen(b) + 1);
    if (!room)
        return;
    strcpy(room, a);
    strcat(room, b);
    *to = room[0];
    free(room);
}
