import tiebreak


class Parts:
    def __init__(self, data, workload):
        self.seed = workload.seed
        self.parts = [lambda: workload.size, lambda: workload.items]

    def dump(self):
        return str(self.seed)


tiebreak.serve(Parts)
