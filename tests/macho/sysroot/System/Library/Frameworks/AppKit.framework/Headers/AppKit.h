#ifndef STUB_APPKIT_H
#define STUB_APPKIT_H

#include <Foundation/Foundation.h>

typedef double CGFloat;
typedef struct {
	CGFloat x, y;
} NSPoint;
typedef struct {
	CGFloat width, height;
} NSSize;
typedef struct {
	NSPoint origin;
	NSSize size;
} NSRect;

static inline NSPoint NSMakePoint(CGFloat x, CGFloat y)
{
	return (NSPoint){x, y};
}

static inline NSRect NSMakeRect(CGFloat x, CGFloat y, CGFloat width, CGFloat height)
{
	return (NSRect){{x, y}, {width, height}};
}

typedef enum : NSUInteger { NSEventTypeApplicationDefined = 15 } NSEventType;
typedef enum : unsigned long long {
	NSEventMaskApplicationDefined = 1ULL << 15,
	NSEventMaskAny = ~0ULL
} NSEventMask;
typedef enum : short { stub_no_subtype } NSEventSubtype;
typedef enum : NSUInteger { stub_no_flags } NSEventModifierFlags;
typedef enum : NSUInteger { NSBackingStoreBuffered = 2 } NSBackingStoreType;
typedef enum : NSUInteger {
	NSWindowStyleMaskTitled = 1 << 0,
	NSWindowStyleMaskClosable = 1 << 1
} NSWindowStyleMask;

/* clang-format off */
@class NSGraphicsContext;

@interface NSEvent : NSObject
@property (readonly) NSEventType type;
@property (readonly) NSEventSubtype subtype;
@property (readonly) NSInteger data1;
@property (readonly) NSInteger data2;
+ (NSEvent *)otherEventWithType:(NSEventType)type
                       location:(NSPoint)location
                  modifierFlags:(NSEventModifierFlags)flags
                      timestamp:(NSTimeInterval)time
                   windowNumber:(NSInteger)number
                        context:(NSGraphicsContext *)context
                        subtype:(short)subtype
                          data1:(NSInteger)data1
                          data2:(NSInteger)data2;
+ (id)addLocalMonitorForEventsMatchingMask:(NSEventMask)mask
                                   handler:(NSEvent *(^)(NSEvent *event))handler;
@end

@interface NSView : NSObject
- (instancetype)initWithFrame:(NSRect)frame;
- (void)addSubview:(NSView *)view;
@end

@interface NSTextField : NSView
@property (copy) NSString *stringValue;
@end

@interface NSWindow : NSObject
@property (copy) NSString *title;
@property (strong) NSView *contentView;
- (instancetype)initWithContentRect:(NSRect)rect
                          styleMask:(NSWindowStyleMask)style
                            backing:(NSBackingStoreType)backing
                              defer:(BOOL)defer;
- (void)makeKeyAndOrderFront:(id)sender;
@end

@interface NSApplication : NSObject
@property (class, readonly) NSApplication *sharedApplication;
@property (readonly) NSWindow *modalWindow;
@property (readonly, getter=isRunning) BOOL running;
- (void)run;
- (void)stop:(id)sender;
- (NSInteger)runModalForWindow:(NSWindow *)window;
- (void)postEvent:(NSEvent *)event atStart:(BOOL)first;
- (NSEvent *)nextEventMatchingMask:(NSEventMask)mask
                         untilDate:(NSDate *)date
                            inMode:(NSRunLoopMode)mode
                           dequeue:(BOOL)dequeue;
- (void)sendEvent:(NSEvent *)event;
- (void)updateWindows;
@end
/* clang-format on */

extern NSApplication *NSApp;

#endif
