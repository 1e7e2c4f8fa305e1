#include <stdlib.h>

struct node { int key; struct node *next; };
static struct node *list;
static int ready;

void set_up(void)
{
	for (int i = 0; i < 3; i++) {
		struct node *node = malloc(sizeof *node);
		node->key = 10 * i;
		node->next = list;
		list = node;
	}
	ready = 1;
}

int find(int key)
{
	if (!ready)
		abort();
	for (struct node *node = list; node; node = node->next)
		if (node->key == key)
			return 1;
	return 0;
}

int peek(const char *text, unsigned char at) { return text[at]; }
