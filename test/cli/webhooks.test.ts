/** `gateway webhook …` against a running gateway and a real receiver. */
import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { afterAll, beforeAll, vi } from "vitest"
import { adminKey, layerOf, TestApp } from "../http/management/TestApp.ts"
import * as Fake from "../support/FakeUpstream.ts"
import { answering, assertSigned } from "../support/Receiver.ts"
import { typed } from "../unit/cli/inProcess.ts"

beforeAll(() => void vi.stubEnv("DATA_DIR", "/nonexistent"))
afterAll(() => vi.unstubAllEnvs())

const reachable = layerOf({ environment: new Map([["OUTBOUND_SSRF_GUARD_ENABLED", "false"]]) })

const asked = Effect.fnUntraced(function* (...words: ReadonlyArray<string>) {
  const { url } = yield* TestApp
  return yield* typed([...words, "--url", url, "--gateway-key", adminKey])
})

const json = Effect.fnUntraced(function* (...words: ReadonlyArray<string>) {
  const { code, stderr, stdout } = yield* asked(...words, "--json")
  assert.strictEqual(code, 0, stderr)
  return JSON.parse(stdout)
})

layer(reachable, { excludeTestServices: true })("gateway webhook", (it) => {
  it.scoped("adds, tests, lists, changes and removes a webhook", () =>
    Effect.gen(function* () {
      const receiver = yield* Fake.start
      receiver.enqueue(answering(200), answering(500))
      const hook = `${receiver.origin}/in`

      const added = yield* asked("webhooks", "add", hook, "--event", "request.failed")
      assert.strictEqual(added.code, 0, added.stderr)
      const secret = added.stdout.trim()
      assert.match(secret, /^whsec_[0-9a-f]{48}$/)

      assert.deepStrictEqual(yield* json("webhooks", "test", hook), { delivered: true, status: 200, error: null })
      const { data, event } = assertSigned(yield* Effect.promise(() => receiver.received(1)), secret)
      assert.strictEqual(event, "test.ping")
      assert.isString(data["message"])
      assert.isString(data["webhookId"])

      const failed = yield* asked("webhooks", "test", hook)
      assert.strictEqual(failed.code, 1)
      assert.include(failed.stderr, "The receiver answered 500.")

      const { deliveries } = yield* json("webhooks", "deliveries", hook)
      assert.deepStrictEqual(
        deliveries.map(({ status, success }: Record<string, unknown>) => [status, success]),
        [
          [500, false],
          [200, true]
        ]
      )

      const disabled = yield* json("webhooks", "disable", hook)
      assert.strictEqual(disabled.webhook.enabled, 0)
      const edited = yield* json("webhooks", "edit", hook, "--event", "*", "--description", "All of it")
      assert.deepInclude(edited.webhook, { events: ["*"], description: "All of it", enabled: 0, secret })
      assert.strictEqual((yield* json("webhooks", "enable", hook)).webhook.enabled, 1)

      const { webhooks } = yield* json("webhooks", "list")
      assert.deepInclude(webhooks[0], { url: hook, secret: `${secret.slice(0, 10)}…` })
      const table = yield* asked("webhooks", "list")
      assert.include(table.stdout, hook)

      const { code } = yield* asked("webhooks", "remove", String(webhooks[0].id).slice(0, 8))
      assert.strictEqual(code, 0)
      assert.deepStrictEqual((yield* json("webhooks", "list")).webhooks, [])
    })
  )

  it.scoped("says what is wrong with an address", () =>
    Effect.gen(function* () {
      const { code, stderr } = yield* asked("webhooks", "add", "gopher://old.example")
      assert.strictEqual(code, 2)
      assert.include(stderr, "<url>: must be an http or https URL")
      const unknown = yield* asked("webhooks", "test", "https://nowhere.example")
      assert.strictEqual(unknown.code, 2)
    })
  )
})
