#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""init-terminal.py WRAPPER PROGRAM: runs "WRAPPER --init PROGRAM" in terminals, as somebody at the keyboard would, and
prints "NAME: as expected" for each thing that happened as it should, or what was seen in its place."""
import os
import pty
import select
import signal
import sys
import time

WRAPPER, PROGRAM = sys.argv[1:]
INIT = WRAPPER + " --init "


class Terminal:
    """A command in a terminal of its own, of which it is the session leader."""

    def __init__(self, *command):
        self.seen = ""
        self.process, self.fd = pty.fork()
        if self.process == 0:
            signal.signal(signal.SIGPIPE, signal.SIG_DFL)
            os.environ["PS1"] = "prompt> "
            os.execvp(command[0], command)

    def type(self, text):
        os.write(self.fd, text.encode())

    def read(self, seconds):
        """Takes in what comes next. False at the end."""
        if not select.select([self.fd], [], [], seconds)[0]:
            return True
        try:
            data = os.read(self.fd, 4096)
        except OSError:
            return False
        self.seen += data.decode(errors="replace").replace("\r", "")
        return bool(data)

    def expect(self, text, seconds=10):
        """Waits for TEXT and forgets all up to its end."""
        end = time.monotonic() + seconds
        while text not in self.seen:
            if time.monotonic() > end or not self.read(0.1):
                raise AssertionError(f"no {text!r} in {self.seen!r}")
        before, self.seen = self.seen.split(text, 1)
        return before

    def quiet(self, seconds):
        """What was seen until nothing had come for so long."""
        while True:
            before = self.seen
            self.read(seconds)
            if self.seen == before:
                self.seen = ""
                return before

    def hang_up(self):
        if self.fd >= 0:
            os.close(self.fd)
        self.fd = -1

    def end(self, seconds=10):
        """Waits for the end of the command. Returns its exit status; -N for a signal."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if self.fd >= 0:
                self.read(0)
            process, status = os.waitpid(self.process, os.WNOHANG)
            if process:
                self.process = 0
                return os.waitstatus_to_exitcode(status)
            time.sleep(0.02)
        raise AssertionError(f"does not end; {self.seen!r}")

    def close(self):
        self.hang_up()
        if self.process:
            os.kill(self.process, signal.SIGKILL)
            os.waitpid(self.process, 0)


def shell():
    terminal = Terminal("bash", "--norc", "--noprofile", "--noediting", "-i")
    terminal.expect("prompt> ")
    return terminal


def start(terminal, command):
    """Types COMMAND, and waits for the process id that it prints."""
    terminal.type(command + "\n")
    terminal.expect(command)
    terminal.expect("\n")
    number = terminal.expect("\n").strip()
    assert number.isdigit(), f"expected a number, got {number!r}"
    return int(number)


def expect_equal(got, expected):
    assert got == expected, f"got {got!r}, expected {expected!r}"


def reading(terminal):
    start(terminal, INIT + PROGRAM + " echo")
    terminal.type("hello\n")
    terminal.expect("got hello")
    terminal.type("\x04")
    terminal.expect("prompt> ")


def leading(terminal):
    terminal.expect("\n")
    terminal.type("hello\n")
    terminal.expect("got hello")
    terminal.type("\x03")
    expect_equal(terminal.end(), 130)


def no_shell(terminal):
    """Nobody could continue it: the kernel then lets no Ctrl-Z stop a program (credentials(7), orphaned process groups)."""
    terminal.expect("\n")
    for word in ("once", "twice"):
        terminal.type("\x1a")
        time.sleep(0.3)
        terminal.type(word + "\n")
        terminal.expect("got " + word)
    terminal.type("\x04")
    expect_equal(terminal.end(), 0)


def counting(terminal, key, number):
    start(terminal, INIT + PROGRAM + " signals")
    terminal.type(key)
    time.sleep(0.3)
    terminal.quiet(0.1)
    terminal.type("\n")
    terminal.expect(f"{number}:1\n")
    terminal.type("\x04")
    terminal.expect("prompt> ")


def ctrl_c(terminal):
    start(terminal, INIT + PROGRAM + " echo")
    terminal.type("\x03")
    terminal.expect("prompt> ")
    terminal.type("echo status=$?\n")
    terminal.expect("status=130\n")


def ctrl_c_counted(terminal):
    counting(terminal, "\x03", int(signal.SIGINT))


def ctrl_backslash_counted(terminal):
    counting(terminal, "\x1c", int(signal.SIGQUIT))


def ctrl_z(terminal):
    start(terminal, INIT + PROGRAM + " echo")
    for word in ("once", "twice", "three times"):
        terminal.type("\x1a")
        terminal.expect("Stopped")
        terminal.expect("prompt> ")
        terminal.type("fg\n")
        terminal.expect("echo\n")
        terminal.type(word + "\n")
        terminal.expect("got " + word)
    terminal.type("\x03")
    terminal.expect("prompt> ")


def ctrl_z_of_a_group(terminal):
    terminal.type(INIT + PROGRAM + " pair\n")
    terminal.expect("tick\n")
    terminal.type("\x1a")
    terminal.expect("Stopped")
    terminal.expect("prompt> ")
    assert "tick" not in terminal.quiet(0.3), "not all have stopped"
    terminal.type("fg\n")
    terminal.expect("tick\n")
    terminal.type("\x04")
    terminal.expect("end\n")
    terminal.expect("prompt> ")


def ctrl_z_counted(terminal):
    counting(terminal, "\x1a", int(signal.SIGTSTP))


def background(terminal):
    terminal.type(INIT + PROGRAM + " echo &\n")
    terminal.expect("prompt> ")
    terminal.type("echo still $((1 + 1))\n")
    terminal.expect("still 2\n")
    terminal.quiet(0.3)
    terminal.type("\njobs\n")
    terminal.expect("Stopped")
    terminal.type("fg\n")
    terminal.expect("echo\n")
    terminal.type("hello\n")
    terminal.expect("got hello")
    terminal.type("\x04")
    terminal.expect("prompt> ")


def afterwards(terminal):
    terminal.type(f"sh -c '{INIT} true; read -r line; echo after $line'\n")
    terminal.expect("\n")
    terminal.type("hello\n")
    terminal.expect("after hello\n", 5)


def other_input(terminal):
    terminal.type(f"echo | {INIT} sh -c 'read -r line </dev/tty; echo terminal says $line'\n")
    terminal.expect("\n")
    terminal.type("hello\n")
    terminal.expect("terminal says hello\n", 5)


def pipeline(terminal):
    terminal.type(INIT + "cat | cat\n")
    terminal.expect("\n")
    terminal.type("hello\n")
    terminal.expect("hello\nhello\n")
    terminal.type("\x03")
    terminal.expect("prompt> ")


def hang_up(terminal):
    path = f"hang-up.{os.getpid()}"
    start(terminal, f"{INIT} sh -c 'trap \"echo hang-up >>{path}; exit\" HUP; echo $$; while :; do sleep 0.1; done'")
    terminal.hang_up()
    end = time.monotonic() + 10
    while not os.path.exists(path) and time.monotonic() < end:
        time.sleep(0.05)
    time.sleep(0.2)
    with open(path, encoding="ascii") as file:
        # Both the kernel and the shell tell of it.
        expect_equal(set(file.read().split()), {"hang-up"})


def as_program(*arguments):
    return lambda: Terminal(WRAPPER, "--init", *arguments)


def as_first_process(*arguments):
    return lambda: Terminal("unshare", "--pid", "--fork", "--mount-proc", WRAPPER, "--init", *arguments)


SCENES = [
    ("the program reads from the terminal", shell, reading),
    ("session leader", as_program(PROGRAM, "echo"), leading),
    ("Ctrl-Z without a shell", as_program(PROGRAM, "echo"), no_shell),
    ("first process", as_first_process(PROGRAM, "echo"), leading),
    ("Ctrl-C", shell, ctrl_c),
    ("Ctrl-C comes once", shell, ctrl_c_counted),
    ("Ctrl-\\ comes once", shell, ctrl_backslash_counted),
    ("Ctrl-Z and fg", shell, ctrl_z),
    ("Ctrl-Z and fg, a process group", shell, ctrl_z_of_a_group),
    ("Ctrl-Z that is caught comes once", shell, ctrl_z_counted),
    ("in the background", shell, background),
    ("the terminal is given back", shell, afterwards),
    ("standard input is not the terminal", shell, other_input),
    ("Ctrl-C in a pipeline", shell, pipeline),
    ("the terminal hangs up", shell, hang_up),
]


def main():
    for name, make, scene in SCENES:
        terminal = make()
        try:
            scene(terminal)
            print(f"{name}: as expected", flush=True)
        except (AssertionError, OSError) as error:
            print(f"{name}: {error}", flush=True)
        finally:
            terminal.close()


main()
