import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Scope from "effect/Scope"
import { Catalog } from "../../../src/plane/providers/Catalog.ts"
import { TokenRefresh } from "../../../src/plane/providers/oauth/TokenRefresh.ts"
import * as Repos from "../../../src/store/Repos.generated.ts"
import * as Secrets from "../../../src/store/secrets/Secrets.ts"
import { ConnectionRepo } from "../../../src/subjects/connections/repo.ts"
import { NodeRepo } from "../../../src/subjects/nodes/repo.ts"
import * as Fake from "../../support/FakeUpstream.ts"
import * as SecretSink from "../../support/SecretSink.ts"
import { transport } from "../../unit/egress/harness.ts"
import { accessOf, account, lab, logTo, refreshOf, rooms } from "../../unit/providers/oauth/harness.ts"
import { onDisk, temporaryFolder } from "../../unit/store/fixtures.ts"

const secrets = {
  access: "old-access-token-5up3r",
  refresh: "old-refresh-token/+&=5up3r",
  client: "client secret % 5up3r",
  newAccess: "new-access-token-5up3r",
  newRefresh: "new-refresh-token-5up3r"
}

const login = (upstream: Fake.FakeUpstream) =>
  account("a", {
    accessToken: Redacted.make(secrets.access),
    refreshToken: Redacted.make(secrets.refresh),
    clientId: "client-1",
    clientSecret: Redacted.make(secrets.client),
    tokenUrl: `${upstream.origin}/token`
  })

const connect = (upstream: Fake.FakeUpstream) =>
  Effect.gen(function* () {
    yield* (yield* NodeRepo).insert(lab)
    yield* (yield* ConnectionRepo).insert(login(upstream))
    yield* (yield* Catalog).refresh
  })

/** The real transport over a store on disk. */
const house = (dataDir: string) => {
  const store = Repos.layer.pipe(Layer.provideMerge(Secrets.layer), Layer.provideMerge(onDisk(dataDir)))
  return rooms(transport()).pipe(Layer.provideMerge(store))
}

const renewed = Fake.json({
  access_token: secrets.newAccess,
  refresh_token: secrets.newRefresh,
  expires_in: 3600,
  token_type: "bearer"
})

const authorizationOf = (request: Fake.RecordedRequest | undefined) =>
  Buffer.from(request?.headers.authorization?.slice("Basic ".length) ?? "", "base64").toString()

describe("a token endpoint on a real socket", () => {
  it.live("one call for 50 refused requests; the pair is there after a restart", () =>
    Effect.gen(function* () {
      const upstream = yield* Fake.start
      const folder = yield* temporaryFolder
      const latch = Fake.makeLatch()
      upstream.enqueue(async (response, request) => {
        await latch.opened
        await renewed(response, request)
      })
      yield* Effect.gen(function* () {
        yield* connect(upstream)
        const service = yield* TokenRefresh
        const callers = yield* Effect.forEach(Array.from({ length: 50 }), () =>
          Effect.fork(service.refresh("a", secrets.access))
        )
        yield* Effect.promise(() => upstream.received(1))
        latch.open()
        const outcomes = yield* Fiber.join(Fiber.all(callers))
        assert.deepStrictEqual([...new Set(outcomes)], ["refreshed"])
        assert.strictEqual(authorizationOf(upstream.requests[0]), "client-1:client+secret+%25+5up3r")
        assert.strictEqual(upstream.requests[0]?.headers["content-type"], "application/x-www-form-urlencoded")
        assert.strictEqual(new URLSearchParams(upstream.requests[0]?.body).get("refresh_token"), secrets.refresh)
      }).pipe(Effect.provide(house(folder)))
      assert.strictEqual(upstream.requests.length, 1)

      yield* Effect.gen(function* () {
        const connection = (yield* TokenRefresh).current("a")?.connection
        assert.strictEqual(accessOf(connection), secrets.newAccess)
        assert.strictEqual(refreshOf(connection), secrets.newRefresh)
      }).pipe(Effect.provide(house(folder)))
    }).pipe(Effect.scoped)
  )

  it.live("a gateway that stops while the provider answers still stores the pair", () =>
    Effect.gen(function* () {
      const upstream = yield* Fake.start
      const folder = yield* temporaryFolder
      const latch = Fake.makeLatch()
      upstream.enqueue(async (response, request) => {
        await latch.opened
        await renewed(response, request)
      })
      const life = yield* Scope.make()
      const context = yield* Layer.buildWithScope(house(folder), life)
      yield* Effect.gen(function* () {
        yield* connect(upstream)
        const caller = yield* Effect.fork((yield* TokenRefresh).refresh("a", secrets.access))
        yield* Effect.promise(() => upstream.received(1))
        yield* Fiber.interrupt(caller)
      }).pipe(Effect.provide(context))
      const stopping = yield* Effect.fork(Scope.close(life, Exit.void))
      yield* Effect.yieldNow()
      latch.open()
      yield* Fiber.join(stopping)
      const stored = yield* Effect.flatMap(ConnectionRepo, (repo) => repo.get("a")).pipe(Effect.provide(house(folder)))
      assert.strictEqual(refreshOf(stored), secrets.newRefresh)
    }).pipe(Effect.scoped)
  )

  it.live("a client that is refused in the header is shown in the body", () =>
    Effect.gen(function* () {
      const upstream = yield* Fake.start
      upstream.enqueue(Fake.json({ error: "invalid_client" }, { status: 401 }), renewed)
      const folder = yield* temporaryFolder
      yield* Effect.gen(function* () {
        yield* connect(upstream)
        assert.strictEqual(yield* (yield* TokenRefresh).refresh("a", null), "refreshed")
        const [first, second] = upstream.requests
        assert.isUndefined(second?.headers.authorization)
        assert.isNull(new URLSearchParams(first?.body).get("client_secret"))
        assert.strictEqual(new URLSearchParams(second?.body).get("client_secret"), secrets.client)
      }).pipe(Effect.provide(house(folder)))
    }).pipe(Effect.scoped)
  )

  const faults: ReadonlyArray<readonly [string, Fake.Answer, "status" | "malformed" | "network"]> = [
    [
      "a redirect, which is not followed",
      Fake.text("", { status: 307, headers: { location: "/elsewhere" } }),
      "status"
    ],
    ["an error page", Fake.text("<html>", { status: 502 }), "status"],
    ["an endless answer", Fake.text("x".repeat(200_000)), "malformed"],
    ["a cut answer", Fake.truncated('{"access_token":"tok'), "network"],
    ["something that is not HTTP", Fake.raw(["SSH-2.0\r\n"]), "network"]
  ]
  for (const [name, fault, reason] of faults) {
    it.live(`${name} is not the end of the account`, () =>
      Effect.gen(function* () {
        const upstream = yield* Fake.start
        upstream.always(fault)
        const folder = yield* temporaryFolder
        yield* Effect.gen(function* () {
          yield* connect(upstream)
          const failed = yield* Effect.flip((yield* TokenRefresh).refresh("a", null))
          assert.deepInclude(failed, { _tag: "RefreshTransient", reason })
          assert.strictEqual(refreshOf(yield* (yield* ConnectionRepo).get("a")), secrets.refresh)
        }).pipe(Effect.provide(house(folder)))
        assert.isTrue(upstream.requests.every(({ url }) => url === "/token"))
      }).pipe(Effect.scoped)
    )
  }

  it.live("tells no secret to any log, whatever the provider repeats", () =>
    Effect.gen(function* () {
      const sink = SecretSink.make()
      const logs: Array<string> = []
      const upstream = yield* Fake.start
      const echo: Fake.Answer = (response, request) =>
        Fake.json(
          {
            error: "invalid_grant",
            error_description: `${secrets.newAccess} ${secrets.newRefresh} ${request.headers.authorization} ${request.body}`
          },
          { status: 400 }
        )(response, request)
      upstream.enqueue(renewed)
      upstream.always(echo)
      const folder = yield* temporaryFolder
      const failed = yield* Effect.gen(function* () {
        yield* connect(upstream)
        const service = yield* TokenRefresh
        yield* service.refresh("a", null)
        return yield* Effect.flip(service.refresh("a", null))
      }).pipe(
        Effect.provide(house(folder)),
        Effect.provide(sink.layer),
        Effect.provide(logTo((line) => logs.push(line)))
      )
      assert.strictEqual(failed._tag, "RefreshDead")
      assert.isTrue(logs.some((line) => line.includes("invalid_grant")))
      const told = [...logs, JSON.stringify(failed), String(failed), ...Object.values(sink.contents())].join("\n")
      const encoded = Buffer.from("client-1:client+secret+%25+5up3r").toString("base64")
      const basic = [...Object.values(secrets), encoded]
      for (const secret of [...basic, ...basic.map(encodeURIComponent), "5up3r"]) assert.notInclude(told, secret)
    }).pipe(Effect.scoped)
  )
})
