"""Runs a command, and ends it when whoever started this is gone: its standard input closes then."""

import subprocess
import sys

process = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL)
sys.stdin.read()
process.terminate()
try:
    process.wait(timeout=30)
except subprocess.TimeoutExpired:
    process.kill()
