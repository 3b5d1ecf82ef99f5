"""What the conformance tests of front ends share: reference runtimes in processes of their own, and tools."""

import multiprocessing
import subprocess


def answer_of(run, *arguments):
    """What `run(*arguments, pipe)` sends into its pipe from a process of its own, or a text that says why
    there is nothing: what a runtime does not expect may stop it."""
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe()
    process = context.Process(target=run, args=(*arguments, theirs))
    process.start()
    theirs.close()
    try:
        answer = ours.recv() if ours.poll(60) else "took more than a minute"
    except EOFError:
        answer = "ended by a signal"
    process.kill()
    process.join()
    return answer


def run_tool(command):
    """The exit status of a tool, and what it says on stderr."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    return done.returncode, done.stderr.strip()
