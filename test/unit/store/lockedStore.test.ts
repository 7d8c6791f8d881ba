/** What requests get while another connection holds the database: an answer at once, or a refusal that says when to try again. */
import * as Redacted from "effect/Redacted"
import { assert, describe, it } from "@effect/vitest"
import Database from "better-sqlite3"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as TestClock from "effect/TestClock"
import { join } from "node:path"
import { operatorsOwn } from "../../../src/contract/domain/ContentPermission.ts"
import { answered, render } from "../../../src/entry/handling/Answers.ts"
import { Unavailable } from "../../../src/contract/Errors.ts"
import * as ApiKeys from "../../../src/subjects/auth/ApiKeys.ts"
import * as Sessions from "../../../src/subjects/auth/sessions/Sessions.ts"
import { unrestricted } from "../../../src/subjects/keys/entity.ts"
import * as AppConfig from "../../../src/platform/AppConfig.ts"
import * as IdGen from "../../../src/platform/IdGen.ts"
import { SessionRepo } from "../../../src/subjects/auth/repo.ts"
import { makeTokenStore } from "../../../src/plane/providers/oauth/TokenStore.ts"
import { replace } from "../../../src/plane/providers/TokenReplacement.ts"
import { AnswerCacheRepo } from "../../../src/subjects/cache/repo.ts"
import { ApiKeyRepo } from "../../../src/subjects/keys/repo.ts"
import { ConnectionRepo } from "../../../src/subjects/connections/repo.ts"
import * as Repos from "../../../src/store/Repos.generated.ts"
import * as Secrets from "../../../src/store/secrets/Secrets.ts"
import { requestWaitMs } from "../../../src/store/engine/WriteQueue.ts"
import { apiKey, connection, onDisk, temporaryFolder } from "./fixtures.ts"

/** Runs `use` over a store on disk; `hold` and `free` are another connection's. */
const withStore = <A, E, R>(
  use: (lock: { readonly hold: Effect.Effect<void>; readonly free: Effect.Effect<void> }) => Effect.Effect<A, E, R>
) =>
  Effect.gen(function* () {
    const folder = yield* temporaryFolder
    const repos = Repos.layer.pipe(Layer.provideMerge(Layer.merge(onDisk(folder), Secrets.layerTest)))
    return yield* Effect.gen(function* () {
      const other = new Database(join(folder, "gateway.sqlite"))
      yield* Effect.addFinalizer(() => Effect.sync(() => other.close()))
      return yield* use({
        hold: Effect.sync(() => void other.exec("BEGIN EXCLUSIVE")),
        free: Effect.sync(() => void other.exec("ROLLBACK"))
      })
    }).pipe(Effect.provide(repos))
  }).pipe(Effect.provide(Logger.remove(Logger.defaultLogger)))

describe("while another connection holds the database", () => {
  it.scoped("a change waits, and is refused after the bound with nothing done", () =>
    withStore(({ free, hold }) =>
      Effect.gen(function* () {
        const repo = yield* ApiKeyRepo
        yield* hold
        const insert = (id: string) =>
          repo
            .insert({ ...apiKey, id, name: id, hash: id })
            .pipe(Effect.catchTag("AlreadyStored", Effect.die), answered, Effect.either, Effect.fork)
        const first = yield* insert("first")
        const second = yield* insert("second")
        yield* TestClock.adjust(requestWaitMs - 100)
        assert.isNull(first.unsafePoll())
        assert.isNull(second.unsafePoll())
        yield* TestClock.adjust(200)
        for (const fiber of [first, second]) {
          const end = yield* Fiber.join(fiber)
          assert.strictEqual(end._tag, "Left")
          if (end._tag === "Right" || !(end.left instanceof Unavailable)) return assert.fail("it was not refused")
          const { headers, status } = HttpServerResponse.toWeb(render(end.left, "request-1"))
          assert.strictEqual(status, 503)
          assert.strictEqual(headers.get("retry-after"), "5")
        }
        assert.deepStrictEqual(yield* repo.list, [])
        const third = yield* insert("third")
        yield* TestClock.adjust(1_000)
        yield* free
        yield* TestClock.adjust(100)
        assert.strictEqual((yield* Fiber.join(third))._tag, "Right")
        assert.lengthOf(yield* repo.list, 1)
      })
    )
  )

  it.scoped("an expired answer is none at once, and stays until it can be removed", () =>
    withStore(({ free, hold }) =>
      Effect.gen(function* () {
        const repo = yield* AnswerCacheRepo
        const answer = {
          form: "whole" as const,
          variant: "",
          contentType: "application/json",
          body: Buffer.from("{}"),
          hasToolCalls: false,
          provider: "openai",
          model: "m",
          costNanoUsd: 0,
          createdAtMs: 0,
          expiresAtMs: 100
        }
        yield* (yield* ApiKeyRepo).insert(apiKey)
        yield* repo.put(operatorsOwn, "k", apiKey.id, answer, null)
        yield* hold
        assert.isNull(yield* repo.get("k", 200))
        assert.strictEqual(yield* repo.count, 1)
        yield* free
        assert.isNull(yield* repo.get("k", 200))
        assert.strictEqual(yield* repo.count, 0)
      })
    )
  )

  it.scoped("renewed tokens are in use at once, and stored when they can be", () =>
    withStore(({ free, hold }) =>
      Effect.gen(function* () {
        const repo = yield* ConnectionRepo
        yield* repo.insert(connection)
        const inUse: Array<string> = []
        const tokens = yield* makeTokenStore(repo, {
          refresh: Effect.void,
          replaceTokens: (id) => void inUse.push(id)
        })
        const used = connection.oauth ?? assert.fail("it has none")
        const replacement = replace(null, used, { ...used, refreshToken: Redacted.make("renewed") })
        yield* hold
        assert.isTrue(yield* tokens.put(connection.id, replacement))
        assert.deepStrictEqual(inUse, [connection.id])
        yield* TestClock.adjust("3 seconds")
        yield* free
        yield* TestClock.adjust("1 second")
        const stored = (yield* repo.get(connection.id))?.oauth?.refreshToken ?? null
        assert.strictEqual(stored === null ? null : Redacted.value(stored), "renewed")
      })
    )
  )

  it.scoped("times of last use, of keys and of sessions, are written afterwards", () =>
    withStore(({ free, hold }) =>
      Effect.gen(function* () {
        const keys = yield* ApiKeys.ApiKeys
        const sessions = yield* Sessions.Sessions
        const { key } = yield* keys.create({ ...unrestricted, name: "used" })
        const { cookie } = yield* sessions.open({ via: "password", address: "", userAgent: "" })
        const atMs = 10 * 60_000
        // Just before both are written: while the lock is held, a wait is many steps of the clock.
        yield* TestClock.adjust("14 minutes")
        yield* TestClock.adjust("50 seconds")
        yield* hold
        keys.used(key, atMs)
        sessions.find(Redacted.value(cookie), atMs)
        yield* TestClock.adjust("45 seconds")
        yield* free
        yield* TestClock.adjust("16 minutes")
        assert.strictEqual((yield* (yield* ApiKeyRepo).list)[0]?.lastUsedAtMs, atMs)
        assert.strictEqual((yield* (yield* SessionRepo).list)[0]?.lastSeenAtMs, atMs)
      }).pipe(
        Effect.provide(Layer.merge(ApiKeys.layer, Sessions.layer)),
        Effect.provide(Layer.merge(IdGen.layerCounting("id"), AppConfig.layerOf({ dataDir: "/nonexistent" })))
      )
    )
  )
})
