"""A loop whose length an environment variable makes longer, by so many thousandths."""

import os

import tiebreak

STEPS = 5000 * (1000 + int(os.environ.get("MORE_PER_MILLE", "0"))) // 1000


class Steps:
    """The contestant: however long it takes, it says the same."""

    def __init__(self, data, workload):
        self.x = 1

    def run(self):
        x = self.x
        for _ in range(STEPS):
            x = (x * 6364136223846793005 + 1442695040888963407) & 0xFFFFFFFFFFFFFFFF
        self.x = x
        return 1

    def dump(self):
        return "done"


tiebreak.serve(Steps)
