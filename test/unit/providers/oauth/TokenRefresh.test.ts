import { assert, describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Redacted from "effect/Redacted"
import * as TestClock from "effect/TestClock"
import { TimedOut } from "../../../../src/net/egress/Upstream.ts"
import { transportFailure } from "../../../../src/net/egress/TransportFailure.ts"
import { Catalog } from "../../../../src/plane/providers/Catalog.ts"
import { TokenRefresh } from "../../../../src/plane/providers/oauth/TokenRefresh.ts"
import { ConnectionRepo } from "../../../../src/subjects/connections/repo.ts"
import { NodeRepo } from "../../../../src/subjects/nodes/repo.ts"
import * as SqlClient from "@effect/sql/SqlClient"
import type { Connection } from "../../../../src/subjects/connections/entity.ts"
import { accessOf, account, endpoint, house, json, lab, refreshOf, type Respond, rotating, tokens } from "./harness.ts"

/** Stores connections and puts them in force. */
const connect = (...connections: ReadonlyArray<Connection>) =>
  Effect.gen(function* () {
    const nodes = yield* NodeRepo
    const repo = yield* ConnectionRepo
    yield* nodes.insert(lab)
    for (const connection of connections) yield* repo.insert(connection)
    yield* (yield* Catalog).refresh
  })

const bearerOf = (id: string) =>
  Effect.map(TokenRefresh, (service) => {
    const headers = service.current(id)?.endpoints.chat?.headers ?? []
    return headers[headers.indexOf("authorization") + 1]
  })

/** Holds every answer until it is opened. */
const held = (respond: Respond) =>
  Effect.gen(function* () {
    const arrived = yield* Deferred.make<void>()
    const release = yield* Deferred.make<void>()
    const holding: Respond = (request, fields) =>
      Deferred.succeed(arrived, undefined).pipe(
        Effect.zipRight(Deferred.await(release)),
        Effect.zipRight(respond(request, fields))
      )
    return { holding, arrived: Deferred.await(arrived), release: Deferred.succeed(release, undefined) }
  })

const failureOf = <A, E extends { readonly _tag: string }, R>(effect: Effect.Effect<A, E, R>) => Effect.flip(effect)

/** Lets every fiber that can run do so. */
const settle = Effect.forEach(Array.from({ length: 50 }), () => Effect.yieldNow(), { discard: true })

describe("TokenRefresh.refresh", () => {
  it.effect("makes one call for 50 callers at once, stores the pair and swaps the account", () =>
    Effect.gen(function* () {
      const { arrived, holding, release } = yield* held(rotating({ expires_in: 3600, unknown: { a: 1 } }))
      const server = endpoint(holding)
      yield* Effect.gen(function* () {
        yield* TestClock.setTime(1_000_000)
        yield* connect(account("a"), account("b"))
        const service = yield* TokenRefresh
        const before = service.current("a")
        const callers = yield* Effect.forEach(Array.from({ length: 50 }), () =>
          Effect.fork(service.refresh("a", "access-token-0"))
        )
        yield* arrived
        yield* settle
        yield* release
        const outcomes = yield* Fiber.join(Fiber.all(callers))
        assert.deepStrictEqual(new Set(outcomes), new Set(["refreshed"]))
        assert.strictEqual(server.requests.length, 1)
        assert.strictEqual(yield* service.refresh("a", "access-token-0"), "unchanged")
        assert.strictEqual(server.requests.length, 1)

        const stored = yield* (yield* ConnectionRepo).get("a")
        assert.strictEqual(accessOf(stored), "access-token-1")
        assert.strictEqual(refreshOf(stored), "refresh-token-1")
        assert.strictEqual(stored?.oauth?.expiresAtMs, 1_000_000 + 3_600_000)
        assert.strictEqual(stored?.oauth?.tokenUrl, tokens().tokenUrl)
        assert.strictEqual(yield* bearerOf("a"), "Bearer access-token-1")
        assert.strictEqual(yield* bearerOf("b"), "Bearer access-token-0")
        const snapshot = (yield* Catalog).current()
        assert.deepStrictEqual(
          snapshot.byProvider.get("lab")?.map(({ connection }) => accessOf(connection)),
          ["access-token-1", "access-token-0"]
        )
        assert.strictEqual(accessOf(snapshot.connections.find(({ id }) => id === "a")), "access-token-1")
        // What runs with the old account is left alone.
        assert.strictEqual(accessOf(before?.connection), "access-token-0")
      }).pipe(Effect.provide(house(server.layer)))
    })
  )

  it.effect("sends the form of RFC 6749 to the node's own token URL", () =>
    Effect.gen(function* () {
      const server = endpoint(rotating())
      yield* Effect.gen(function* () {
        yield* connect(account("a"))
        yield* (yield* TokenRefresh).refresh("a", null)
        const [request] = server.requests
        assert.strictEqual(request?.origin, "http://tokens.example")
        assert.strictEqual(request?.path, "/oauth/token?tenant=1")
        assert.strictEqual(request?.method, "POST")
        assert.strictEqual(request?.body, "grant_type=refresh_token&refresh_token=refresh-token-0")
        assert.isTrue(request?.headers.includes("application/x-www-form-urlencoded"))
      }).pipe(Effect.provide(house(server.layer)))
    })
  )

  it.effect("never uses a rotated refresh token again over 20 rounds, also across reloads", () =>
    Effect.gen(function* () {
      const server = endpoint(rotating())
      yield* Effect.gen(function* () {
        yield* connect(account("a"))
        const service = yield* TokenRefresh
        for (let round = 0; round < 20; round++) {
          const used = accessOf(service.current("a")?.connection)
          const both = yield* Effect.all([service.refresh("a", used), service.refresh("a", used)], {
            concurrency: "unbounded"
          })
          assert.include(both, "refreshed")
          if (round % 3 === 0) yield* (yield* Catalog).refresh
        }
        const sent = server.requests.map((_, n) => server.fields(n).get("refresh_token"))
        assert.deepStrictEqual(
          sent,
          Array.from({ length: 20 }, (_, n) => `refresh-token-${n}`)
        )
        assert.strictEqual(refreshOf(yield* (yield* ConnectionRepo).get("a")), "refresh-token-20")
      }).pipe(Effect.provide(house(server.layer)))
    })
  )

  it.effect("keeps the refresh token when the answer has none, and forgets the expiry it was not told", () =>
    Effect.gen(function* () {
      const server = endpoint(() => Effect.succeed(json({ access_token: "access-token-x" })))
      yield* Effect.gen(function* () {
        yield* connect(account("a", { expiresAtMs: 5 }))
        yield* (yield* TokenRefresh).refresh("a", null)
        const stored = yield* (yield* ConnectionRepo).get("a")
        assert.strictEqual(accessOf(stored), "access-token-x")
        assert.strictEqual(refreshOf(stored), "refresh-token-0")
        assert.isNull(stored?.oauth?.expiresAtMs)
      }).pipe(Effect.provide(house(server.layer)))
    })
  )

  it.effect("an interrupted caller leaves the renewal to the others", () =>
    Effect.gen(function* () {
      const { arrived, holding, release } = yield* held(rotating())
      const server = endpoint(holding)
      yield* Effect.gen(function* () {
        yield* connect(account("a"))
        const service = yield* TokenRefresh
        const first = yield* Effect.fork(service.refresh("a", "access-token-0"))
        yield* arrived
        const second = yield* Effect.fork(service.refresh("a", "access-token-0"))
        yield* settle
        yield* Fiber.interrupt(first)
        yield* release
        assert.strictEqual(yield* Fiber.join(second), "refreshed")
        assert.strictEqual(server.requests.length, 1)
        assert.strictEqual(yield* bearerOf("a"), "Bearer access-token-1")
      }).pipe(Effect.provide(house(server.layer)))
    })
  )

  it.effect("a dead refresh token is asked about once, until the login changes", () =>
    Effect.gen(function* () {
      const server = endpoint(() =>
        Effect.succeed(json({ error: "invalid_grant", error_description: "Token revoked" }, 400))
      )
      yield* Effect.gen(function* () {
        const login = account("a")
        yield* connect(login)
        const service = yield* TokenRefresh
        assert.isTrue(service.canRefresh(login))
        for (let n = 0; n < 3; n++) {
          const failed = yield* failureOf(service.refresh("a", "access-token-0"))
          assert.strictEqual(failed._tag, "RefreshDead")
          assert.include(failed.message, "invalid_grant: Token revoked")
        }
        assert.isFalse(service.canRefresh(login))
        yield* TestClock.adjust("1 hour")
        assert.strictEqual(server.requests.length, 1)

        server.respond = rotating({}, 7)
        const repo = yield* ConnectionRepo
        yield* repo.update({ ...login, oauth: tokens({ refreshToken: Redacted.make("refresh-token-7") }) })
        yield* (yield* Catalog).refresh
        assert.isTrue(service.canRefresh(login))
        assert.strictEqual(yield* service.refresh("a", null), "refreshed")
      }).pipe(Effect.provide(house(server.layer)))
    })
  )

  it.effect("a trouble of the endpoint is not the end, and is not asked about again at once", () =>
    Effect.gen(function* () {
      const server = endpoint(() => Effect.succeed(json({ error: "invalid_grant" }, 503)))
      yield* Effect.gen(function* () {
        const login = account("a")
        yield* connect(login)
        const service = yield* TokenRefresh
        const failed = yield* failureOf(service.refresh("a", null))
        assert.deepInclude(failed, { _tag: "RefreshTransient", reason: "status", status: 503, retryAfterMs: 5_000 })
        yield* TestClock.adjust("2 seconds")
        assert.deepInclude(yield* failureOf(service.refresh("a", null)), { retryAfterMs: 3_000 })
        assert.strictEqual(server.requests.length, 1)
        assert.isTrue(service.canRefresh(login))
        yield* TestClock.adjust("3 seconds")
        assert.deepInclude(yield* failureOf(service.refresh("a", null)), { retryAfterMs: 10_000 })
        server.respond = rotating()
        yield* TestClock.adjust("10 seconds")
        assert.strictEqual(yield* service.refresh("a", null), "refreshed")
        assert.strictEqual(server.requests.length, 3)
      }).pipe(Effect.provide(house(server.layer)))
    })
  )

  it.effect("names what kept the endpoint from answering; a closed idle connection is tried once more", () =>
    Effect.gen(function* () {
      const server = endpoint(() => Effect.fail(new TimedOut({ timeoutMs: 15_000 })))
      yield* Effect.gen(function* () {
        yield* connect(account("a"), account("b"), account("c"), account("d"))
        const service = yield* TokenRefresh
        assert.deepInclude(yield* failureOf(service.refresh("a", null)), { reason: "timeout" })
        server.respond = () => Effect.fail(transportFailure("dns"))
        assert.deepInclude(yield* failureOf(service.refresh("b", null)), { reason: "network" })
        server.respond = () => Effect.succeed({ status: 200, body: "<html>" })
        assert.deepInclude(yield* failureOf(service.refresh("c", null)), { reason: "malformed" })
        const before = server.requests.length
        server.respond = (request, fields) =>
          server.requests.length === before + 1 ? Effect.fail(transportFailure("reset")) : rotating()(request, fields)
        assert.strictEqual(yield* service.refresh("d", null), "refreshed")
      }).pipe(Effect.provide(house(server.layer)))
    })
  )

  it.effect("says when there is nothing to renew with", () =>
    Effect.gen(function* () {
      const server = endpoint(rotating())
      yield* Effect.gen(function* () {
        const noKey = account("no-refresh", { refreshToken: null })
        const noUrl = account("no-url", { tokenUrl: null })
        // The URL of a registry provider is the registry's, whatever its row says.
        const fixed = account("fixed", { tokenUrl: "http://evil.example/token" }, { provider: "openai" })
        const none = account("none", { tokenUrl: "http://evil.example/token" }, { provider: "groq" })
        yield* connect(noKey, noUrl, fixed, none)
        const service = yield* TokenRefresh
        const reason = (id: string) =>
          Effect.map(failureOf(service.refresh(id, null)), (failed) =>
            failed._tag === "RefreshImpossible" ? failed.reason : failed._tag
          )
        assert.strictEqual(yield* reason("no-refresh"), "no_refresh_token")
        assert.strictEqual(yield* reason("no-url"), "no_token_url")
        assert.strictEqual(yield* reason("none"), "no_token_url")
        assert.strictEqual(yield* reason("nobody"), "no_account")
        assert.deepStrictEqual([noKey, noUrl, none].map(service.canRefresh), [false, false, false])
        assert.deepStrictEqual(server.requests, [])
        server.respond = () => Effect.succeed(json({ access_token: "access-token-9" }))
        yield* service.refresh("fixed", null)
        assert.strictEqual(server.requests[0]?.origin, "https://auth.openai.com")
        assert.deepStrictEqual(JSON.parse(String(server.requests[0]?.body)), {
          grant_type: "refresh_token",
          refresh_token: "refresh-token-0"
        })
      }).pipe(Effect.provide(house(server.layer)))
    })
  )
})

describe("TokenRefresh and the operator", () => {
  it.effect("credentials changed while a renewal runs win, and the callers are told to try with them", () =>
    Effect.gen(function* () {
      const { arrived, holding, release } = yield* held(rotating())
      const server = endpoint(holding)
      yield* Effect.gen(function* () {
        const login = account("a")
        yield* connect(login)
        const service = yield* TokenRefresh
        const repo = yield* ConnectionRepo
        const caller = yield* Effect.fork(service.refresh("a", "access-token-0"))
        yield* arrived
        const theirs = tokens({ accessToken: Redacted.make("theirs"), refreshToken: Redacted.make("their-refresh") })
        yield* repo.update({ ...login, oauth: theirs })
        // The catalogue has not been read again yet.
        yield* release
        assert.strictEqual(yield* Fiber.join(caller), "unchanged")
        assert.strictEqual(refreshOf(yield* repo.get("a")), "their-refresh")
        assert.strictEqual(yield* bearerOf("a"), "Bearer theirs")
      }).pipe(Effect.provide(house(server.layer)))
    })
  )

  it.effect("another change of the connection, read before and written after, does not bring back the old tokens", () =>
    Effect.gen(function* () {
      const server = endpoint(rotating())
      yield* Effect.gen(function* () {
        yield* connect(account("a", { clientId: "mine" }))
        const service = yield* TokenRefresh
        const repo = yield* ConnectionRepo
        const read = yield* repo.get("a")
        yield* service.refresh("a", null)
        if (read !== null) yield* repo.update({ ...read, name: "renamed" })
        yield* (yield* Catalog).refresh
        const stored = yield* repo.get("a")
        assert.strictEqual(stored?.name, "renamed")
        assert.strictEqual(refreshOf(stored), "refresh-token-1")
        assert.strictEqual(stored?.oauth?.clientId, "mine")
        assert.strictEqual(yield* bearerOf("a"), "Bearer access-token-1")
      }).pipe(Effect.provide(house(server.layer)))
    })
  )

  it.effect("a connection removed or switched off while a renewal runs stays so", () =>
    Effect.gen(function* () {
      const { arrived, holding, release } = yield* held(rotating())
      const server = endpoint(holding)
      yield* Effect.gen(function* () {
        yield* connect(account("a"))
        const service = yield* TokenRefresh
        const repo = yield* ConnectionRepo
        const caller = yield* Effect.fork(service.refresh("a", null))
        yield* arrived
        yield* repo.remove("a")
        yield* (yield* Catalog).refresh
        yield* release
        assert.strictEqual(yield* Fiber.join(caller), "unchanged")
        assert.isNull(service.current("a"))
        assert.isNull(yield* repo.get("a"))
      }).pipe(Effect.provide(house(server.layer)))
    })
  )
})

describe("TokenRefresh and a store that cannot be written", () => {
  it.effect("uses the new tokens all the same, keeps rotating, and stores them when it can", () =>
    Effect.gen(function* () {
      const server = endpoint(rotating())
      yield* Effect.gen(function* () {
        yield* connect(account("a"))
        const service = yield* TokenRefresh
        const sql = yield* SqlClient.SqlClient
        const repo = yield* ConnectionRepo
        yield* sql`CREATE TRIGGER no_writes BEFORE UPDATE ON connections BEGIN SELECT RAISE(ABORT, 'disk full'); END`
        assert.strictEqual(yield* service.refresh("a", "access-token-0"), "refreshed")
        assert.strictEqual(yield* service.refresh("a", "access-token-1"), "refreshed")
        assert.strictEqual(refreshOf(yield* repo.get("a")), "refresh-token-0")
        // A reload reads the old ones and must not bring them back.
        yield* (yield* Catalog).refresh
        assert.strictEqual(yield* bearerOf("a"), "Bearer access-token-2")
        yield* TestClock.adjust("5 seconds")
        yield* sql`DROP TRIGGER no_writes`
        yield* TestClock.adjust("2 minutes")
        assert.strictEqual(refreshOf(yield* repo.get("a")), "refresh-token-2")
        assert.strictEqual(yield* service.refresh("a", "access-token-2"), "refreshed")
        assert.strictEqual(refreshOf(yield* repo.get("a")), "refresh-token-3")
      }).pipe(Effect.provide(house(server.layer)))
    })
  )
})

describe("TokenRefresh beforehand", () => {
  const hour = 3_600_000

  it.effect("does nothing while a token is good, renews in the background at its end, and waits after it", () =>
    Effect.gen(function* () {
      const { arrived, holding, release } = yield* held(rotating({ expires_in: 3600 }))
      const server = endpoint(holding)
      yield* Effect.gen(function* () {
        yield* connect(account("a", { expiresAtMs: hour }))
        const service = yield* TokenRefresh
        const fresh = () => {
          const connection = service.current("a")?.connection
          return connection === undefined ? Effect.die("gone") : service.ensureFresh(connection)
        }
        yield* TestClock.setTime(hour - 300_001)
        yield* fresh()
        yield* settle
        assert.strictEqual(server.requests.length, 0)
        yield* TestClock.setTime(hour - 300_000)
        // Comes back although the endpoint does not answer.
        yield* fresh()
        yield* fresh()
        yield* arrived
        assert.strictEqual(yield* bearerOf("a"), "Bearer access-token-0")
        yield* TestClock.setTime(hour)
        const waiting = yield* Effect.fork(fresh())
        yield* settle
        assert.isNull(yield* Fiber.poll(waiting).pipe(Effect.map((exit) => (exit._tag === "None" ? null : exit.value))))
        yield* release
        yield* Fiber.join(waiting)
        assert.strictEqual(server.requests.length, 1)
        assert.strictEqual(yield* bearerOf("a"), "Bearer access-token-1")
      }).pipe(Effect.provide(house(server.layer, { GATEWAY_DISABLE_TOKEN_HEALTHCHECK: "true" })))
    })
  )

  it.effect("a token that lives shorter than its lead is not renewed without pause", () =>
    Effect.gen(function* () {
      const server = endpoint(rotating({ expires_in: "100" }))
      yield* Effect.gen(function* () {
        yield* connect(account("a", { expiresAtMs: 1 }))
        const service = yield* TokenRefresh
        const fresh = Effect.suspend(() => {
          const connection = service.current("a")?.connection
          return connection === undefined ? Effect.die("gone") : service.ensureFresh(connection)
        })
        yield* TestClock.setTime(10)
        yield* fresh
        for (const second of [20, 40, 60, 79]) {
          yield* TestClock.setTime(second * 1000)
          yield* fresh
          yield* settle
        }
        assert.strictEqual(server.requests.length, 1)
        yield* TestClock.setTime(81_000)
        yield* fresh
        yield* settle
        assert.strictEqual(server.requests.length, 2)
      }).pipe(Effect.provide(house(server.layer, { GATEWAY_DISABLE_TOKEN_HEALTHCHECK: "true" })))
    })
  )

  it.effect("fails when the token is over and there is no new one, and asks the endpoint once", () =>
    Effect.gen(function* () {
      const server = endpoint(() => Effect.succeed(json({}, 500)))
      yield* Effect.gen(function* () {
        yield* connect(account("a", { expiresAtMs: 1 }), account("b", { expiresAtMs: 1, refreshToken: null }))
        yield* TestClock.setTime(10)
        const service = yield* TokenRefresh
        for (const id of ["a", "b", "a"]) {
          const connection = service.current(id)?.connection
          assert.isDefined(connection)
          if (connection === undefined) continue
          const failed = yield* Effect.flip(service.ensureFresh(connection))
          assert.strictEqual(failed._tag, id === "a" ? "RefreshTransient" : "RefreshImpossible")
        }
        assert.strictEqual(server.requests.length, 1)
      }).pipe(Effect.provide(house(server.layer)))
    })
  )

  it.effect("looks after idle accounts, one at a time, those that end first before the others", () =>
    Effect.gen(function* () {
      const now = yield* Clock.currentTimeMillis
      let inFlight = 0
      let most = 0
      const server = endpoint(() =>
        Effect.gen(function* () {
          inFlight += 1
          most = Math.max(most, inFlight)
          yield* Effect.sleep("1 second")
          inFlight -= 1
          return json({ access_token: "renewed-token", expires_in: 86_400 })
        })
      )
      yield* Effect.gen(function* () {
        const ending = (id: string, minutes: number) =>
          account(id, { expiresAtMs: now + minutes * 60_000, refreshToken: Redacted.make(`refresh-of-${id}`) })
        yield* connect(ending("late", 600), ending("second", 12), ending("first", 11), account("unknown"))
        yield* TestClock.adjust("30 minutes")
        assert.deepStrictEqual(
          server.requests.map((_, n) => server.fields(n).get("refresh_token")),
          ["refresh-of-first", "refresh-of-second"]
        )
        assert.strictEqual(most, 1)
        assert.strictEqual(yield* bearerOf("first"), "Bearer renewed-token")
      }).pipe(Effect.provide(house(server.layer)))
    })
  )

  it.effect("leaves them alone when the operator switched the check off", () =>
    Effect.gen(function* () {
      const server = endpoint(rotating())
      yield* Effect.gen(function* () {
        yield* connect(account("a", { expiresAtMs: 1 }))
        yield* TestClock.adjust("1 hour")
        assert.strictEqual(server.requests.length, 0)
      }).pipe(Effect.provide(house(server.layer, { GATEWAY_DISABLE_TOKEN_HEALTHCHECK: "true" })))
    })
  )
})
