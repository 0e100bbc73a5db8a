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
option(ROUSE_COVERAGE "Count the lines of src/ that the tests run (gcc)" OFF)
option(ROUSE_FUZZ "Build the libFuzzer target (clang)" OFF)

set(ROUSE_POOL_TLS auto CACHE STRING "How librouse reaches its thread-local variable")
set_property(CACHE ROUSE_POOL_TLS PROPERTY STRINGS auto initial-exec tlsdesc call)
if(NOT ROUSE_POOL_TLS MATCHES "^(auto|initial-exec|tlsdesc|call)$")
  message(FATAL_ERROR "ROUSE_POOL_TLS is auto, initial-exec, tlsdesc or call")
endif()

find_package(Threads REQUIRED)
find_package(PkgConfig QUIET)
# What pkg-config finds here when another system is built for is this one's.
if(PkgConfig_FOUND AND NOT WIN32)
  pkg_check_modules(X11 IMPORTED_TARGET x11>=1.7 x11-xcb xcb>=1.14)
  pkg_check_modules(XCB IMPORTED_TARGET xcb>=1.14)
  pkg_check_modules(WAYLAND IMPORTED_TARGET wayland-client>=1.20)
  pkg_check_modules(GLIB IMPORTED_TARGET glib-2.0>=2.44)
  pkg_check_modules(UV IMPORTED_TARGET libuv>=1.24)
  pkg_check_modules(QT IMPORTED_TARGET Qt6Widgets)
  pkg_check_modules(GLFW IMPORTED_TARGET glfw3>=3.3)
  pkg_check_modules(SDL IMPORTED_TARGET sdl2>=2.0.18)
  # Of tests and examples.
  pkg_check_modules(GL IMPORTED_TARGET gl)
  # XTEST and RECORD: of examples and of `rouse pool`, not of a library.
  pkg_check_modules(XTST IMPORTED_TARGET xtst x11)
endif()

# Built where what it needs is there; asked for where that is not, it says so.
macro(rouse_adapter name found needs)
  string(TOLOWER ${name} adapter)
  if(${found})
    option(ROUSE_${name} "Build rouse-${adapter} (needs ${needs})" ON)
  else()
    option(ROUSE_${name} "Build rouse-${adapter} (needs ${needs})" OFF)
    if(ROUSE_${name})
      message(FATAL_ERROR "ROUSE_${name} needs pkg-config and ${needs}")
    endif()
  endif()
endmacro()
rouse_adapter(X11 X11_FOUND "Xlib 1.7, Xlib-xcb, XCB 1.14")
rouse_adapter(XCB XCB_FOUND "XCB 1.14")
rouse_adapter(WAYLAND WAYLAND_FOUND "libwayland-client 1.20")
rouse_adapter(GLIB GLIB_FOUND "GLib 2.44")
rouse_adapter(UV UV_FOUND "libuv 1.24")
# Each serves whichever of the two its library runs on.
foreach(name GLFW SDL)
  set(${name}_WINDOWS OFF)
  if(${name}_FOUND AND X11_FOUND AND WAYLAND_FOUND)
    set(${name}_WINDOWS ON)
  endif()
endforeach()
rouse_adapter(GLFW GLFW_WINDOWS "GLFW 3.3, and what rouse-x11 and rouse-wayland need")
rouse_adapter(SDL SDL_WINDOWS "SDL 2.0.18, and what rouse-x11 and rouse-wayland need")

# qt.hpp itself needs nothing to be built.
set(shows_qt OFF)
if(QT_FOUND AND (ROUSE_TESTS OR ROUSE_EXAMPLES OR ROUSE_TOOL))
  include(CheckLanguage)
  check_language(CXX)
  if(CMAKE_CXX_COMPILER)
    set(shows_qt ON)
  endif()
endif()
if(shows_qt)
  option(ROUSE_QT "Build what shows rouse/qt.hpp (needs Qt 6)" ON)
else()
  option(ROUSE_QT "Build what shows rouse/qt.hpp (needs Qt 6)" OFF)
endif()
if(ROUSE_QT)
  if(NOT QT_FOUND)
    message(FATAL_ERROR "ROUSE_QT needs pkg-config and the package Qt6Widgets")
  endif()
  # What C is compiled with, sanitizers for one, C++ has to be linked with.
  if(NOT DEFINED CMAKE_CXX_FLAGS)
    set(CMAKE_CXX_FLAGS "${CMAKE_C_FLAGS}" CACHE STRING "Flags of the C++ compiler")
  endif()
  enable_language(CXX)
endif()

# Language and warnings of every target of ours.
function(rouse_target target)
  set_target_properties(${target} PROPERTIES
    C_STANDARD 11 C_STANDARD_REQUIRED ON C_EXTENSIONS OFF C_VISIBILITY_PRESET hidden)
  if(CMAKE_C_COMPILER_ID MATCHES "GNU|Clang")
    target_compile_options(${target} PRIVATE
      -Wall -Wextra -Wconversion -Wshadow $<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes>
      $<$<BOOL:${ROUSE_WERROR}>:-Werror>)
  endif()
endfunction()

# The same for C++, which is Qt's.
function(rouse_cxx_target target)
  set_target_properties(${target} PROPERTIES
    CXX_STANDARD 17 CXX_STANDARD_REQUIRED ON CXX_EXTENSIONS OFF POSITION_INDEPENDENT_CODE ON)
endfunction()
