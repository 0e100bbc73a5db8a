# Windows on 32-bit x86, cross-built by mingw-w64's gcc with the win32 thread model.
set(ROUSE_MINGW i686-w64-mingw32)
include(${CMAKE_CURRENT_LIST_DIR}/mingw.cmake)
