# Files as constants of a program, so that it needs no folder beside it.
#
#   include(cmake/embed.cmake)
#   esi_embed(TARGET FOLDER HEADER NAMESPACE ENDING...)
#
# adds to TARGET a source file, made when a file of FOLDER changes, that defines `NAMESPACE::files()` as HEADER declares
# it: each file of FOLDER with one of these endings (html, yaml), sorted by name, with its bytes and the SHA-256 of them
# (common/base/embedded_file.h). Which media type a file has is told by those who serve it. The same file is the script
# that writes that source.
function(esi_embed target folder header namespace)
    set(patterns)
    foreach(ending ${ARGN})
        list(APPEND patterns ${folder}/*.${ending})
    endforeach()
    file(GLOB files CONFIGURE_DEPENDS ${patterns})
    get_filename_component(name ${folder} NAME)
    set(output ${CMAKE_CURRENT_BINARY_DIR}/embedded/${target}-${name}.cpp)
    list(JOIN ARGN "," endings)
    add_custom_command(OUTPUT ${output}
        COMMAND ${CMAKE_COMMAND} -D FOLDER=${folder} -D ENDINGS=${endings} -D HEADER=${header}
                -D NAMESPACE=${namespace} -D OUTPUT=${output} -P ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
        DEPENDS ${files} ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
        VERBATIM)
    target_sources(${target} PRIVATE ${output})
endfunction()

if(NOT CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
    return()
endif()

set(patterns)
string(REPLACE "," ";" endings "${ENDINGS}")
foreach(ending ${endings})
    list(APPEND patterns ${FOLDER}/*.${ending})
endforeach()
file(GLOB files ${patterns})
list(SORT files)
set(constants)
set(table)
set(number 0)
foreach(path ${files})
    get_filename_component(name ${path} NAME)
    file(READ ${path} bytes HEX)
    file(SHA256 ${path} digest)
    string(LENGTH "${bytes}" digits)
    math(EXPR size "${digits} / 2")
    # A compiler need not take a literal of more than 65,536 characters.
    if(size GREATER 60000)
        message(FATAL_ERROR "${path} has ${size} bytes; a file that is embedded has 60,000 at most")
    endif()
    string(REGEX REPLACE "(................................................)" "\\1\"\n    \"" bytes "${bytes}")
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "\\\\x\\1" bytes "${bytes}")
    string(APPEND constants "constexpr char file_${number}[] =\n    \"${bytes}\";\n")
    string(APPEND table "    {\"${name}\", {file_${number}, ${size}},\n     \"${digest}\"},\n")
    math(EXPR number "${number} + 1")
endforeach()
file(WRITE ${OUTPUT} "// Made by cmake/embed.cmake of the files in a folder of the sources.
#include \"${HEADER}\"

namespace ${NAMESPACE} {

namespace {

${constants}
constexpr embedded_file all[] = {
${table}};

}  // namespace

std::span<const embedded_file> files() { return all; }

}  // namespace ${NAMESPACE}
")
