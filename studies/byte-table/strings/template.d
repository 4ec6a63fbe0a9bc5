/// D: a template puts constants together; an ordinary function would do as well, but its code would
/// stay in the object.
module strings_in_d;

private template row(texts...)
{
    static if (texts.length == 0)
        enum row = "";
    else
        enum row = texts[0] ~ "\0" ~ row!(texts[1 .. $]);
}

private enum first = row!("foo", "foobar", "strings at compile time");
private enum second = row!("one", "two", "one block, five strings", "", "!");

extern (C):
immutable char[first.length] strings = first;
immutable char[second.length] more_strings = second;
