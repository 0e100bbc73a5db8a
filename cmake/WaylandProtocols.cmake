# rouse_wayland_protocol(TARGET NAME): TARGET is compiled with the client side of a protocol of
# wayland-protocols (NAME as it is filed there: stable/xdg-shell/xdg-shell), generated once for all
# of this build.  For tests, examples and the tool: rouse-wayland itself needs no protocol.
# ROUSE_WAYLAND_PROTOCOLS says whether that can be done here.
set(ROUSE_WAYLAND_PROTOCOLS FALSE)
if(NOT ROUSE_WAYLAND OR NOT (ROUSE_TESTS OR ROUSE_EXAMPLES OR ROUSE_TOOL))
  return()
endif()
pkg_get_variable(ROUSE_WAYLAND_XML wayland-protocols pkgdatadir)
pkg_get_variable(scanner wayland-scanner wayland_scanner)
find_program(ROUSE_WAYLAND_SCANNER wayland-scanner HINTS ${scanner})
if(ROUSE_WAYLAND_XML AND ROUSE_WAYLAND_SCANNER)
  set(ROUSE_WAYLAND_PROTOCOLS TRUE)
else()
  message(STATUS "Without wayland-protocols and wayland-scanner nothing opens a window on Wayland")
endif()

function(rouse_wayland_protocol target name)
  get_filename_component(base ${name} NAME)
  string(MAKE_C_IDENTIFIER rouse_protocol_${base} library)
  if(NOT TARGET ${library})
    set(xml ${ROUSE_WAYLAND_XML}/${name}.xml)
    set(folder ${PROJECT_BINARY_DIR}/protocols)
    set(code ${folder}/${base}-protocol.c)
    set(header ${folder}/${base}-client-protocol.h)
    file(MAKE_DIRECTORY ${folder})
    add_custom_command(OUTPUT ${code} ${header}
      COMMAND ${ROUSE_WAYLAND_SCANNER} private-code ${xml} ${code}
      COMMAND ${ROUSE_WAYLAND_SCANNER} client-header ${xml} ${header}
      DEPENDS ${xml} VERBATIM)
    add_library(${library} STATIC ${code} ${header})
    target_include_directories(${library} SYSTEM INTERFACE ${folder})
    target_link_libraries(${library} PUBLIC PkgConfig::WAYLAND)
    set_target_properties(${library} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  endif()
  target_link_libraries(${target} PRIVATE ${library})
endfunction()
