/** A program on a terminal of a given size, as a person sees it: keys are typed, and the screen is read. */
import { Terminal as Screen } from "@xterm/headless"
import * as Effect from "effect/Effect"
import type { Scope } from "effect/Scope"
import { spawn } from "node:child_process"
import { fileURLToPath } from "node:url"

export interface Terminal {
  /** Types text; `\r` is the Enter key, `\u0003` Ctrl-C. */
  readonly type: (text: string) => void
  /** The lines of the screen and of what has scrolled off it, without spaces at their ends. */
  readonly screen: () => string
  /** Resolves with the screen as soon as it matches; rejects when the program ends without it. */
  readonly shows: (pattern: RegExp) => Effect.Effect<string>
  /** The same for what comes after the first characters of the screen. */
  readonly showsFrom: (chars: number, pattern: RegExp) => Effect.Effect<string>
  /** Resolves with the exit code when the program has ended. */
  readonly ended: Effect.Effect<number>
}

export interface TerminalOptions {
  readonly env: Readonly<Record<string, string>>
  readonly cwd: string
  readonly columns?: number
  readonly rows?: number
}

const bridge = fileURLToPath(new URL("./terminal.py", import.meta.url))

const textOf = (screen: Screen): string => {
  const buffer = screen.buffer.active
  const lines: Array<string> = []
  for (let row = 0; row < buffer.length; row += 1) {
    const line = buffer.getLine(row)
    if (line === undefined) continue
    const text = line.translateToString(true)
    // A line that was too wide for the screen goes on in the next row.
    if (line.isWrapped) lines.push((lines.pop() ?? "") + text)
    else lines.push(text)
  }
  return lines.join("\n").trimEnd()
}

/** Starts a program. It is killed with the scope when it still runs. */
export const open = (
  argv: readonly [program: string, ...args: ReadonlyArray<string>],
  { columns = 80, cwd, env, rows = 24 }: TerminalOptions
): Effect.Effect<Terminal, never, Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const screen = new Screen({ cols: columns, rows, scrollback: 2_000, allowProposedApi: true })
      const child = spawn("python3", [bridge, String(columns), String(rows), ...argv], {
        cwd,
        env: { TERM: "xterm-256color", ...env },
        stdio: ["pipe", "pipe", "inherit"]
      })
      let code: number | null = null
      const changed = new Set<() => void>()
      const tell = (): void => {
        for (const listener of changed) listener()
      }
      // The terminal answers questions about itself, such as where the cursor is.
      screen.onData((answer) => child.stdin.write(answer))
      child.stdout.on("data", (chunk: Buffer) => screen.write(chunk, tell))
      child.stdin.on("error", () => {})
      child.on("close", (exitCode) => {
        code = exitCode ?? -1
        screen.write("", tell)
      })
      const until = <A>(find: () => A | Error | null): Effect.Effect<A> =>
        Effect.async((resume) => {
          const look = (): void => {
            const found = find()
            if (found === null) return
            changed.delete(look)
            resume(found instanceof Error ? Effect.die(found) : Effect.succeed(found))
          }
          changed.add(look)
          look()
          return Effect.sync(() => changed.delete(look))
        })
      const showsFrom: Terminal["showsFrom"] = (chars, pattern) =>
        until(() => {
          const text = textOf(screen).slice(chars)
          if (pattern.test(text)) return text
          return code === null ? null : new Error(`It ended with ${code} before it showed ${pattern}:\n${text}`)
        })
      const terminal: Terminal = {
        type: (text) => void child.stdin.write(text),
        screen: () => textOf(screen),
        shows: (pattern) => showsFrom(0, pattern),
        showsFrom,
        ended: until(() => code)
      }
      return { terminal, child }
    }),
    ({ child }) => Effect.sync(() => void child.kill("SIGKILL"))
  ).pipe(Effect.map(({ terminal }) => terminal))
