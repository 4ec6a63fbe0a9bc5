# language: de
Funktionalität: Schlüsselwörter
  Keywords of any language of Gherkin do: they never reach tiebreak. The steps are in English.

  Szenario: seq ist schneller als awk
    Angenommen the program "seq" is "seq 20000"
    Und the program "awk" is "awk 'BEGIN { for (i = 1; i <= 20000; i++) print i }'"
    Wenn they are raced for at most 30 s
    Dann "seq" is faster than "awk"
