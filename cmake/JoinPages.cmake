# cmake -DOUTPUT=page.md -DPAGES=a.md;b.md -P JoinPages.cmake: one page of several, the ones behind the
# first a heading level lower than they were written.
set(text "")
foreach(page ${PAGES})
  file(READ ${page} part)
  # A list would lose semicolons and brackets, so the text stays one string.
  string(REGEX REPLACE "[ \t]+\n" "\n" part "${part}")
  if(text)
    string(APPEND text "\n## Passes\n\n")
  endif()
  string(APPEND text "${part}")
endforeach()
file(WRITE ${OUTPUT} "${text}")
