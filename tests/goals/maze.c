//@ words: --sym-stdin 28
//@ find: arrived
// A way through a maze: one letter a step; walls and the walker's own trail end the walk.
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char maze[7][12] = {"+-+---+---+", "| |     |#|", "| | --+ | |", "| |   | | |", "| +-- | | |", "|     |   |", "+-----+---+"};

void arrived(void) {
    puts("Well done");
    exit(0);
}

int main(void) {
    char steps[28];
    int x = 1, y = 1, n = (int)read(0, steps, sizeof steps);
    for (int i = 0; i < n; i++) {
        int ox = x, oy = y;
        switch (steps[i]) {
        case 'w': y--; break;
        case 's': y++; break;
        case 'a': x--; break;
        case 'd': x++; break;
        default: puts("No."); return 1;
        }
        if (maze[y][x] == '#') arrived();
        if (maze[y][x] != ' ') return 1;
        maze[oy][ox] = 'X';
    }
    return 2;
}
