import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { createHash } from "node:crypto"
import * as HostJournal from "../../../../src/observe/capture/host/HostJournal.ts"
import { journalFolder, writeEntry } from "../../../../src/observe/capture/host/undo/restore.mjs"
import { thisProcess } from "../../../../src/observe/capture/host/undo/owner.mjs"
import * as AppConfig from "../../../../src/platform/AppConfig.ts"
import { temporaryFolder } from "../../../support/TemporaryFolder.ts"

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex")

const journalAt = (dataDir: string): Layer.Layer<HostJournal.HostJournal> =>
  HostJournal.layer.pipe(
    Layer.provide(AppConfig.layerOf({ dataDir, environment: new Map([["PATH", process.env["PATH"] ?? ""]]) }))
  )

/** A file that is taken away again while it holds `content`. */
const fileChange = (path: string, content = "ours"): HostJournal.HostChange => ({
  kind: "trust-store",
  what: `a file at ${path}`,
  steps: [{ do: "removeFile", path, sha256: sha256(content) }]
})

const entriesIn = (dataDir: string): ReadonlyArray<string> =>
  existsSync(journalFolder(dataDir)) ? readdirSync(journalFolder(dataDir)).filter((name) => name.endsWith(".json")) : []

describe("the journal of changes", () => {
  it.scopedLive("has a change on disk before it is made, and takes it back when the scope closes", () =>
    Effect.gen(function* () {
      const dataDir = yield* temporaryFolder
      const file = join(dataDir, "made")
      yield* Effect.gen(function* () {
        const journal = yield* HostJournal.HostJournal
        const scope = yield* Scope.make()
        yield* journal
          .change(fileChange(file), () =>
            Effect.sync(() => {
              assert.lengthOf(entriesIn(dataDir), 1)
              writeFileSync(file, "ours")
            })
          )
          .pipe(Scope.extend(scope))
        assert.strictEqual(readFileSync(file, "utf8"), "ours")
        yield* Scope.close(scope, Exit.void)
        assert.isFalse(existsSync(file))
        assert.deepStrictEqual(entriesIn(dataDir), [])
      }).pipe(Effect.provide(journalAt(dataDir)))
    })
  )

  it.scopedLive("takes a change back that fails half-way", () =>
    Effect.gen(function* () {
      const dataDir = yield* temporaryFolder
      const file = join(dataDir, "made")
      yield* Effect.gen(function* () {
        const journal = yield* HostJournal.HostJournal
        const failed = yield* journal
          .change(fileChange(file), () =>
            Effect.sync(() => writeFileSync(file, "ours")).pipe(Effect.zipRight(Effect.fail("half-way")))
          )
          .pipe(Effect.scoped, Effect.flip)
        assert.strictEqual(failed, "half-way")
        assert.isFalse(existsSync(file))
        assert.deepStrictEqual(entriesIn(dataDir), [])
      }).pipe(Effect.provide(journalAt(dataDir)))
    })
  )

  it.scopedLive("keeps what somebody else has changed meanwhile, and says so", () =>
    Effect.gen(function* () {
      const dataDir = yield* temporaryFolder
      const file = join(dataDir, "made")
      yield* Effect.gen(function* () {
        const journal = yield* HostJournal.HostJournal
        const opened = yield* journal.open(fileChange(file))
        writeFileSync(file, "theirs")
        const report = yield* opened.undo
        assert.deepStrictEqual(
          report.kept.map(({ id }) => id),
          [opened.id]
        )
        assert.strictEqual(readFileSync(file, "utf8"), "theirs")
        assert.deepStrictEqual(entriesIn(dataDir), [])
      }).pipe(Effect.provide(journalAt(dataDir)))
    })
  )

  it.scopedLive("runs programs by the watchdog, with input, and only while a change is open", () =>
    Effect.gen(function* () {
      const dataDir = yield* temporaryFolder
      yield* Effect.gen(function* () {
        const journal = yield* HostJournal.HostJournal
        assert.isFalse((yield* journal.run({ argv: ["/bin/cat"] })).ok)
        const opened = yield* journal.open(fileChange(join(dataDir, "none")))
        assert.deepStrictEqual(yield* journal.run({ argv: ["/bin/cat"], stdin: "a line" }), {
          ok: true,
          stdout: "a line"
        })
        const failed = yield* journal.run({ argv: ["/bin/sh", "-c", "echo no >&2; exit 3"] })
        assert.deepInclude(failed, { ok: false, problem: "sh ended with 3: no" })
        yield* opened.undo
      }).pipe(Effect.provide(journalAt(dataDir)))
    })
  )

  it.scopedLive("restores what an ended gateway left, twice at once, and leaves that of a running one", () =>
    Effect.gen(function* () {
      const dataDir = yield* temporaryFolder
      const folder = journalFolder(dataDir)
      mkdirSync(folder, { recursive: true, mode: 0o700 })
      const entry = (id: string, path: string, owner: { readonly pid: number; readonly startTime: string | null }) => ({
        version: 1 as const,
        createdAtMs: 1,
        environment: {},
        facts: {},
        session: "another",
        ...fileChange(path),
        id,
        owner: { ...thisProcess(), ...owner }
      })
      const left = join(dataDir, "left")
      const used = join(dataDir, "used")
      for (const path of [left, used]) writeFileSync(path, "ours")
      // The same number as a living process, which began at another time.
      writeEntry(folder, entry("000000000000001-000001-firewall-a", left, { pid: process.ppid, startTime: "1" }))
      writeEntry(folder, entry("000000000000002-000001-firewall-a", used, thisProcess()))
      const reports = yield* Effect.all([HostJournal.restoreFolder(dataDir), HostJournal.restoreFolder(dataDir)], {
        concurrency: 2
      })
      assert.deepStrictEqual(
        reports.map(({ failed }) => failed),
        [[], []]
      )
      assert.lengthOf(
        reports.flatMap(({ restored }) => restored),
        1
      )
      assert.isFalse(existsSync(left))
      assert.isTrue(existsSync(used))
      assert.lengthOf(entriesIn(dataDir), 1)
    })
  )
})
