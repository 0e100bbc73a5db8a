/**
 * @file version.h
 * The version of the headers.  rouse_version() has the library's.
 */
#ifndef ROUSE_VERSION_H
#define ROUSE_VERSION_H

#define ROUSE_VERSION_MAJOR 0
#define ROUSE_VERSION_MINOR 1
#define ROUSE_VERSION_PATCH 0

/** 0xMMmmpp, as rouse_version() returns it. */
#define ROUSE_VERSION                                                                              \
	((unsigned)((ROUSE_VERSION_MAJOR << 16) | (ROUSE_VERSION_MINOR << 8) | ROUSE_VERSION_PATCH))

#define ROUSE_VERSION_STRING "0.1.0"

#endif
