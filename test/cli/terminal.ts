/** Runs the program in a real pseudo-terminal, by way of python3's pty module, which the build needs python3 for anyway. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"
import { stripVTControlCharacters } from "node:util"
import type { Environment } from "./support.ts"

export interface Step {
  /** What must be on the screen, after what was waited for before. */
  readonly wait: string
  /** What is typed then; `\r` is Enter, `\u0003` Ctrl-C. */
  readonly type: string
}

export interface Shown {
  readonly code: number
  /** All that was written to the terminal, without its control sequences. */
  readonly screen: string
}

const script = fileURLToPath(new URL("terminal.py", import.meta.url))

export const inTerminal = async (
  command: ReadonlyArray<string>,
  environment: Environment,
  steps: ReadonlyArray<Step>,
  columns = 100
): Promise<Shown> => {
  const child = spawn("python3", [script], { stdio: ["pipe", "pipe", "inherit"] })
  const task = {
    command,
    environment: { PATH: process.env["PATH"], TERM: "xterm", HOME: environment["DATA_DIR"], ...environment },
    steps,
    columns,
    rows: 30,
    seconds: 60
  }
  child.stdin.end(JSON.stringify(task))
  let told = ""
  child.stdout.on("data", (chunk) => (told += chunk))
  await once(child, "close")
  const { code, problem, screen } = JSON.parse(told)
  const text = stripVTControlCharacters(screen).replaceAll("\r", "")
  if (problem !== null) throw new Error(`The screen ${problem}\n${text}`)
  return { code, screen: text }
}
