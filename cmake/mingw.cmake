# Shared by the toolchain files of one processor each.
set(CMAKE_SYSTEM_NAME Windows)
string(REGEX REPLACE "-.*" "" CMAKE_SYSTEM_PROCESSOR ${ROUSE_MINGW})

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
find_program(CMAKE_RC_COMPILER NAMES ${ROUSE_MINGW}-windres)

set(CMAKE_FIND_ROOT_PATH /usr/${ROUSE_MINGW})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)

if(ROUSE_MINGW STREQUAL "x86_64-w64-mingw32")
  set(CMAKE_CROSSCOMPILING_EMULATOR ${CMAKE_CURRENT_LIST_DIR}/../scripts/wine.sh)
endif()
