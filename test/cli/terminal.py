"""Runs a program in a pseudo-terminal: waits for words on its screen and types. The task is JSON on standard input, the result JSON on standard output."""
import fcntl, json, os, pty, select, struct, sys, termios, time

task = json.load(sys.stdin)
pid, master = pty.fork()
if pid == 0:
    os.execvpe(task["command"][0], task["command"], task["environment"])
fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", task["rows"], task["columns"], 0, 0))

screen = b""
problem = None


def more(deadline):
    """Reads what came; False at the end of the program's output or of the time."""
    global screen
    if not select.select([master], [], [], max(0, deadline - time.monotonic()))[0]:
        return False
    try:
        part = os.read(master, 65536)
    except OSError:
        return False
    screen += part
    return part != b""


seen = 0
for step in task["steps"]:
    deadline = time.monotonic() + task["seconds"]
    words = step["wait"].encode()
    while screen.find(words, seen) < 0 and problem is None:
        if not more(deadline):
            problem = "never showed: " + step["wait"]
    if problem is not None:
        break
    seen = screen.find(words, seen) + len(words)
    # A prompt shows its words before it reads.
    time.sleep(0.2)
    os.write(master, step["type"].encode())

deadline = time.monotonic() + task["seconds"]
if problem is None:
    while more(deadline):
        pass
else:
    os.kill(pid, 9)
_, status = os.waitpid(pid, 0)
code = os.waitstatus_to_exitcode(status)
json.dump({"code": code, "screen": screen.decode("utf8", "replace"), "problem": problem}, sys.stdout)
