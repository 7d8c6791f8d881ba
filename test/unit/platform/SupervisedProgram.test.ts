import { assert, describe, it } from "@effect/vitest"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FastCheck from "effect/FastCheck"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Scope from "effect/Scope"
import { spawn } from "node:child_process"
import { mkdirSync, readdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { rolldown } from "rolldown"
import { isRunning, processesWith, startedAt } from "../../../src/platform/programs/ProcessIdentity.ts"
import { endLeftovers, markVariable, writeRecord } from "../../../src/platform/programs/ProgramRecords.ts"
import * as SupervisedProgram from "../../../src/platform/programs/SupervisedProgram.ts"
import * as Timers from "../../../src/platform/Timers.ts"
import { eventually } from "../../support/eventually.ts"
import { temporaryFolder } from "../../support/TemporaryFolder.ts"

const environment = { PATH: process.env["PATH"] ?? "" }

const programs = Effect.gen(function* () {
  const folder = yield* temporaryFolder
  const context = yield* Layer.build(
    SupervisedProgram.layer({ recordsFolder: folder }).pipe(Layer.provide(Timers.layer))
  )
  const service = Effect.provide(SupervisedProgram.SupervisedPrograms, context)
  return { folder, service: yield* service }
})

/** Runs a JavaScript text with Node. */
const script = (text: string, more: Partial<SupervisedProgram.ProgramOptions> = {}) => ({
  command: process.execPath,
  args: ["-e", text],
  environment,
  onLine: () => undefined,
  ...more
})

const isAlive = (pid: number): boolean => startedAt(pid) !== null

const gone = (...pids: ReadonlyArray<number>) =>
  Effect.promise(() =>
    eventually(
      "the end of processes",
      () => pids.filter(isAlive),
      (rest) => rest.length === 0
    )
  )

/** A program that starts another one which ignores SIGTERM, and prints both numbers. */
const parent = `
  const { spawn } = require("node:child_process")
  process.on("SIGTERM", () => {})
  const child = spawn(process.execPath, ["-e", "process.on('SIGTERM', () => {}); setInterval(() => {}, 1000)"])
  console.log(process.pid + " " + child.pid)
  setInterval(() => {}, 1000)
`

describe("SupervisedPrograms", () => {
  it.live("passes lines of both outputs, says how the program ended, and leaves no record", () =>
    Effect.gen(function* () {
      const { folder, service } = yield* programs
      const lines: Array<string> = []
      const program = yield* service.start(
        script(
          `console.log("one\\r\\ntwo"); console.error("bad luck"); process.stdout.write("rest"); process.exitCode = 3`,
          {
            onLine: (line, source) => lines.push(`${source} ${line}`)
          }
        )
      )
      const end = yield* program.ended
      assert.deepStrictEqual(end, { code: 3, problem: "ended with 3", lastWords: "bad luck" })
      assert.deepStrictEqual(
        lines.filter((line) => line.startsWith("stdout")),
        ["stdout one", "stdout two", "stdout rest"]
      )
      assert.deepStrictEqual(readdirSync(folder), [])
    }).pipe(Effect.scoped)
  )

  it.live("gives it what it reads, and nothing of the environment", () =>
    Effect.gen(function* () {
      const { service } = yield* programs
      const lines: Array<string> = []
      const program = yield* service.start(
        script(
          `process.stdin.on("data", (data) => console.log(String(data))); console.log(Object.keys(process.env).sort().join())`,
          { input: Redacted.make("secret"), onLine: (line) => lines.push(line) }
        )
      )
      yield* program.ended
      assert.deepStrictEqual(lines, ["GATEWAY_PROGRAM_MARK,PATH", "secret"])
    }).pipe(Effect.scoped)
  )

  it.live("says that a program is not there", () =>
    Effect.gen(function* () {
      const { folder, service } = yield* programs
      const error = yield* Effect.flip(service.start({ ...script(""), command: "/nowhere/program" }))
      assert.strictEqual(error.problem, "is not there")
      assert.deepStrictEqual(readdirSync(folder), [])
    }).pipe(Effect.scoped)
  )

  it.live("cuts a line of 10 MB and drops most of a flood", () =>
    Effect.gen(function* () {
      const { service } = yield* programs
      let longest = 0
      let count = 0
      const program = yield* service.start(
        script(`process.stderr.write("x".repeat(10_000_000) + "\\n"); process.stdout.write("y\\n".repeat(500_000))`, {
          onLine: (line) => {
            count += 1
            longest = Math.max(longest, line.length)
          }
        })
      )
      const end = yield* program.ended
      assert.strictEqual(end.code, 0)
      assert.strictEqual(longest, SupervisedProgram.programLimits.maxLineChars)
      assert.isAtLeast(count, SupervisedProgram.programLimits.maxLinesPerSecond)
      assert.isBelow(count, 250_000)
      assert.isAtMost(end.lastWords.length, SupervisedProgram.programLimits.lastWordsChars)
    }).pipe(Effect.scoped)
  )

  it.live("kills a program that ignores SIGTERM, with what it has started", () =>
    Effect.gen(function* () {
      const { folder, service } = yield* programs
      const scope = yield* Scope.make()
      let printed = ""
      yield* Scope.extend(service.start(script(parent, { onLine: (line) => (printed = line) })), scope)
      yield* Effect.promise(() =>
        eventually(
          "the numbers",
          () => printed,
          (text) => text !== ""
        )
      )
      const pids = printed.split(" ").map(Number)
      assert.deepStrictEqual(pids.map(isAlive), [true, true])
      assert.strictEqual(readdirSync(folder).length, 1)
      yield* Scope.close(scope, Exit.void)
      yield* gone(...pids)
      assert.deepStrictEqual(readdirSync(folder), [])
    }).pipe(Effect.scoped)
  )

  it.live("kills what a program leaves behind when it ends by itself", () =>
    Effect.gen(function* () {
      const { service } = yield* programs
      let printed = ""
      const program = yield* service.start(
        script(
          `const child = require("node:child_process").spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { stdio: "ignore" })
           console.log(child.pid); process.exit(0)`,
          { onLine: (line) => (printed = line) }
        )
      )
      yield* program.ended
      yield* gone(Number(printed))
    }).pipe(Effect.scoped)
  )
})

describe("endLeftovers", () => {
  /** Bundled, because Node does not run TypeScript itself. */
  const bundledHolder = Effect.fn(function* (folder: string) {
    const file = join(folder, "holder.mjs")
    yield* Effect.promise(async () => {
      const bundle = await rolldown({
        input: new URL("../../support/ProgramHolder.ts", import.meta.url).pathname,
        platform: "node",
        logLevel: "silent"
      })
      await bundle.write({ file, format: "esm" })
      await bundle.close()
    })
    return file
  })

  const bystanderProgram = Effect.acquireRelease(
    Effect.sync(() => spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { detached: true })),
    (child) => Effect.sync(() => void child.kill("SIGKILL"))
  )

  it.live(
    "ends exactly the programs of a gateway that was killed",
    () =>
      Effect.gen(function* () {
        const folder = yield* temporaryFolder
        const file = yield* bundledHolder(yield* temporaryFolder)
        const bystander = yield* bystanderProgram
        const gateway = spawn(process.execPath, [file, folder, parent], { stdio: ["ignore", "pipe", "inherit"] })
        let printed = ""
        gateway.stdout.on("data", (chunk) => (printed += chunk))
        yield* Effect.promise(() =>
          eventually(
            "three programs",
            () => printed,
            (text) => text.split("\n").length === 4,
            { withinMs: 60_000 }
          )
        )
        const pids = printed.trim().split(/\s+/).map(Number)
        assert.strictEqual(pids.filter(isAlive).length, 6)
        gateway.kill("SIGKILL")
        yield* gone(gateway.pid ?? 0)
        assert.strictEqual(pids.filter(isAlive).length, 6)
        assert.strictEqual(readdirSync(folder).length, 3)
        yield* endLeftovers(folder)
        yield* gone(...pids)
        assert.deepStrictEqual(readdirSync(folder), [])
        assert.isTrue(isAlive(bystander.pid ?? 0))
      }).pipe(Effect.scoped),
    90_000
  )

  it.live("does not touch a process that has the number of another one now", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const other = yield* bystanderProgram
      const pid = other.pid ?? 0
      writeRecord(folder, crypto.randomUUID(), { pid, startedAt: "another start 1" })
      writeRecord(folder, crypto.randomUUID(), { pid: 4_194_303, startedAt: "another start 2" })
      assert.strictEqual(yield* endLeftovers(folder), 0)
      assert.isTrue(isAlive(pid))
      assert.deepStrictEqual(readdirSync(folder), [])
    }).pipe(Effect.scoped)
  )

  it.live("finds a program whose record was not finished by its mark", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const mark = crypto.randomUUID()
      const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], {
        detached: true,
        env: { [markVariable]: mark, PATH: environment.PATH }
      })
      writeRecord(folder, mark, null)
      yield* Effect.promise(() =>
        eventually(
          "the program",
          () => processesWith(markVariable, mark),
          (all) => all.length === 1
        )
      )
      assert.strictEqual(yield* endLeftovers(folder), 1)
      yield* gone(child.pid ?? 0)
    }).pipe(Effect.scoped)
  )

  it.live("passes over files that are not its own or damaged", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      mkdirSync(join(folder, "deeper"))
      writeFileSync(join(folder, "known_hosts"), "x")
      writeFileSync(join(folder, "a.program.json"), "{".repeat(10_000))
      writeFileSync(join(folder, "b.program.json"), `{"mark":"../..","process":{"pid":1,"startedAt":""}}`)
      assert.strictEqual(yield* endLeftovers(folder), 0)
      assert.deepStrictEqual(readdirSync(folder).sort(), ["deeper", "known_hosts"])
      assert.strictEqual(yield* endLeftovers(join(folder, "nowhere")), 0)
    }).pipe(Effect.scoped)
  )

  it("knows this process by its number and its start", () => {
    const since = startedAt(process.pid)
    assert.isNotNull(since)
    assert.isTrue(isRunning({ pid: process.pid, startedAt: since ?? "" }))
    assert.isFalse(isRunning({ pid: process.pid, startedAt: `${since}0` }))
  })
})

describe("the splitter", () => {
  it("cuts the same lines however the bytes are divided", () => {
    FastCheck.assert(
      FastCheck.property(
        FastCheck.array(
          FastCheck.string({ maxLength: 20, unit: "grapheme-ascii" }).map((text) => text.replace(/[\r\n]/g, ""))
        ),
        FastCheck.array(FastCheck.integer({ min: 1, max: 9 }), { minLength: 1 }),
        (lines, sizes) => {
          const found: Array<string> = []
          const splitter = SupervisedProgram.makeCuttingSplitter(8, (line) => found.push(line))
          const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(""))
          for (let at = 0, turn = 0; at < bytes.length; turn++) {
            const size = sizes[turn % sizes.length] ?? 1
            splitter.take(bytes.subarray(at, at + size))
            at += size
          }
          splitter.end()
          assert.deepStrictEqual(
            Chunk.toReadonlyArray(Chunk.fromIterable(found)),
            lines.map((line) => line.slice(0, 8))
          )
        }
      )
    )
  })
})
