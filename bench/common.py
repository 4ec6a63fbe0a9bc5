"""What all measurements have in common."""

import os
import platform
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


class Problem(Exception):
    """Something that the user can do something about."""


def machine():
    """What the measurements depend on."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    models = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return {
        "cpu": models[0] if models else platform.machine(),
        "cpus": os.cpu_count(),
        "kernel": ".".join(platform.release().split(".")[:2]),
    }
