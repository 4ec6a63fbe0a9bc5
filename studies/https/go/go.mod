module tiebreak/https

go 1.19
