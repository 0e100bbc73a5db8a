#ifndef STUB_SYS_MMAN_H
#define STUB_SYS_MMAN_H

#include <sys/types.h>

#endif
