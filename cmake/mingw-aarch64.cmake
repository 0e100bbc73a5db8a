# Windows on 64-bit ARM, cross-built by whatever compiler ROUSE_MINGW_CC names.
set(ROUSE_MINGW aarch64-w64-mingw32)
include(${CMAKE_CURRENT_LIST_DIR}/mingw.cmake)
