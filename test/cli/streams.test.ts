/** Commands in pipes, without standard input, and on small terminals. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { spawnSync } from "node:child_process"
import { once } from "node:events"
import { afterAll, beforeAll } from "vitest"
import { open } from "../support/Terminal.ts"
import { program, type Serving } from "./support.ts"
import { launch, launchLine } from "./built.ts"

const { dataDir, run, serve, start } = program()

const server: { current: Serving | null; data: string } = { current: null, data: "" }
beforeAll(async () => {
  server.data = dataDir()
  server.current = await serve({ DATA_DIR: server.data })
})
afterAll(async () => {
  await server.current?.stop("SIGTERM")
})

/** Runs a line of the shell in which `gateway` is the program. */
const inShell = (line: string, DATA_DIR: string) => {
  const ended = spawnSync("bash", ["-c", `gateway() { ${launchLine} "$@"; }\nset -o pipefail\n${line}`], {
    encoding: "utf8",
    timeout: 60_000,
    env: { PATH: process.env.PATH, HOME: DATA_DIR, DATA_DIR }
  })
  return { code: ended.status, stdout: ended.stdout, stderr: ended.stderr }
}

describe("with a closed standard input", () => {
  it.each([
    "setup",
    "provider add",
    "provider add openai",
    "provider add openai --api-key-stdin",
    "reset-password",
    "route explain x --body -"
  ])("'%s' ends with a sentence and exit code 2", (words) => {
    for (const redirection of ["<&-", "</dev/null"]) {
      const { code, stderr, stdout } = inShell(`gateway ${words} ${redirection}`, dataDir())
      assert.deepStrictEqual([code, stdout], [2, ""], `${redirection}: ${stderr}`)
      assert.match(stderr, /^gateway: .+[.?]$/m)
      assert.notInclude(stderr, "fault of the program")
    }
  })
})

/** A request that no connection can serve: it is refused, and has its row in the log. */
const ask = async (): Promise<void> => {
  const answer = await fetch(`${server.current?.url ?? ""}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "lonely", messages: [{ role: "user", content: "Hello" }] })
  })
  await answer.text()
}

describe("a reader that goes away", () => {
  it("ends a command quietly", () => {
    const { code, stderr } = inShell("gateway provider available | true", server.data)
    assert.deepStrictEqual([code, stderr], [0, ""])
  })

  it("ends one that goes on, too", async () => {
    const made = await run(["combo", "create", "lonely", "openai/gpt-4o"], { DATA_DIR: server.data })
    assert.strictEqual(made.code, 0, made.stderr)
    const child = start(["logs", "--follow"], { DATA_DIR: server.data })
    const ended = once(child, "exit")
    await ask()
    let shown = ""
    while (!shown.includes("lonely")) shown += String((await once(child.stdout!, "data"))[0])
    child.stdout!.destroy()
    // The next rows find nobody to read them.
    while (child.exitCode === null) await ask()
    assert.deepStrictEqual((await ended)[0], 0)
  })
})

const screenOf = (args: ReadonlyArray<string>, columns: number, env: Readonly<Record<string, string>> = {}) =>
  Effect.gen(function* () {
    const terminal = yield* open([...launch, ...args], {
      cwd: server.data,
      columns,
      env: { PATH: process.env.PATH ?? "", HOME: server.data, DATA_DIR: server.data, ...env }
    })
    const code = yield* terminal.ended
    return { code, screen: terminal.screen() }
  })

describe("on a terminal", () => {
  it.scopedLive("help and tables fit 40 columns", () =>
    Effect.gen(function* () {
      const made = yield* Effect.promise(() =>
        run(["combo", "create", "fast", "openai/gpt-4o", "groq/llama-3.3-70b-versatile"], { DATA_DIR: server.data })
      )
      assert.strictEqual(made.code, 0, made.stderr)
      const listed = yield* screenOf(["combo", "list"], 40)
      assert.strictEqual(listed.code, 0)
      const lines = listed.screen.split("\n")
      assert.match(lines[0] ?? "", /^NAME +.*ID$/)
      assert.match(lines[1] ?? "", /^fast +.*[0-9a-f-]{8,}$/)
      for (const line of lines) assert.isAtMost(line.length, 40)
      const help = yield* screenOf(["help", "key", "list"], 40)
      for (const line of help.screen.split("\n")) assert.isAtMost(line.length, 40)
    })
  )

  it("help is in bold there, and plain in pipes and with NO_COLOR", () => {
    const onTerminal = (env: Readonly<Record<string, string>>): string =>
      spawnSync("python3", ["-c", "import pty, sys; pty.spawn(sys.argv[1:])", ...launch, "help"], {
        encoding: "utf8",
        env: { PATH: process.env.PATH, DATA_DIR: server.data, ...env }
      }).stdout
    assert.include(onTerminal({}), "\u001b[1m")
    assert.notInclude(onTerminal({ NO_COLOR: "1" }), "\u001b")
    assert.notInclude(inShell("gateway help", server.data).stdout, "\u001b")
  })
})
