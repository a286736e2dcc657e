"""Runs a command until the process that started it is gone, which closes its standard input."""

import subprocess
import sys

process = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL)
sys.stdin.read()
process.terminate()
try:
    process.wait(timeout=30)
except subprocess.TimeoutExpired:
    process.kill()
