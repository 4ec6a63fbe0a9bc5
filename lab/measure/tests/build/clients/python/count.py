import tiebreak


class Count:
    def __init__(self, data, workload):
        self.drifts = workload.name == "drift"
        self.words = data.decode().split()
        self.runs = 0

    def run(self):
        print("printed")
        self.runs += 1
        self.counts = {}
        for word in self.words:
            self.counts[word] = self.counts.get(word, 0) + 1
        return self.runs if self.drifts else len(self.counts)

    def reset(self):
        self.counts = {}

    def dump(self):
        return "".join("%s %d\n" % pair for pair in sorted(self.counts.items()))


tiebreak.serve(Count)
