/** A database that another connection holds: writes wait by timers, in their order, and reads go on. */
import * as SqlClient from "@effect/sql/SqlClient"
import { assert, describe, it } from "@effect/vitest"
import Database from "better-sqlite3"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/TestClock"
import { join } from "node:path"
import { closingLayer, connect, isRead, withSnapshot } from "../../../src/store/engine/Client.ts"
import { withLateSync } from "../../../src/store/engine/LateSync.ts"
import { forReader, isBusy, waitingAtMost, withoutWaiting } from "../../../src/store/engine/WriteQueue.ts"
import { temporaryFolder } from "../../support/TemporaryFolder.ts"

const held = Effect.gen(function* () {
  const file = join(yield* temporaryFolder, "a.sqlite")
  const sql: SqlClient.SqlClient = yield* connect(file)
  yield* sql`PRAGMA busy_timeout = 0`
  yield* sql`CREATE TABLE notes (id INTEGER PRIMARY KEY AUTOINCREMENT, word TEXT NOT NULL)`
  yield* sql`CREATE TABLE latest (id INTEGER PRIMARY KEY, word TEXT NOT NULL)`
  const other = new Database(file)
  yield* Effect.addFinalizer(() => Effect.sync(() => other.close()))
  other.exec("BEGIN EXCLUSIVE")
  const words = Effect.map(sql<{ word: string }>`SELECT word FROM notes ORDER BY id`, (rows) =>
    rows.map(({ word }) => word)
  )
  const note = (word: string) => sql`INSERT INTO notes ${sql.insert({ word })}`
  return { sql, words, note, free: Effect.sync(() => other.exec("ROLLBACK")) }
})

describe("a locked database", () => {
  it.scopedLive("takes statements and transactions in their order once it is free", () =>
    Effect.gen(function* () {
      const { free, note, sql, words } = yield* held
      const all = Array.from({ length: 40 }, (_, index) => `w${index}`)
      const fibers: Array<Fiber.RuntimeFiber<unknown, unknown>> = []
      for (const [index, word] of all.entries()) {
        const two = Effect.zipRight(note(word), sql`UPDATE notes SET word = word WHERE word = ${word}`)
        fibers.push(yield* Effect.fork(index % 2 === 0 ? note(word) : sql.withTransaction(two)))
        yield* Effect.yieldNow()
      }
      // Reads go on, alone and several of one moment.
      assert.deepStrictEqual(yield* words, [])
      assert.deepStrictEqual(yield* withSnapshot(sql, Effect.zip(words, words)), [[], []])
      assert.isTrue(fibers.every((fiber) => fiber.unsafePoll() === null))
      yield* free
      yield* Effect.forEach(fibers, Fiber.join, { discard: true })
      assert.deepStrictEqual(yield* words, all)
    })
  )

  it.scoped("lets each go on when the one before is over, also in what cannot be interrupted", () =>
    Effect.gen(function* () {
      const { free, note, sql, words } = yield* held
      const all = ["one", "two", "three"]
      const fibers: Array<Fiber.RuntimeFiber<unknown, unknown>> = []
      for (const word of all) {
        fibers.push(yield* Effect.fork(Effect.uninterruptible(sql.withTransaction(note(word)))))
        yield* TestClock.adjust("60 millis")
      }
      yield* free
      // Far from the time that a write waits at most.
      yield* TestClock.adjust("60 millis")
      for (const fiber of fibers) assert.isNotNull(fiber.unsafePoll())
      assert.deepStrictEqual(yield* words, all)
    })
  )

  it.scopedLive("never lets an older value replace a newer one", () =>
    Effect.gen(function* () {
      const { free, sql } = yield* held
      const put = (word: string) =>
        sql`INSERT INTO latest (id, word) VALUES (1, ${word}) ON CONFLICT (id) DO UPDATE SET word = excluded.word`
      const older = yield* Effect.fork(put("older"))
      yield* Effect.sleep(30)
      const newer = yield* Effect.fork(put("newer"))
      yield* free
      yield* Effect.zip(Fiber.join(older), Fiber.join(newer))
      assert.deepStrictEqual(yield* sql`SELECT word FROM latest`, [{ word: "newer" }])
    })
  )

  it.scopedLive("fails after the bound, with nothing done, and leaves the turn to the next", () =>
    Effect.gen(function* () {
      const { free, note, sql, words } = yield* held
      for (const write of [note("one"), sql.withTransaction(note("two"))]) {
        const error = yield* Effect.flip(waitingAtMost(20)(write))
        assert.isTrue(isBusy(error))
      }
      const next = yield* Effect.fork(note("three"))
      yield* Effect.yieldNow()
      yield* free
      yield* Fiber.join(next)
      assert.deepStrictEqual(yield* words, ["three"])
    })
  )

  it.scopedLive("counts the wait behind other writes", () =>
    Effect.gen(function* () {
      const { free, note, sql, words } = yield* held
      const patient = yield* Effect.fork(note("patient"))
      yield* Effect.sleep(5)
      for (const write of [note("one"), sql.withTransaction(note("two")), withoutWaiting(note("three"))]) {
        assert.isTrue(isBusy(yield* Effect.flip(waitingAtMost(20)(write))))
      }
      assert.isNull(patient.unsafePoll())
      yield* free
      yield* Fiber.join(patient)
      yield* note("next")
      assert.deepStrictEqual(yield* words, ["patient", "next"])
    })
  )

  it.scopedLive("keeps no reader longer than a moment, and the writes go on behind it", () =>
    Effect.gen(function* () {
      const { free, note, words } = yield* held
      const written = yield* Deferred.make<void>()
      yield* forReader(Effect.uninterruptible(Effect.zipRight(note("late"), Deferred.succeed(written, undefined))))
      assert.deepStrictEqual(yield* words, [])
      yield* free
      yield* Deferred.await(written)
      assert.deepStrictEqual(yield* words, ["late"])
    })
  )

  it.scoped("ends all waits together, soon after the stop of the service began", () =>
    Effect.gen(function* () {
      const { note, sql, words } = yield* held
      const early = yield* Effect.fork(Effect.flip(note("early")))
      yield* TestClock.adjust("2 seconds")
      yield* Effect.scoped(Effect.provideService(Layer.build(closingLayer), SqlClient.SqlClient, sql))
      const late = yield* Effect.fork(Effect.flip(sql.withTransaction(note("late"))))
      const synced = yield* Effect.fork(
        Effect.flip(withLateSync(sql, (connection) => connection.executeRaw("DELETE FROM notes", [])))
      )
      yield* TestClock.adjust("4 seconds")
      assert.isNull(late.unsafePoll())
      yield* TestClock.adjust("2 seconds")
      for (const fiber of [early, late, synced]) assert.isTrue(isBusy(yield* Fiber.join(fiber)))
      assert.isTrue(isBusy(yield* Effect.flip(note("after"))))
      assert.deepStrictEqual(yield* words, [])
    })
  )

  it.scopedLive("gives the turn on when a write that waits is interrupted", () =>
    Effect.gen(function* () {
      const { free, note, sql, words } = yield* held
      const first = yield* Effect.fork(sql.withTransaction(note("first")))
      const second = yield* Effect.fork(note("second"))
      const third = yield* Effect.fork(sql.withTransaction(note("third")))
      yield* Effect.sleep(10)
      yield* Fiber.interrupt(first)
      yield* Fiber.interrupt(second)
      yield* free
      yield* Fiber.join(third)
      yield* sql.withTransaction(note("fourth"))
      assert.deepStrictEqual(yield* words, ["third", "fourth"])
    })
  )

  it.scopedLive("rolls a failed transaction back, and keeps savepoints within it", () =>
    Effect.gen(function* () {
      const { free, note, sql, words } = yield* held
      yield* free
      yield* Effect.flip(sql.withTransaction(Effect.zipRight(note("gone"), Effect.fail("no"))))
      const inner = Effect.ignore(sql.withTransaction(Effect.zipRight(note("undone"), Effect.fail("no"))))
      yield* sql.withTransaction(Effect.zipRight(note("kept"), inner))
      assert.deepStrictEqual(yield* words, ["kept"])
    })
  )
})

describe("a statement", () => {
  it.each([
    ["SELECT 1", true],
    ["\n  select 1", true],
    ["WITH a AS (SELECT 1) SELECT * FROM a", true],
    ["PRAGMA user_version", true],
    ["WITH a AS (SELECT 1) INSERT INTO b SELECT * FROM a", false],
    ["INSERT INTO a VALUES (1) RETURNING id", false],
    ["UPDATE a SET b = 1", false],
    ["DELETE FROM a", false]
  ])("%s only reads: %s", (text, expected) => {
    assert.strictEqual(isRead(text), expected)
  })
})
