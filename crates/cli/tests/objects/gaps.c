extern int nowhere(int), setjmp(void *);
extern int missing;
double real(double x) { return x; }
int calls(int x) { return x == 3 ? nowhere(x) : x; }
#ifdef MISSING
int uses(void) { return missing; }
#endif
#ifdef MAIN
int main(void) { return calls(2); }
#endif
