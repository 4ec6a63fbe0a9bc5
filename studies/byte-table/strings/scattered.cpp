// The control: pointers to strings that lie where the compiler likes. The check must refuse it.
extern "C" {
extern const char *const strings[] = {"foo", "foobar", "strings at compile time"};
extern const char *const more_strings[] = {"one", "two", "one block, five strings", "", "!"};
}
