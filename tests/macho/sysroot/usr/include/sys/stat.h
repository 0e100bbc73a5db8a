#ifndef STUB_SYS_STAT_H
#define STUB_SYS_STAT_H

#include <sys/types.h>
#include <time.h>

struct stat {
	dev_t st_dev;
	mode_t st_mode;
	nlink_t st_nlink;
	ino_t st_ino;
	uid_t st_uid;
	gid_t st_gid;
	dev_t st_rdev;
	struct timespec st_atimespec;
	struct timespec st_mtimespec;
	struct timespec st_ctimespec;
	struct timespec st_birthtimespec;
	off_t st_size;
	blkcnt_t st_blocks;
	blksize_t st_blksize;
	uint32_t st_flags;
	uint32_t st_gen;
	int32_t stub_spare;
	int64_t stub_spares[2];
};

#define S_ISDIR(mode) (((mode)&0xf000) == 0x4000)
#define S_ISREG(mode) (((mode)&0xf000) == 0x8000)

/* On x86_64 the plain name is of the time before inodes had 64 bits. */
#ifdef __x86_64__
int fstat(int, struct stat *) __asm("_fstat$INODE64");
#else
int fstat(int, struct stat *);
#endif

#endif
