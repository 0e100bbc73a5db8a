#include "bench/turns.h"

static rouse_ns later(rouse_ns a, rouse_ns b)
{
	return a > b ? a : b;
}

rouse_ns turns_reach(struct turns *t, uint64_t turn)
{
	if (turn > t->turn) {
		t->earlier = later(t->earlier, t->previous);
		t->previous = t->here;
		t->here = 0;
		if (turn > t->turn + 1) {
			t->earlier = later(t->earlier, t->previous);
			t->previous = 0;
		}
		t->turn = turn;
	}
	return t->earlier;
}

void turns_answered(struct turns *t, rouse_ns stamp)
{
	t->here = later(t->here, stamp);
}
