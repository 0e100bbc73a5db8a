# Shared by the toolchain files of one processor each.
set(CMAKE_SYSTEM_NAME Windows)
string(REGEX REPLACE "-.*" "" CMAKE_SYSTEM_PROCESSOR ${ROUSE_MINGW})

# Any compiler that makes programs for Windows: a command, with arguments if it needs some.
# -DROUSE_MINGW_CC="zig;cc;-target;aarch64-windows-gnu".
set(ROUSE_MINGW_CC "" CACHE STRING "The C compiler for Windows; empty: mingw-w64's")
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES ROUSE_MINGW_CC)
if(ROUSE_MINGW_CC)
  list(GET ROUSE_MINGW_CC 0 command)
  find_program(ROUSE_MINGW_COMMAND NAMES ${command})
  set(CMAKE_C_COMPILER ${ROUSE_MINGW_CC})
  if(ROUSE_MINGW_COMMAND)
    list(REMOVE_AT CMAKE_C_COMPILER 0)
    list(INSERT CMAKE_C_COMPILER 0 ${ROUSE_MINGW_COMMAND})
  endif()
else()
  # Debian has each compiler twice, for two thread models; elsewhere there may be one without a model
  # in its name.
  foreach(language C CXX)
    set(name gcc)
    if(language STREQUAL "CXX")
      set(name g++)
    endif()
    find_program(ROUSE_MINGW_${language} NAMES ${ROUSE_MINGW}-${name}-win32 ${ROUSE_MINGW}-${name})
    if(ROUSE_MINGW_${language})
      set(CMAKE_${language}_COMPILER ${ROUSE_MINGW_${language}})
    endif()
  endforeach()
endif()
# CMake wants one to be there; nothing here has resources.
find_program(ROUSE_MINGW_RC NAMES ${ROUSE_MINGW}-windres windres llvm-windres)
set(CMAKE_RC_COMPILER ${CMAKE_COMMAND})
if(ROUSE_MINGW_RC)
  set(CMAKE_RC_COMPILER ${ROUSE_MINGW_RC})
endif()

set(CMAKE_FIND_ROOT_PATH /usr/${ROUSE_MINGW})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)

if(ROUSE_MINGW STREQUAL "x86_64-w64-mingw32")
  set(CMAKE_CROSSCOMPILING_EMULATOR ${CMAKE_CURRENT_LIST_DIR}/../scripts/wine.sh)
endif()
