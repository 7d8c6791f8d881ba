/** Building the program into a folder of its own, and running it as a person would. */
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { afterAll, beforeAll } from "vitest"
import { build, builtFolder, nodeFlags } from "./built.ts"

export const project = fileURLToPath(new URL("../..", import.meta.url))

export interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface Serving {
  readonly url: string
  readonly process: ChildProcess
  /** Ends the process and waits until it is gone; gives its exit code, null after SIGKILL. */
  readonly stop: (signal: "SIGTERM" | "SIGKILL") => Promise<number | null>
}

export type Environment = Readonly<Record<string, string>>

const text = async (stream: NodeJS.ReadableStream): Promise<string> => {
  let all = ""
  for await (const part of stream) all += String(part)
  return all
}

/** A port without a listener now. */
export const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  server.close()
  await once(server, "close")
  return typeof address === "object" && address !== null ? address.port : 0
}

/** Runs the built program with something on standard input. */
export const piped = async (
  main: string,
  args: ReadonlyArray<string>,
  environment: Environment,
  input: string
): Promise<Pick<Ended, "code" | "stderr">> => {
  const child = spawn(process.execPath, [...nodeFlags, main, ...args], {
    env: environment,
    stdio: ["pipe", "ignore", "pipe"]
  })
  const exit = once(child, "close")
  child.stdin.end(input)
  const stderr = await text(child.stderr)
  const [code] = await exit
  return { code, stderr }
}

/** The same with what it wrote, as bytes; `input` null leaves standard input open. */
export const fed = async (
  main: string,
  args: ReadonlyArray<string>,
  environment: Environment,
  input: string | Buffer | null,
  cwd = project
): Promise<{ readonly code: number | null; readonly stdout: Buffer; readonly stderr: string }> => {
  const child = spawn(process.execPath, [...nodeFlags, main, ...args], { env: environment, cwd })
  const exit = once(child, "close")
  const parts: Array<Buffer> = []
  child.stdout.on("data", (part: Buffer) => void parts.push(part))
  if (input !== null) child.stdin.end(input)
  const stderr = await text(child.stderr)
  const [code] = await exit
  return { code, stdout: Buffer.concat(parts), stderr }
}

/** Has the program built before the tests of a file; gives functions that run it with a clean environment. */
export const program = (folder = builtFolder) => {
  const main = join(folder, "main.cjs")
  const folders: Array<string> = []
  const started = new Set<ChildProcess>()

  // A machine that is busy takes longer than the usual limit.
  beforeAll(build, 300_000)
  afterAll(async () => {
    for (const child of started) {
      if (child.exitCode !== null || child.signalCode !== null) continue
      child.kill("SIGKILL")
      await once(child, "exit")
    }
    for (const folder of folders) rmSync(folder, { recursive: true, force: true })
  })

  const start = (args: ReadonlyArray<string>, environment: Environment): ChildProcess => {
    const child = spawn(process.execPath, [...nodeFlags, main, ...args], {
      env: { PATH: process.env.PATH, HOME: environment.DATA_DIR ?? tmpdir(), ...environment },
      stdio: ["ignore", "pipe", "pipe"]
    })
    started.add(child)
    return child
  }

  return {
    /** The built entry. */
    main,
    /** A new, empty data folder. */
    dataDir: (): string => {
      const folder = mkdtempSync(join(tmpdir(), "gateway-cli-"))
      folders.push(folder)
      return folder
    },
    start,
    run: async (args: ReadonlyArray<string>, environment: Environment): Promise<Ended> => {
      const child = start(args, environment)
      const exit = once(child, "exit")
      const [stdout, stderr] = await Promise.all([text(child.stdout!), text(child.stderr!)])
      const [code] = await exit
      return { code, stdout, stderr }
    },
    serve: async (environment: Environment, ...flags: ReadonlyArray<string>): Promise<Serving> => {
      const child = start(["serve", "--port", "0", "--no-open", ...flags], environment)
      const errors = text(child.stderr!)
      for await (const line of createInterface({ input: child.stdout! })) {
        const url = /^Gateway listening on (http:\S+)$/.exec(line)?.[1]
        if (url === undefined) continue
        return {
          url,
          process: child,
          stop: async (signal) => {
            // One that has ended by itself says so, instead of being waited for.
            if (child.exitCode !== null || child.signalCode !== null) return child.exitCode
            const exit = once(child, "exit")
            child.kill(signal)
            const [code] = await exit
            return code
          }
        }
      }
      throw new Error(`The gateway did not start: ${await errors}`)
    }
  }
}
