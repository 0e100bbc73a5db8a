# Windows on x86-64, cross-built by mingw-w64's gcc with the win32 thread model.
set(ROUSE_MINGW x86_64-w64-mingw32)
include(${CMAKE_CURRENT_LIST_DIR}/mingw.cmake)
