# Makes of the list what gperf reads: each name with its place.
BEGIN { FS = "\""; print "struct name { const char *text; int id; };\n%%" }
NF == 3 { print $2 ", " count++ }
