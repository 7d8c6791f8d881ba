import * as SqlClient from "@effect/sql/SqlClient"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as TestClock from "effect/TestClock"
import { appendFileSync, closeSync, mkdirSync, openSync, readdirSync, rmSync, writeFileSync, writeSync } from "node:fs"
import { join } from "node:path"
import type { UsageRow } from "../../../src/contract/domain/Usage.ts"
import * as UsageRepo from "../../../src/subjects/usage/repo.ts"
import * as Segments from "../../../src/store/usage/JournalSegments.ts"
import * as UsageJournal from "../../../src/store/usage/UsageJournal.ts"
import * as WaitingRows from "../../../src/store/usage/WaitingRows.ts"
import { onDisk, refuseRows, reposInMemory, temporaryFolder, usageRow } from "./fixtures.ts"

const inMemory = Layer.provideMerge(UsageJournal.layerMemory, reposInMemory)
const onFile = (dataDir: string) =>
  Layer.merge(UsageJournal.layer, UsageRepo.layer).pipe(Layer.provideMerge(onDisk(dataDir)))
const segmentsIn = (dataDir: string) => readdirSync(join(dataDir, "usage-journal"))
const stored = Effect.flatMap(UsageRepo.UsageRepo, (repo) => repo.page({ limit: 1000, cursor: null }))
const save = (rows: ReadonlyArray<UsageRow>) =>
  Effect.gen(function* () {
    const journal = yield* UsageJournal.UsageJournal
    for (const row of rows) journal.append(row)
    yield* journal.flush
  })
describe("UsageRepo", () => {
  const bare = usageRow(2, {
    apiKeyId: null,
    combo: null,
    provider: null,
    connectionId: null,
    model: null,
    targetWire: null,
    streamed: false,
    outcome: "failed",
    ttftMs: null,
    priced: false,
    usageSource: "estimated",
    error: "connect_refused 'quoted' \"too\"\n ü"
  })

  it.effect("gives back every field of what was appended", () =>
    Effect.gen(function* () {
      yield* save([usageRow(1), bare])
      const repo = yield* UsageRepo.UsageRepo
      assert.deepStrictEqual(yield* stored, { rows: [bare, usageRow(1)], nextCursor: null })
      assert.deepStrictEqual(yield* repo.get(usageRow(1).id), usageRow(1))
      assert.isNull(yield* repo.get(usageRow(9).id))
    }).pipe(Effect.provide(inMemory))
  )

  it.effect("a full batch goes in as faithfully as single rows do", () =>
    Effect.gen(function* () {
      const journal = yield* UsageJournal.UsageJournal
      const repo = yield* UsageRepo.UsageRepo
      const rows = Array.from({ length: 251 }, (_, n) => usageRow(n + 1))
      const strange = { ...usageRow(7), latencyMs: Number.NaN, costNanoUsd: 1.5 }
      journal.append(strange, ...rows.filter((row) => row.id !== strange.id))
      yield* journal.flush
      for (const row of [rows[0]!, rows[100]!, rows[249]!, rows[250]!]) {
        assert.deepStrictEqual(yield* repo.get(row.id), row)
      }
      assert.deepStrictEqual(yield* repo.get(strange.id), { ...strange, latencyMs: 0 })
    }).pipe(Effect.provide(inMemory))
  )

  it.effect("pages newest first, and rows that arrive meanwhile disturb nothing", () =>
    Effect.gen(function* () {
      const repo = yield* UsageRepo.UsageRepo
      yield* save(Array.from({ length: 7 }, (_, n) => usageRow(n + 1)))
      const first = yield* repo.page({ limit: 3, cursor: null })
      yield* save([usageRow(8)])
      const second = yield* repo.page({ limit: 3, cursor: first.nextCursor })
      const third = yield* repo.page({ limit: 3, cursor: second.nextCursor })
      assert.deepStrictEqual(
        [first, second, third].map((page) => page.rows.map((row) => row.timestampMs - 1000)),
        [[7, 6, 5], [4, 3, 2], [1]]
      )
      assert.isNull(third.nextCursor)
      assert.isNull((yield* repo.page({ limit: 8, cursor: null })).nextCursor)
      assert.lengthOf((yield* repo.page({ limit: 0, cursor: null })).rows, 1)
    }).pipe(Effect.provide(inMemory))
  )

  it.effect("filters by every field it names", () =>
    Effect.gen(function* () {
      const repo = yield* UsageRepo.UsageRepo
      const rows = [usageRow(1), bare, usageRow(3, { model: "m-2" }), usageRow(4, { connectionId: "c9" })]
      // Ids as the gateway makes them: their time narrows the search.
      const timed = (row: UsageRow): UsageRow => {
        const time = row.timestampMs.toString(16).padStart(12, "0")
        return { ...row, id: `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-000000000000` }
      }
      yield* save(rows.map(timed))
      const found = (filter: UsageRepo.UsageFilter) =>
        Effect.map(repo.page({ limit: 10, cursor: null, filter }), (page) =>
          page.rows.map((row) => row.timestampMs - 1000)
        )
      assert.deepStrictEqual(yield* found({ apiKeyId: "a1" }), [4, 3, 1])
      assert.deepStrictEqual(yield* found({ outcome: "failed" }), [2])
      assert.deepStrictEqual(yield* found({ provider: "openai", model: "m-2" }), [3])
      assert.deepStrictEqual(yield* found({ connectionId: "c9" }), [4])
      assert.deepStrictEqual(yield* found({ sinceMs: 1002, untilMs: 1004 }), [3, 2])
    }).pipe(Effect.provide(inMemory))
  )
})

describe("UsageJournal", () => {
  it.effect("flushes after a while, or at once when a batch is full", () =>
    Effect.gen(function* () {
      const journal = yield* UsageJournal.UsageJournal
      journal.append(usageRow(1))
      yield* TestClock.adjust(UsageJournal.flushAfterMs - 1)
      assert.strictEqual(journal.pending(), 1)
      yield* TestClock.adjust("1 millis")
      assert.strictEqual(journal.pending(), 0)

      for (let n = 2; n <= WaitingRows.batchRows + 1; n++) journal.append(usageRow(n))
      yield* TestClock.adjust(0)
      assert.strictEqual(journal.pending(), 0)
      assert.lengthOf((yield* stored).rows, WaitingRows.batchRows + 1)
    }).pipe(Effect.provide(inMemory))
  )

  it.effect("lets a strange number cost that number only", () =>
    Effect.gen(function* () {
      yield* save([usageRow(1, { latencyMs: 12.9, costNanoUsd: Number.NaN }), usageRow(2)])
      const { rows } = yield* stored
      assert.deepStrictEqual(rows, [usageRow(2), usageRow(1, { latencyMs: 12, costNanoUsd: 0 })])
    }).pipe(Effect.provide(inMemory))
  )

  it.effect("keeps rows while the table refuses them and brings them in later, in order", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const journal = yield* UsageJournal.UsageJournal
      yield* refuseRows
      for (let n = 1; n <= 300; n++) journal.append(usageRow(n))
      yield* TestClock.adjust(UsageJournal.flushAfterMs)
      assert.strictEqual((yield* Effect.flip(journal.flush))._tag, "StoreError")
      assert.strictEqual(journal.pending(), 300)
      yield* sql`DROP TRIGGER refusal`
      yield* TestClock.adjust("1 second")
      assert.strictEqual(journal.pending(), 0)
      assert.lengthOf((yield* stored).rows, 300)
      assert.deepStrictEqual(journal.trouble(), { notOnFile: 0, dropped: 0, problem: null })
    }).pipe(Effect.provide(inMemory))
  )

  it.effect("holds a bounded number of rows and counts what it gives up", () =>
    Effect.gen(function* () {
      const journal = yield* UsageJournal.UsageJournal
      yield* refuseRows
      for (let n = 1; n <= WaitingRows.mostPending + 600; n++) journal.append(usageRow(n))
      assert.isAtMost(journal.pending(), WaitingRows.mostPending + 250)
      assert.strictEqual(journal.trouble().dropped + journal.pending(), WaitingRows.mostPending + 600)
      assert.isAbove(journal.trouble().dropped, 0)
    }).pipe(Effect.provide(inMemory))
  )

  it.scoped("leaves no file behind once rows are in the table, and flushes when it closes", () =>
    Effect.gen(function* () {
      const dataDir = yield* temporaryFolder
      yield* Effect.gen(function* () {
        const journal = yield* UsageJournal.UsageJournal
        journal.append(usageRow(1))
        assert.lengthOf(segmentsIn(dataDir), 1)
        yield* journal.flush
        assert.lengthOf(segmentsIn(dataDir), 0)
        journal.append(usageRow(2))
      }).pipe(Effect.provide(onFile(dataDir)))
      assert.lengthOf(segmentsIn(dataDir), 0)
      assert.lengthOf((yield* Effect.provide(stored, onFile(dataDir))).rows, 2)
    })
  )

  it.scoped("takes over what a dead process left, without its unfinished line and without doubles", () =>
    Effect.gen(function* () {
      const dataDir = yield* temporaryFolder
      yield* Effect.provide(save([usageRow(1)]), onFile(dataDir))
      const folder = join(dataDir, "usage-journal")
      const lines = (...rows: ReadonlyArray<UsageRow>) => rows.map((row) => `${JSON.stringify(row)}\n`).join("")
      writeFileSync(join(folder, "0000000001.jsonl"), lines(usageRow(1), usageRow(2)))
      writeFileSync(join(folder, "0000000002.jsonl"), lines(usageRow(3)))
      appendFileSync(join(folder, "0000000002.jsonl"), lines(usageRow(4)).slice(0, 60))
      const { rows } = yield* Effect.provide(stored, onFile(dataDir))
      assert.deepStrictEqual(rows, [usageRow(3), usageRow(2), usageRow(1)])
      assert.lengthOf(segmentsIn(dataDir), 0)
    })
  )

  it.scoped("goes on in memory when the file cannot be written", () =>
    Effect.gen(function* () {
      const dataDir = yield* temporaryFolder
      const folder = join(dataDir, "usage-journal")
      yield* Effect.gen(function* () {
        const journal = yield* UsageJournal.UsageJournal
        rmSync(folder, { recursive: true })
        journal.append(usageRow(1))
        const { dropped, notOnFile, problem } = journal.trouble()
        assert.deepStrictEqual([notOnFile, dropped], [1, 0])
        assert.match(problem ?? "", /cannot be put on file/)
        mkdirSync(folder)
        journal.append(usageRow(2))
        assert.lengthOf(segmentsIn(dataDir), 1)
        yield* journal.flush
        assert.lengthOf((yield* stored).rows, 2)
      }).pipe(Effect.provide(onFile(dataDir)))
    })
  )

  it.scoped("gives a file up only when its rows would survive a power cut in the table", () =>
    Effect.gen(function* () {
      const folder = join(yield* temporaryFolder, "usage-journal")
      mkdirSync(folder)
      let disk: Effect.Effect<void, NodeJS.ErrnoException> = Effect.fail(new Error("the disk is away"))
      const journal = yield* UsageJournal.make(
        Segments.inFolder(folder),
        Effect.suspend(() => disk)
      )
      journal.append(usageRow(1))
      yield* journal.flush
      assert.strictEqual(journal.pending(), 0)
      assert.lengthOf((yield* stored).rows, 1)
      assert.lengthOf(readdirSync(folder), 1)
      disk = Effect.void
      journal.append(usageRow(2))
      yield* journal.flush
      assert.lengthOf(readdirSync(folder), 0)
      assert.lengthOf((yield* stored).rows, 2)
    }).pipe(Effect.provide(reposInMemory))
  )

  it.scoped("keeps the file of rows that are on their way to the table when later rows of it are given up", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const folder = join(yield* temporaryFolder, "usage-journal")
      mkdirSync(folder)
      const journal = yield* UsageJournal.make(Segments.inFolder(folder), Effect.void)
      const rowsFrom = (start: number, count: number) =>
        Array.from({ length: count }, (_, index) => usageRow(start + index))
      const append = ([first, ...more]: ReadonlyArray<UsageRow>) => {
        if (first !== undefined) journal.append(first, ...more)
      }
      append(rowsFrom(1, WaitingRows.batchRows))
      yield* TestClock.adjust(0)
      assert.strictEqual(journal.pending(), 0)
      yield* refuseRows
      const released = yield* Effect.makeLatch(false)
      const holder = yield* Effect.fork(sql.withTransaction(released.await))
      yield* TestClock.adjust(0)
      const onTheirWay = rowsFrom(1_000, WaitingRows.batchRows)
      append(onTheirWay)
      yield* TestClock.adjust("1 seconds")
      append(rowsFrom(2_000, WaitingRows.batchRows))
      for (let n = 0; journal.trouble().dropped < WaitingRows.batchRows; n++)
        append(rowsFrom(10_000 + 1_000 * n, 1_000))
      yield* released.open
      yield* Fiber.join(holder)
      yield* TestClock.adjust(0)
      assert.match(journal.trouble().problem ?? "", /refused/)
      const onFile = new Set(Segments.leftovers(folder).flatMap((path) => Segments.read(path).rows.map(({ id }) => id)))
      assert.deepStrictEqual(
        onTheirWay.filter(({ id }) => !onFile.has(id)),
        []
      )
      yield* sql`DROP TRIGGER refusal`
      yield* journal.flush
      assert.lengthOf(readdirSync(folder), 0)
      const repo = yield* UsageRepo.UsageRepo
      assert.deepStrictEqual(yield* repo.get(usageRow(1_000).id), usageRow(1_000))
    }).pipe(Effect.provide(reposInMemory))
  )

  it.effect("says what is wrong while the disk is full, once when it begins and once when it is over", () => {
    const told: Array<string> = []
    const logger = Logger.replace(
      Logger.defaultLogger,
      Logger.make(({ message }) => void told.push(String(message)))
    )
    const full = openSync("/dev/full", "w")
    const segments = { ...Segments.none, append: (line: string) => void writeSync(full, line) }
    return Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const journal = yield* UsageJournal.make(segments, Effect.void)
      yield* refuseRows
      for (let n = 1; n <= 2_000; n++) journal.append(usageRow(n))
      assert.match(journal.trouble().problem ?? "", /cannot be put on file.*(ENOSPC|no space)/i)
      yield* TestClock.adjust("10 seconds")
      assert.match(journal.trouble().problem ?? "", /cannot be brought into the database/)
      assert.isAbove(journal.pending(), 0)
      const begun = told.filter((line) => line.includes("They wait in memory"))
      assert.lengthOf(begun, 1)
      yield* sql`DROP TRIGGER refusal`
      yield* TestClock.adjust("1 second")
      assert.strictEqual(journal.pending(), 0)
      assert.isNull(journal.trouble().problem)
      const [{ rows } = { rows: 0 }] = yield* sql<{ rows: number }>`SELECT COUNT(*) AS rows FROM usage_log`
      assert.strictEqual(rows, 2_000)
      assert.lengthOf(
        told.filter((line) => line.includes("written again")),
        1
      )
    }).pipe(
      Effect.scoped,
      Effect.provide(Layer.merge(reposInMemory, logger)),
      Effect.ensuring(Effect.sync(() => closeSync(full)))
    )
  })

  it.scoped("tells once a minute which row is not on file, with its cost", () => {
    const told: Array<string> = []
    const logger = Logger.replace(
      Logger.defaultLogger,
      Logger.make(({ message }) => void told.push(String(message)))
    )
    return Effect.gen(function* () {
      const dataDir = yield* temporaryFolder
      yield* Effect.gen(function* () {
        const journal = yield* UsageJournal.UsageJournal
        rmSync(join(dataDir, "usage-journal"), { recursive: true })
        for (let n = 1; n <= 3; n++) {
          journal.append(usageRow(n))
          yield* TestClock.adjust(UsageJournal.flushAfterMs)
        }
        assert.lengthOf(told, 1)
        assert.include(told[0], "row-00000001 (0.123456789 USD)")
        yield* TestClock.adjust("1 minute")
        journal.append(usageRow(4))
        yield* TestClock.adjust(UsageJournal.flushAfterMs)
        assert.lengthOf(told, 2)
        assert.include(told[1], "row-00000004")
      }).pipe(Effect.provide(onFile(dataDir)))
    }).pipe(Effect.provide(logger))
  })
})
