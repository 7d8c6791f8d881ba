/** Shared parts of programs that the gateway starts: a process group of their own, and their end. */
import type { ChildProcess } from "node:child_process"

export const hasGroups = process.platform !== "win32"

/** Signals a child that was started "detached", and what it has started. */
export const signalGroup = (child: ChildProcess, signal: NodeJS.Signals): void => {
  if (child.pid === undefined) return
  try {
    if (hasGroups) process.kill(-child.pid, signal)
    else child.kill(signal)
  } catch {
    // It is gone.
  }
}

/** Goes on from the program's name. */
export const endedWith = (code: number | null, signal: string | null): string =>
  code === null ? `was ended by ${signal ?? "a signal"}` : `ended with ${code}`
