# Headers, libraries, the tool, pkg-config files and a CMake package: all relocatable, so a
# prefix may be moved, or packed and unpacked elsewhere.  A project that includes this one
# does not install it unless it asks.
option(ROUSE_INSTALL "Add rouse to the install target" ${ROUSE_TOP_LEVEL})
if(NOT ROUSE_INSTALL)
  return()
endif()
include(CMakePackageConfigHelpers)

set(ROUSE_TARGETS rouse)
set(ROUSE_HEADERS rouse null version)
foreach(display x11 xcb)
  string(TOUPPER ${display} upper)
  set(ROUSE_HAS_${upper} FALSE)
  if(TARGET rouse_${display})
    set(ROUSE_HAS_${upper} TRUE)
    list(APPEND ROUSE_TARGETS rouse_${display})
    list(APPEND ROUSE_HEADERS ${display})
    set_target_properties(rouse_${display} PROPERTIES INSTALL_RPATH "$ORIGIN")
  endif()
endforeach()

foreach(header IN LISTS ROUSE_HEADERS)
  install(FILES include/rouse/${header}.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/rouse)
endforeach()
install(TARGETS ${ROUSE_TARGETS} EXPORT rouse
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(TARGET rouse_tool)
  # The tool finds its library beside it, wherever the prefix is.
  file(RELATIVE_PATH to_lib ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
  set_target_properties(rouse_tool PROPERTIES INSTALL_RPATH "$ORIGIN/${to_lib}")
  install(TARGETS rouse_tool RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()

# ---- pkg-config ----
set(pc_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
if(IS_ABSOLUTE ${CMAKE_INSTALL_LIBDIR} OR IS_ABSOLUTE ${CMAKE_INSTALL_INCLUDEDIR})
  set(ROUSE_PC_PREFIX ${CMAKE_INSTALL_PREFIX})
  set(ROUSE_PC_LIBDIR ${CMAKE_INSTALL_FULL_LIBDIR})
  set(ROUSE_PC_INCLUDEDIR ${CMAKE_INSTALL_FULL_INCLUDEDIR})
else()
  file(RELATIVE_PATH up /prefix/${pc_dir} /prefix)
  string(REGEX REPLACE "/$" "" up "${up}")
  set(ROUSE_PC_PREFIX "\${pcfiledir}/${up}")
  set(ROUSE_PC_LIBDIR "\${prefix}/${CMAKE_INSTALL_LIBDIR}")
  set(ROUSE_PC_INCLUDEDIR "\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}")
endif()
# A static library brings what it needs itself, whether or not --static is asked for.
get_target_property(type rouse TYPE)
if(type STREQUAL "STATIC_LIBRARY")
  set(ROUSE_PC_CFLAGS " -DROUSE_STATIC")
  set(ROUSE_PC_LIBS " -pthread")
  set(ROUSE_PC_X11 "Requires: rouse = ${PROJECT_VERSION}, x11, x11-xcb, xcb")
  set(ROUSE_PC_XCB "Requires: rouse = ${PROJECT_VERSION}, xcb")
  set(ROUSE_IS_STATIC TRUE)
else()
  set(ROUSE_PC_CFLAGS "")
  set(ROUSE_PC_LIBS "")
  set(ROUSE_PC_X11 "Requires: rouse = ${PROJECT_VERSION}\nRequires.private: x11, x11-xcb, xcb")
  set(ROUSE_PC_XCB "Requires: rouse = ${PROJECT_VERSION}\nRequires.private: xcb")
  set(ROUSE_IS_STATIC FALSE)
endif()
configure_file(cmake/rouse.pc.in rouse.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/rouse.pc DESTINATION ${pc_dir})
foreach(display x11 xcb)
  if(TARGET rouse_${display})
    configure_file(cmake/rouse-${display}.pc.in rouse-${display}.pc @ONLY)
    install(FILES ${PROJECT_BINARY_DIR}/rouse-${display}.pc DESTINATION ${pc_dir})
  endif()
endforeach()

# ---- find_package(rouse [COMPONENTS x11 xcb]) ----
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/rouse)
configure_package_config_file(cmake/rouseConfig.cmake.in rouseConfig.cmake
  INSTALL_DESTINATION ${package_dir} NO_SET_AND_CHECK_MACRO)
# Before 1.0 a new minor version may change the API.
write_basic_package_version_file(rouseConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/rouseConfig.cmake ${PROJECT_BINARY_DIR}/rouseConfigVersion.cmake
  DESTINATION ${package_dir})
install(EXPORT rouse NAMESPACE rouse:: FILE rouseTargets.cmake DESTINATION ${package_dir})
