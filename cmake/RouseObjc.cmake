# GNUstep with gcc's Objective-C runtime, if the C compiler speaks Objective-C and finds both:
# ROUSE_GNUSTEP; and with its AppKit: ROUSE_GNUSTEP_GUI.  A compiler that calls itself C's is enough,
# so the language is not CMake's to know.
include_guard()
include(CheckCSourceCompiles)

find_program(GNUSTEP_CONFIG gnustep-config)
find_library(GNUSTEP_BASE gnustep-base)
find_library(GNUSTEP_GUI gnustep-gui)
if(GNUSTEP_CONFIG AND GNUSTEP_BASE)
  execute_process(COMMAND ${GNUSTEP_CONFIG} --variable=GNUSTEP_SYSTEM_HEADERS
    OUTPUT_VARIABLE headers OUTPUT_STRIP_TRAILING_WHITESPACE)
  set(ROUSE_OBJC_FLAGS -x objective-c -fexceptions -fobjc-exceptions
    -fconstant-string-class=NSConstantString -isystem${headers})
  execute_process(COMMAND ${CMAKE_C_COMPILER} -print-file-name=libobjc.so
    OUTPUT_VARIABLE LIBOBJC OUTPUT_STRIP_TRAILING_WHITESPACE)
  set(ROUSE_OBJC_LIBS ${GNUSTEP_BASE} ${LIBOBJC})
  if(CMAKE_C_COMPILER_ID MATCHES "Clang")
    # The runtime is gcc's, and its headers are among gcc's own, which clang must not see.
    execute_process(COMMAND gcc -print-file-name=include
      OUTPUT_VARIABLE headers OUTPUT_STRIP_TRAILING_WHITESPACE)
    file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/gcc-objc)
    file(CREATE_LINK ${headers}/objc ${PROJECT_BINARY_DIR}/gcc-objc/objc SYMBOLIC)
    list(APPEND ROUSE_OBJC_FLAGS -fobjc-runtime=gcc -isystem${PROJECT_BINARY_DIR}/gcc-objc)
  else()
    # gcc has no _Atomic in Objective-C.  <stdatomic.h> does without: its functions are atomic on
    # any type.
    list(APPEND ROUSE_OBJC_FLAGS -D_Atomic=)
  endif()
  set(CMAKE_REQUIRED_DEFINITIONS ${ROUSE_OBJC_FLAGS})
  set(CMAKE_REQUIRED_LIBRARIES ${ROUSE_OBJC_LIBS})
  check_c_source_compiles("#import <Foundation/NSAutoreleasePool.h>
    int main(void) { [[NSAutoreleasePool new] drain]; return 0; }" ROUSE_GNUSTEP)
  if(ROUSE_GNUSTEP AND GNUSTEP_GUI)
    list(APPEND CMAKE_REQUIRED_LIBRARIES ${GNUSTEP_GUI})
    check_c_source_compiles("#import <AppKit/AppKit.h>
      int main(void) { return [NSApp isRunning]; }" ROUSE_GNUSTEP_GUI)
  endif()
  unset(CMAKE_REQUIRED_DEFINITIONS)
  unset(CMAKE_REQUIRED_LIBRARIES)
endif()

# All sources of a target, in its own folder or another one, as Objective-C.
function(rouse_objc target)
  get_target_property(sources ${target} SOURCES)
  set_source_files_properties(${sources} PROPERTIES LANGUAGE C)
  target_compile_options(${target} PRIVATE ${ROUSE_OBJC_FLAGS})
  target_link_libraries(${target} PRIVATE ${ROUSE_OBJC_LIBS})
endfunction()
