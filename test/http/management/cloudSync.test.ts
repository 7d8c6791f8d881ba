/** Two gateways and a server between them, on real sockets. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as SyncServer from "../../support/SyncServer.ts"
import * as TestGateway from "../../support/TestGateway.ts"

const key = "the shared key of a team"
// The server of the test is on this machine, which the guard of calls that go out refuses.
const environment = new Map([["OUTBOUND_SSRF_GUARD_ENABLED", "false"]])
const gateway = TestGateway.start({ environment })

const raw = async ({ url }: TestGateway.TestGateway, method: string, path: string, body?: unknown, headers = {}) => {
  const response = await fetch(url + path, {
    method,
    headers: { authorization: `Bearer ${TestGateway.adminKey}`, "content-type": "application/json", ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) })
  })
  return { status: response.status, headers: response.headers, text: await response.text() }
}

const comboNames = async ({ manage }: TestGateway.TestGateway): Promise<ReadonlyArray<string>> =>
  (await manage("GET", "/api/combos")).combos.map(({ name }: { readonly name: string }) => name).sort()

const enable = ({ manage }: TestGateway.TestGateway, { url }: SyncServer.SyncServer) =>
  manage("POST", "/api/sync/cloud", { action: "enable", cloudUrl: url, sharedKey: key })

describe("cloud sync", () => {
  it.scopedLive("brings combos and aliases of one gateway to another, and no credential", () =>
    Effect.gen(function* () {
      const server = yield* SyncServer.start(key)
      const one = yield* gateway
      const other = yield* gateway
      yield* Effect.promise(async () => {
        assert.deepInclude(await one.manage("GET", "/api/sync/cloud"), {
          enabled: false,
          connected: null,
          lastSyncAt: null
        })
        await one.manage("POST", "/api/providers", { provider: "openai", apiKey: "sk-secret-0123456789" })
        await one.combo("shared", "openai/gpt-4o")
        await one.manage("POST", "/api/models/alias", { alias: "small", model: "openai/gpt-4o-mini" })
        const state = await enable(one, server)
        assert.strictEqual(state.enabled, true)
        assert.strictEqual(state.connected, true)
        assert.notInclude(JSON.stringify(state), key)
        assert.notInclude(server.kept()?.body ?? "", "sk-secret")

        await other.combo("own", "openai/gpt-4o")
        await enable(other, server)
        assert.deepStrictEqual(await comboNames(other), ["own", "shared"])
        await one.manage("POST", "/api/sync/cloud", { action: "sync" })
        assert.deepStrictEqual(await comboNames(one), ["own", "shared"])

        const before = server.kept()
        await one.manage("POST", "/api/sync/initialize")
        assert.strictEqual(server.kept(), before, "nothing new is sent when nothing has changed")
        assert.strictEqual((await one.manage("POST", "/api/sync/cloud", { action: "disable" })).enabled, false)
      })
    })
  )

  it.scopedLive("gives out a signed bundle, and 304 to who has it", () =>
    Effect.gen(function* () {
      const one = yield* gateway
      yield* Effect.promise(async () => {
        const unsigned = await raw(one, "GET", "/api/sync/bundle")
        assert.strictEqual(unsigned.status, 400)
        assert.include(unsigned.text, "sharedKey")
        const settings = await one.manage("PATCH", "/api/settings", { sharedKey: key })
        assert.notInclude(JSON.stringify(settings), key)
        const answer = await raw(one, "GET", "/api/sync/bundle")
        assert.strictEqual(answer.headers.get("x-gateway-signature"), SyncServer.sign(key, answer.text))
        const bundle = JSON.parse(answer.text)
        assert.hasAllKeys(bundle, ["version", "configHash", "config"])
        const etag = answer.headers.get("etag") ?? ""
        assert.strictEqual(etag, `"${bundle.configHash}"`)
        assert.strictEqual(
          (await raw(one, "GET", "/api/sync/bundle", undefined, { "if-none-match": etag })).status,
          304
        )
        await one.combo("new", "openai/gpt-4o")
        const later = JSON.parse((await raw(one, "GET", "/api/sync/bundle")).text)
        assert.strictEqual(later.version, bundle.version + 1)
        assert.notStrictEqual(later.configHash, bundle.configHash)
      })
    })
  )

  it.scopedLive("takes nothing of a bundle with a wrong signature, none, or an earlier version", () =>
    Effect.gen(function* () {
      const server = yield* SyncServer.start(key)
      const one = yield* gateway
      const other = yield* gateway
      yield* Effect.promise(async () => {
        await one.combo("shared", "openai/gpt-4o")
        await enable(one, server)
        const first = server.kept() ?? assert.fail("nothing was sent")
        const forged = first.body.replace("shared", "forged")
        for (const signature of [first.signature, "", "sha256=", "sha256=00", SyncServer.sign("another key", forged)]) {
          server.keep({ body: forged, signature })
          const answer = await raw(other, "POST", "/api/sync/cloud", {
            action: "enable",
            cloudUrl: server.url,
            sharedKey: key
          })
          assert.strictEqual(answer.status, 502, signature)
          assert.include(answer.text, "signature")
          assert.deepStrictEqual(await comboNames(other), [])
          assert.deepInclude(await other.manage("GET", "/api/sync/cloud"), { enabled: false, connected: false })
          assert.strictEqual(server.kept()?.body, forged, "nothing was sent either")
        }

        // Played back: signed, but older than what this gateway has sent.
        server.keep(first)
        await one.combo("second", "openai/gpt-4o")
        await one.manage("POST", "/api/sync/cloud", { action: "sync" })
        await one.manage("PUT", `/api/combos/${(await one.manage("GET", "/api/combos")).combos[0].id}`, {
          isActive: false
        })
        await one.manage("POST", "/api/sync/cloud", { action: "sync" })
        server.keep(first)
        await one.manage("POST", "/api/sync/cloud", { action: "sync" })
        assert.deepStrictEqual(await comboNames(one), ["second", "shared"])
        assert.isAbove(JSON.parse(server.kept()?.body ?? "{}").version, JSON.parse(first.body).version)
      })
    })
  )

  it.scopedLive("says 502 when the server is out of reach, and 400 for what may not be called", () =>
    Effect.gen(function* () {
      const one = yield* gateway
      const guarded = yield* TestGateway.start()
      yield* Effect.promise(async () => {
        const enabling = { action: "enable", cloudUrl: "http://127.0.0.1:9", sharedKey: key }
        assert.strictEqual((await raw(one, "POST", "/api/sync/cloud", enabling)).status, 502)
        const metadata = { ...enabling, cloudUrl: "http://169.254.169.254/latest" }
        assert.strictEqual((await raw(guarded, "POST", "/api/sync/cloud", metadata)).status, 400)
        assert.strictEqual((await raw(one, "POST", "/api/sync/cloud", { action: "erase" })).status, 400)
        assert.strictEqual(
          (await raw(one, "POST", "/api/sync/cloud", { action: "enable", sharedKey: "short" })).status,
          400
        )
      })
    })
  )

  it.scopedLive("forgets the server and the key when they are set to null, not before it is switched off", () =>
    Effect.gen(function* () {
      const server = yield* SyncServer.start(key)
      const one = yield* gateway
      yield* Effect.promise(async () => {
        await enable(one, server)
        const early = await raw(one, "PATCH", "/api/settings", { cloudUrl: null })
        assert.strictEqual(early.status, 400, early.text)
        assert.include(early.text, "disable")
        await one.manage("POST", "/api/sync/cloud", { action: "disable" })
        const settings = await one.manage("PATCH", "/api/settings", { cloudUrl: null, sharedKey: null })
        assert.deepInclude(settings, { cloudUrl: null, sharedKey: null })
        assert.deepInclude(await one.manage("GET", "/api/sync/cloud"), { cloudUrl: null, sharedKey: null })
        assert.strictEqual((await raw(one, "POST", "/api/sync/cloud", { action: "enable" })).status, 400)
      })
    })
  )
})
