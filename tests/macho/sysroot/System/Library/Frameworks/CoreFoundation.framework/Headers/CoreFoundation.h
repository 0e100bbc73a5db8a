#ifndef STUB_COREFOUNDATION_H
#define STUB_COREFOUNDATION_H

#include <stdint.h>

typedef unsigned char Boolean;
typedef signed long CFIndex;
typedef unsigned long CFOptionFlags;
typedef unsigned long CFHashCode;
typedef uint32_t CFStringEncoding;
typedef const void *CFTypeRef;
typedef const struct stub_allocator *CFAllocatorRef;
typedef const struct stub_string *CFStringRef;
typedef CFStringRef CFRunLoopMode;
typedef struct stub_descriptor *CFFileDescriptorRef;
typedef struct stub_loop *CFRunLoopRef;
typedef struct stub_observer *CFRunLoopObserverRef;
typedef struct stub_source *CFRunLoopSourceRef;

extern const CFAllocatorRef kCFAllocatorDefault;
CFTypeRef CFRetain(CFTypeRef);
void CFRelease(CFTypeRef);

enum { kCFStringEncodingUTF8 = 0x08000100 };
CFStringRef CFStringCreateWithCString(CFAllocatorRef, const char *, CFStringEncoding);

extern const CFRunLoopMode kCFRunLoopDefaultMode;
extern const CFRunLoopMode kCFRunLoopCommonModes;
CFRunLoopRef CFRunLoopGetCurrent(void);
void CFRunLoopWakeUp(CFRunLoopRef);
void CFRunLoopAddSource(CFRunLoopRef, CFRunLoopSourceRef, CFRunLoopMode);
void CFRunLoopAddObserver(CFRunLoopRef, CFRunLoopObserverRef, CFRunLoopMode);

typedef struct {
	CFIndex version;
	void *info;
	const void *(*retain)(const void *);
	void (*release)(const void *);
	CFStringRef (*copyDescription)(const void *);
	Boolean (*equal)(const void *, const void *);
	CFHashCode (*hash)(const void *);
	void (*schedule)(void *, CFRunLoopRef, CFRunLoopMode);
	void (*cancel)(void *, CFRunLoopRef, CFRunLoopMode);
	void (*perform)(void *);
} CFRunLoopSourceContext;
CFRunLoopSourceRef CFRunLoopSourceCreate(CFAllocatorRef, CFIndex, CFRunLoopSourceContext *);
void CFRunLoopSourceInvalidate(CFRunLoopSourceRef);
void CFRunLoopSourceSignal(CFRunLoopSourceRef);

typedef CFOptionFlags CFRunLoopActivity;
enum { kCFRunLoopBeforeWaiting = 1 << 5 };
typedef struct {
	CFIndex version;
	void *info;
	const void *(*retain)(const void *);
	void (*release)(const void *);
	CFStringRef (*copyDescription)(const void *);
} CFRunLoopObserverContext;
typedef void (*CFRunLoopObserverCallBack)(CFRunLoopObserverRef, CFRunLoopActivity, void *);
CFRunLoopObserverRef CFRunLoopObserverCreate(CFAllocatorRef, CFOptionFlags, Boolean, CFIndex,
                                             CFRunLoopObserverCallBack, CFRunLoopObserverContext *);
void CFRunLoopObserverInvalidate(CFRunLoopObserverRef);

typedef int CFFileDescriptorNativeDescriptor;
enum { kCFFileDescriptorReadCallBack = 1 << 0 };
typedef struct {
	CFIndex version;
	void *info;
	void *(*retain)(void *);
	void (*release)(void *);
	CFStringRef (*copyDescription)(void *);
} CFFileDescriptorContext;
typedef void (*CFFileDescriptorCallBack)(CFFileDescriptorRef, CFOptionFlags, void *);
CFFileDescriptorRef CFFileDescriptorCreate(CFAllocatorRef, CFFileDescriptorNativeDescriptor,
                                           Boolean, CFFileDescriptorCallBack,
                                           const CFFileDescriptorContext *);
CFRunLoopSourceRef CFFileDescriptorCreateRunLoopSource(CFAllocatorRef, CFFileDescriptorRef,
                                                       CFIndex);
void CFFileDescriptorEnableCallBacks(CFFileDescriptorRef, CFOptionFlags);
void CFFileDescriptorInvalidate(CFFileDescriptorRef);

#endif
