"""What the `measure` of all studies has in common: the folder of its tables, and a table as CSV."""

import csv
import os
import sys
from pathlib import Path


def folder_of(words, usage, more=False):
    """Returns the folder that the first word names, which is made if it is not there. Wrong words,
    with `more` only a missing one, and a folder that cannot be written to end with status 64."""
    if not words or words[0].startswith("-") or len(words) > 1 and not more:
        refuse(f"usage: {usage}")
    folder = Path(words[0])
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        refuse(f"measure: '{folder}' can be no folder: {error.strerror}")
    if not os.access(folder, os.W_OK):
        refuse(f"measure: '{folder}' may not be written to")
    return folder


def refuse(sentence):
    print(sentence, file=sys.stderr)
    sys.exit(64)


def write(folder, study, table, rows):
    """Writes FOLDER/STUDY-TABLE.csv, whose first row has the titles."""
    path = folder / f"{study}-{table}.csv"
    with open(path, "w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)
