/** Real programs, each within its bounds. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { type BoundedProgramOptions, runProgram } from "../../../src/platform/programs/BoundedProgram.ts"
import { startedAt } from "../../../src/platform/programs/ProcessIdentity.ts"
import * as Timers from "../../../src/platform/Timers.ts"
import { eventually } from "../../support/eventually.ts"
import { temporaryFolder } from "../../support/TemporaryFolder.ts"

const options = (text: string, more: Partial<BoundedProgramOptions> = {}): BoundedProgramOptions => ({
  command: process.execPath,
  args: ["-e", text],
  folder: "/",
  environment: {},
  input: "",
  timeoutMs: 30_000,
  outputBytes: 10_000,
  ...more
})
const run = (text: string, more: Partial<BoundedProgramOptions> = {}) => runProgram(Timers.make, options(text, more))

const isAlive = (pid: number): boolean => startedAt(pid) !== null
const ended = (pid: number) =>
  Effect.promise(() =>
    eventually(
      `${pid} has ended`,
      () => isAlive(pid),
      (alive) => !alive
    )
  )

/** Starts a program that lives long, tells its id, and leaves it behind. */
const withChild = (file: string, then: string): string =>
  `const child = require("child_process").spawn(process.execPath, ["-e", "setTimeout(() => {}, 60000)"], { stdio: "inherit" })
   require("fs").writeFileSync(${JSON.stringify(file)}, String(child.pid)); ${then}`

describe("BoundedProgram", () => {
  it.live("gives what a program wrote, and with which code it ended", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const end = yield* run(
        `process.stdin.on("data", (data) => {
          console.log(process.cwd() + " " + data + " " + JSON.stringify(process.env))
          console.error("wrong")
          process.exitCode = 3
        })`,
        { folder, input: "é", environment: { ONLY: "this" } }
      )
      assert.deepStrictEqual(end, {
        code: 3,
        stdout: `${folder} é {"ONLY":"this"}\n`,
        stderr: "wrong\n",
        problem: null
      })
    }).pipe(Effect.scoped)
  )

  it.live("gives arguments as they are: there is no shell", () =>
    Effect.map(
      runProgram(Timers.make, options("", { command: "/bin/echo", args: ["$(id)", "; ls", "a b"] })),
      ({ stdout }) => assert.strictEqual(stdout, "$(id) ; ls a b\n")
    )
  )

  it.live("says what cannot be started, and does not mind input that is not read", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      writeFileSync(join(folder, "plain"), "text")
      const missing = yield* run("", { command: join(folder, "none") })
      assert.deepStrictEqual(missing, { code: null, stdout: "", stderr: "", problem: "is not there" })
      const plain = yield* run("", { command: join(folder, "plain") })
      assert.deepInclude(plain, { code: null, problem: "may not be started" })
      const unread = yield* run("process.exit(0)", { input: "x".repeat(4_000_000) })
      assert.deepInclude(unread, { code: 0, problem: null })
    }).pipe(Effect.scoped)
  )

  it.live("ends a program that takes too long, with what it has started", () =>
    Effect.gen(function* () {
      const file = join(yield* temporaryFolder, "pid")
      const after: (typeof Timers.make)["after"] = (ms, action) => {
        if (ms !== 77) return Timers.make.after(ms, action)
        // Late as soon as its child runs.
        const timer = setInterval(() => {
          if (!existsSync(file) || readFileSync(file, "utf8") === "") return
          clearInterval(timer)
          action()
        }, 5)
        return { cancel: () => clearInterval(timer) } as ReturnType<(typeof Timers.make)["after"]>
      }
      const end = yield* runProgram(
        { after },
        options(withChild(file, "setTimeout(() => {}, 60000)"), { timeoutMs: 77 })
      )
      assert.deepInclude(end, { code: null, problem: "took longer than 77 ms" })
      yield* ended(Number(readFileSync(file, "utf8")))
    }).pipe(Effect.scoped)
  )

  it.live("ends one that prints too much, on either stream", () =>
    Effect.gen(function* () {
      for (const stream of ["stdout", "stderr"] as const) {
        const end = yield* run(`const more = () => { process.${stream}.write("x".repeat(5000), more) }; more()`)
        assert.strictEqual(end.problem, "printed more than 10000 bytes")
        assert.isAtMost(end[stream].length, 10_000)
      }
      const exactly = yield* run('process.stdout.write("x".repeat(10000))')
      assert.deepInclude(exactly, { code: 0, problem: null, stdout: "x".repeat(10_000) })
    })
  )

  it.live("does not wait for what a program has left behind, and ends that", () =>
    Effect.gen(function* () {
      const file = join(yield* temporaryFolder, "pid")
      const end = yield* run(withChild(file, 'child.unref(); console.log("done"); process.exit(0)'))
      assert.deepInclude(end, { code: 0, stdout: "done\n", problem: null })
      yield* ended(Number(readFileSync(file, "utf8")))
    }).pipe(Effect.scoped)
  )

  it.live("ends it when it is interrupted", () =>
    Effect.gen(function* () {
      const file = join(yield* temporaryFolder, "pid")
      const text = `require("fs").writeFileSync(${JSON.stringify(file)}, String(process.pid)); setTimeout(() => {}, 60000)`
      const pid = yield* Effect.raceFirst(
        Effect.as(run(text), 0),
        Effect.promise(() =>
          eventually(
            "the program runs",
            () => (existsSync(file) ? Number(readFileSync(file, "utf8")) : 0),
            (found) => found > 0
          )
        ).pipe(Effect.map(() => Number(readFileSync(file, "utf8"))))
      )
      assert.isAbove(pid, 0)
      yield* ended(pid)
    }).pipe(Effect.scoped)
  )
})
