int table[4] = {1, 2, 3, 4};
int *inside = &table[2];
int common;
__thread int theirs = 8;
int fallback(void) { return 2; }

int sum(const int *values, int count)
{
	int all = 0;
	for (int i = 0; i < count; i++)
		all += values[i];
	return all;
}
