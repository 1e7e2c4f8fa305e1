#include <getopt.h>
#include <stdio.h>
int main(void) {
    char *argv[] = {"prog", "-a", "file", "-bvalue", "--long", "--with=x", "other", "--", "-z", 0};
    struct option options[] = {{"long", 0, 0, 'l'}, {"with", 1, 0, 'w'}, {0, 0, 0, 0}};
    int c, argc = 9;
    while ((c = getopt_long(argc, argv, "ab:", options, 0)) != -1) printf("%c %s\n", c, optarg ? optarg : "-");
    for (int i = optind; i < argc; i++) printf("%s ", argv[i]);
    printf("%d\n", optind);
    return 0;
}
