// C++: objects with virtual functions, own pointers, operators, references.
#include <stdlib.h>
#include <new>

struct shape {
    virtual int area() = 0;
    int kind;
    shape *next;
};
struct square : shape {
    int side;
    int area() override { return side * side; }
};

struct holder {
    int *data;
    unsigned size;
    int &operator[](unsigned i) { return data[i]; }
    void clear() {
        delete[] data;
        data = nullptr;
        size = 0;
    }
};

extern "C" int bad_delete_then_use(holder *h) {
    int *first = h->data;
    if (!first)
        return 0;
    h->clear();
    return *first; //~ use-after-free
}
extern "C" int good_delete_then_use(holder *h) {
    int *first = h->data;
    if (!first)
        return 0;
    int value = *first;
    h->clear();
    return value;
}

extern "C" int bad_empty(holder *h) {
    int local[2] = {1, 2};
    holder view{local, 2};
    if (h->size == 2)
        return view[h->size]; //~ out-of-bounds-read
    return view[0];
}
extern "C" int good_empty(holder *h) {
    int local[2] = {1, 2};
    holder view{local, 2};
    if (h->size < 2)
        return view[h->size];
    return view[0];
}

extern "C" int bad_next_shape(shape *s) {
    if (s->kind == 3 && s->next == nullptr)
        return s->next->kind; //~ null-dereference
    return s->kind;
}
extern "C" int good_next_shape(shape *s) {
    if (s->kind == 3 && s->next != nullptr)
        return s->next->kind;
    return s->kind;
}

extern "C" int bad_square(int side) {
    square *s = new (std::nothrow) square;
    if (!s)
        return -1;
    s->side = side;
    int area = side == 0 ? s->area() : 1;
    delete s;
    if (side == 0)
        return 100 / area; //~ division-by-zero
    return area;
}
extern "C" int good_square(int side) {
    square *s = new (std::nothrow) square;
    if (!s)
        return -1;
    s->side = side;
    int area = side == 0 ? s->area() + 1 : 1;
    delete s;
    return 100 / area;
}
