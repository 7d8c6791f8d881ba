/** Runs a command in a process group of its own, and ends the whole group with it. */
import { spawn } from "node:child_process"

export interface Ran {
  /** Null when the time was over. */
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
  readonly ms: number
}

export interface Command {
  readonly file: string
  readonly args: ReadonlyArray<string>
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  readonly limitMs: number
}

/** Only ever a group that was started here. */
const endGroup = (pid: number): void => {
  try {
    process.kill(-pid, "SIGKILL")
  } catch {
    // No process of the group is left.
  }
}

export const run = ({ args, cwd, env, file, limitMs }: Command): Promise<Ran> =>
  new Promise((resolve, reject) => {
    const startedAt = performance.now()
    const child = spawn(file, args, { cwd, env, detached: true, stdio: ["ignore", "pipe", "pipe"] })
    let stdout = ""
    let stderr = ""
    let late = false
    child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text))
    child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text))
    const timer = setTimeout(() => {
      late = true
      if (child.pid !== undefined) endGroup(child.pid)
    }, limitMs)
    child.on("error", reject)
    // Helpers an agent leaves behind hold its pipes open: they go when it goes.
    child.on("exit", () => {
      if (child.pid !== undefined) endGroup(child.pid)
    })
    child.on("close", (code) => {
      clearTimeout(timer)
      resolve({ code: late ? null : code, stdout, stderr, ms: Math.round(performance.now() - startedAt) })
    })
  })
