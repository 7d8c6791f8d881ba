/** Redocly's command line, run as a program in a folder of its own. It sends no statistics home. */
import { execFile } from "node:child_process"
import { createRequire } from "node:module"

const program = createRequire(import.meta.url).resolve("@redocly/cli/bin/cli.js")

export interface Output {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

export const run = (folder: string, args: ReadonlyArray<string>): Promise<Output> =>
  new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [program, ...args],
      {
        cwd: folder,
        env: { ...process.env, REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" },
        maxBuffer: 64 * 1_048_576,
        timeout: 90_000
      },
      (_, stdout, stderr) => resolve({ code: child.exitCode ?? -1, stdout, stderr })
    )
  })
