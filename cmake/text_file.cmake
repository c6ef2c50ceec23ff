# cmake -D IN=FILE -D OUT=FILE.cc -D NAME=kName -P text_file.cmake: a C++ constant with the text of a file, in namespace mete.
# Raw literals end at 16 KiB in some compilers, so that the text is one of several that follow each other.
file(READ "${IN}" text)
string(LENGTH "${text}" length)
set(pieces "")
set(at 0)
while(at LESS length)
  string(SUBSTRING "${text}" ${at} 8000 piece)
  string(APPEND pieces "R\"metefile(${piece})metefile\"\n")
  math(EXPR at "${at} + 8000")
endwhile()
file(WRITE "${OUT}" "namespace mete {\nextern const char ${NAME}[];\nconst char ${NAME}[] =\n${pieces};\n}  // namespace mete\n")
