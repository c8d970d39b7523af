# Fails where what PROGRAM prints with ARGUMENT is not what stands in FILE.
#   cmake -DPROGRAM=... -DARGUMENT=... -DFILE=... -P same_output.cmake
execute_process(COMMAND ${PROGRAM} ${ARGUMENT} OUTPUT_VARIABLE printed RESULT_VARIABLE code)
if(NOT code EQUAL 0)
    message(FATAL_ERROR "${PROGRAM} ${ARGUMENT} ended with ${code}")
endif()
file(READ ${FILE} kept)
if(NOT printed STREQUAL kept)
    message(FATAL_ERROR "${FILE} is not what the program prints: ${PROGRAM} ${ARGUMENT} > ${FILE}")
endif()
