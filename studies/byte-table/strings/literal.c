/* C: neighbouring literals are one literal; only the ends between them have to be written. */
extern const char strings[35], more_strings[35];
const char strings[35] = "foo\0" "foobar\0" "strings at compile time";
const char more_strings[35] = "one\0" "two\0" "one block, five strings\0" "\0" "!";
