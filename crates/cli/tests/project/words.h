#ifdef __cplusplus
extern "C" {
#endif
/* How many words, separated by spaces, `text` has. */
int words(const char *text);
/* Never called. */
int other(void);
#ifdef __cplusplus
}
#endif
