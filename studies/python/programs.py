"""Ten small programs of different nature, and the suite of all ten.

Each is a function without arguments that does a fixed piece of work and returns its answer, which
is the same on every interpreter: integers, or floats that are rounded to nine digits. Nothing is
imported but the client and zlib's CRC, which makes the checksum.

    python3 programs.py --answers       prints the answer of each
"""

import sys
from zlib import crc32


def calls():
    """Recursion: doubly recursive Fibonacci numbers."""

    def fibonacci(n):
        return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)

    return fibonacci(20)


def floats():
    """Arithmetic on floats in lists: five bodies under gravity, leapfrog steps."""
    bodies = [
        [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 39.5],
        [4.8, -1.2, -0.1, 0.6, 2.8, -0.03, 0.04],
        [8.3, 4.1, -0.4, -1.0, 1.8, 0.008, 0.011],
        [12.9, -15.1, -0.2, 1.1, 0.9, -0.01, 0.0017],
        [15.4, -25.9, 0.2, 1.0, 0.6, -0.03, 0.002],
    ]
    pairs = [(a, b) for i, a in enumerate(bodies) for b in bodies[i + 1:]]
    step = 0.01
    for _ in range(400):
        for a, b in pairs:
            dx, dy, dz = a[0] - b[0], a[1] - b[1], a[2] - b[2]
            square = dx * dx + dy * dy + dz * dz
            pull = step / (square * square ** 0.5)
            pull_a, pull_b = b[6] * pull, a[6] * pull
            a[3] -= dx * pull_a
            a[4] -= dy * pull_a
            a[5] -= dz * pull_a
            b[3] += dx * pull_b
            b[4] += dy * pull_b
            b[5] += dz * pull_b
        for body in bodies:
            body[0] += step * body[3]
            body[1] += step * body[4]
            body[2] += step * body[5]
    return "%.9f" % sum(body[0] + body[1] + body[2] for body in bodies)


class Account:
    """A customer of the bank in `objects`."""

    def __init__(self, number, balance):
        self.number = number
        self.balance = balance
        self.history = 0

    def withdraw(self, amount):
        if amount > self.balance:
            return False
        self.balance -= amount
        self.note(-amount)
        return True

    def deposit(self, amount):
        self.balance += amount
        self.note(amount)

    def note(self, amount):
        self.history = (self.history * 31 + amount) % 1000003


class Savings(Account):
    """One with interest: a second class, so that method calls have two targets."""

    def deposit(self, amount):
        super().deposit(amount + amount // 50)


def objects():
    """Attributes and method calls: transfers between accounts of two classes."""
    kinds = [Account, Savings, Account]
    accounts = [kinds[i % 3](i, 1000 + i) for i in range(50)]
    state = 7
    for _ in range(5000):
        state = state * 1103515245 + 12345 & 0x7FFFFFFF
        source, target = accounts[state % 50], accounts[state // 50 % 50]
        if source is not target and source.withdraw(state % 97):
            target.deposit(state % 97)
    return sum(account.balance * account.number + account.history for account in accounts)


def generators():
    """Generators that yield from themselves: all ways to place eight queens."""

    def place(row, columns, falling, rising):
        if row == 8:
            yield ()
            return
        for column in range(8):
            if column in columns or row + column in rising or row - column in falling:
                continue
            taken = columns | {column}, falling | {row - column}, rising | {row + column}
            for rest in place(row + 1, *taken):
                yield (column,) + rest

    empty = frozenset()
    ways = list(place(0, empty, empty, empty))
    return "%d %s" % (len(ways), "".join(map(str, ways[46])))


def dictionaries():
    """Counting words in a dictionary, then sorting by count."""
    syllables = ["ka", "lo", "mi", "re", "su", "ta", "vo", "ni"]
    state, counts = 1, {}
    for _ in range(8000):
        state = state * 1103515245 + 12345 & 0x7FFFFFFF
        word = syllables[state >> 8 & 7] + syllables[state >> 12 & 7] + syllables[state >> 16 & 3]
        counts[word] = counts.get(word, 0) + 1
    ranked = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    return "%d %s %d" % (len(ranked), ranked[0][0], ranked[0][1])


def text():
    """Characters of a string one by one: a parser and evaluator of arithmetic."""
    source = "(1+2*(34-5)*6-(7+8)*9)+" * 150 + "10"

    def expression(at):
        value, at = product(at)
        while at < len(source) and source[at] in "+-":
            sign = source[at]
            other, at = product(at + 1)
            value = value + other if sign == "+" else value - other
        return value, at

    def product(at):
        value, at = atom(at)
        while at < len(source) and source[at] == "*":
            other, at = atom(at + 1)
            value *= other
        return value, at

    def atom(at):
        if source[at] == "(":
            value, at = expression(at + 1)
            return value, at + 1
        start = at
        while at < len(source) and source[at].isdigit():
            at += 1
        return int(source[start:at]), at

    return sum(expression(0)[0] for _ in range(3))


def lists():
    """Slices and swaps of small lists: flips of all orders of six pancakes."""
    most, check, permutation, counts, rank = 0, 0, list(range(6)), [0] * 6, 0
    while True:
        stack, flips = permutation[:], 0
        while stack[0]:
            top = stack[0] + 1
            stack[:top] = stack[top - 1::-1]
            flips += 1
        most = max(most, flips)
        check += -flips if rank & 1 else flips
        rank += 1
        at = 1
        while at < 6:
            permutation.insert(at, permutation.pop(0))
            counts[at] += 1
            if counts[at] <= at:
                break
            counts[at] = 0
            at += 1
        else:
            return "%d %d" % (check, most)


def integers():
    """Small integers in a loop: the longest Collatz path below a bound."""
    best, longest = 0, 0
    for start in range(1, 800):
        value, steps = start, 0
        while value != 1:
            value = value >> 1 if value & 1 == 0 else 3 * value + 1
            steps += 1
        if steps > longest:
            best, longest = start, steps
    return "%d %d" % (best, longest)


def big():
    """Integers of many digits: the digits of pi, one by one."""
    digits, q, r, t, k, n, l = [], 1, 0, 1, 1, 3, 3
    while len(digits) < 300:
        if 4 * q + r - t < n * t:
            digits.append(n)
            q, r, n = 10 * q, 10 * (r - n * t), 10 * (3 * q + r) // t - 10 * n
        else:
            step = q * (7 * k + 2) + r * l
            q, r, t, k, n, l = q * k, (2 * q + r) * l, t * l, k + 1, step // (t * l), l + 2
    return "".join(map(str, digits[-9:]))


def exceptions():
    """Exceptions for control: a little machine whose stack runs empty now and then."""
    pushes, pops, empty, stack, state = 0, 0, 0, [], 3
    for _ in range(8000):
        state = state * 1103515245 + 12345 & 0x7FFFFFFF
        try:
            if state >> 16 & 1:
                stack.append(state)
                pushes += 1
            else:
                state ^= stack.pop()
                pops += 1
            if len(stack) > 20:
                raise OverflowError
        except IndexError:
            empty += 1
        except OverflowError:
            stack.clear()
    return "%d %d %d" % (pushes, pops, empty)


PROGRAMS = [
    calls, floats, objects, generators, dictionaries, text, lists, integers, big, exceptions,
]
NAMED = {program.__name__: program for program in PROGRAMS}


def answer(name):
    """The answer of a program; of the suite, a line with name and answer for each."""
    if name == "suite":
        return "\n".join("%s: %s" % (name, program()) for name, program in NAMED.items())
    return str(NAMED[name]())


class Contestant:
    """One program, or for the workload `suite` all ten as parts of equal weight."""

    def __init__(self, _, workload):
        self.name = workload.name
        if self.name == "suite":
            self.parts = [self.checked(program) for program in PROGRAMS]
        else:
            self.run = self.checked(NAMED[self.name])

    @staticmethod
    def checked(program):
        """The program with a checksum of its answer."""

        def run():
            return crc32(str(program()).encode())

        return run

    def dump(self):
        return answer(self.name) + "\n"


if __name__ == "__main__":
    if sys.argv[1:] == ["--answers"]:
        print(answer("suite"))
    else:
        import tiebreak

        tiebreak.serve(Contestant)
