"""Runs a program on a pseudo-terminal: what it writes comes out of stdout, what comes in on stdin is typed. Exits as the program does.

Usage: python3 terminal.py <columns> <rows> <program> [argument...]
"""

import fcntl
import os
import pty
import select
import struct
import sys
import termios

columns, rows = int(sys.argv[1]), int(sys.argv[2])
child, terminal = pty.fork()
if child == 0:
    fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    os.execvp(sys.argv[3], sys.argv[3:])

keyboard = [0]
while True:
    ready, _, _ = select.select([terminal, *keyboard], [], [])
    if terminal in ready:
        try:
            shown = os.read(terminal, 65536)
        except OSError:
            shown = b""
        if not shown:
            break
        os.write(1, shown)
    if 0 in ready:
        typed = os.read(0, 65536)
        if typed:
            os.write(terminal, typed)
        else:
            keyboard = []

_, status = os.waitpid(child, 0)
sys.exit(os.waitstatus_to_exitcode(status) & 255)
