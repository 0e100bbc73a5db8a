#ifndef STUB_FOUNDATION_H
#define STUB_FOUNDATION_H

#include <stdint.h>

#ifdef __x86_64__
typedef signed char BOOL;
#else
typedef _Bool BOOL;
#endif
#define YES ((BOOL)1)
#define NO ((BOOL)0)
#define nil ((id)0)

typedef long NSInteger;
typedef unsigned long NSUInteger;
typedef double NSTimeInterval;

/* clang-format off */
__attribute__((objc_root_class))
@interface NSObject
+ (instancetype)alloc;
+ (instancetype)new;
- (instancetype)init;
- (instancetype)retain;
- (oneway void)release;
@end

@interface NSAutoreleasePool : NSObject
- (void)drain;
@end

@interface NSDate : NSObject
@property (class, readonly) NSDate *distantFuture;
@end

@interface NSException : NSObject
@end

@interface NSString : NSObject
+ (instancetype)stringWithFormat:(NSString *)format, ...;
@end
typedef NSString *NSRunLoopMode;

@interface NSThread : NSObject
@property (class, readonly) BOOL isMainThread;
@end

@interface NSUserDefaults : NSObject
@property (class, readonly) NSUserDefaults *standardUserDefaults;
- (BOOL)boolForKey:(NSString *)key;
@end
/* clang-format on */

extern const NSRunLoopMode NSDefaultRunLoopMode;
void NSLog(NSString *, ...);

#endif
