// An inline function and a class template, which two objects have alike, in groups of sections.
#include <cstdio>
template <class T> struct box {
	static int made;
	T value;
	box(T value) : value(value) { made++; }
	virtual T get() { return value; }
};
template <class T> int box<T>::made = 0;
inline int shared() { static int count = 0; return ++count; }
#ifdef OTHER
int other() { box<int> mine(1); return shared() + mine.get(); }
#else
int other();
box<int> global(9);
int main()
{
	box<int> mine(4), *pointer = &mine;
	printf("%d %d\n", pointer->get() + shared() + other() + box<int>::made, global.get());
}
#endif
