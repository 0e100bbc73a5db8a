/* The Objective-C runtime of this process, found by name, so that nothing is linked with it. */
#ifndef ROUSE_POOL_OBJC_H
#define ROUSE_POOL_OBJC_H

struct rouse__objc {
	void *(*push)(void); /* NULL: no memory */
	void (*pop)(void *pool);
	void (*release)(void *object);
};

/* NULL: there is none, or none that has autorelease pools. */
const struct rouse__objc *rouse__objc_runtime(void);

#endif
