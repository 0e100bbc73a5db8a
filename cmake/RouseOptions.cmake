# What to build.  A project that includes this one (FetchContent) gets the libraries alone.
if(CMAKE_SOURCE_DIR STREQUAL PROJECT_SOURCE_DIR)
  set(ROUSE_TOP_LEVEL ON)
else()
  set(ROUSE_TOP_LEVEL OFF)
endif()

# Included, rouse builds what the including project builds.
if(ROUSE_TOP_LEVEL)
  option(BUILD_SHARED_LIBS "Build shared libraries" ON)
endif()
option(ROUSE_WERROR "Warnings are errors (for rouse's own presets)" OFF)
option(ROUSE_TOOL "Build the command rouse (needs jansson)" ${ROUSE_TOP_LEVEL})
option(ROUSE_EXAMPLES "Build the examples" ${ROUSE_TOP_LEVEL})
option(ROUSE_TESTS "Build the tests (needs cmocka)" ${ROUSE_TOP_LEVEL})

find_package(Threads REQUIRED)
find_package(PkgConfig QUIET)
if(PkgConfig_FOUND)
  pkg_check_modules(X11 IMPORTED_TARGET x11>=1.7 x11-xcb xcb>=1.14)
endif()
if(X11_FOUND)
  option(ROUSE_X11 "Build rouse-x11 (needs Xlib 1.7, XCB 1.14)" ON)
else()
  option(ROUSE_X11 "Build rouse-x11 (needs Xlib 1.7, XCB 1.14)" OFF)
endif()
if(ROUSE_X11 AND NOT X11_FOUND)
  message(FATAL_ERROR "ROUSE_X11 needs pkg-config and the packages x11 >= 1.7, x11-xcb, xcb >= 1.14")
endif()

# Language and warnings of every target of ours.
function(rouse_target target)
  set_target_properties(${target} PROPERTIES
    C_STANDARD 11 C_STANDARD_REQUIRED ON C_EXTENSIONS OFF C_VISIBILITY_PRESET hidden)
  if(CMAKE_C_COMPILER_ID MATCHES "GNU|Clang")
    target_compile_options(${target} PRIVATE
      -Wall -Wextra -Wconversion -Wshadow -Wstrict-prototypes $<$<BOOL:${ROUSE_WERROR}>:-Werror>)
  endif()
endfunction()
