/* A doorbell that says it rang and does not. */
struct rouse_waker;

__attribute__((visibility("default"))) int rouse_wake(struct rouse_waker *waker);

int rouse_wake(struct rouse_waker *waker)
{
	(void)waker;
	return 1;
}
