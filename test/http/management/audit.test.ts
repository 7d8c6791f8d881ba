/** The audit log: one row for each management request that may change something. */
import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { adminKey, adminPassword, layerOf, logIn, TestApp } from "./TestApp.ts"

interface Row {
  readonly id: string
  readonly action: string
  readonly actor: string
  readonly target: string | null
  readonly status: string
  readonly requestId: string
  readonly resourceType: string
  readonly ip: string
  readonly details: {
    readonly httpStatus: number
    readonly code?: string
    readonly fields?: ReadonlyArray<string>
    readonly changes?: ReadonlyArray<Change>
  }
}

interface Change {
  readonly field: string
  readonly before?: unknown
  readonly after?: unknown
  readonly hidden?: true
}

const path = "/api/compliance/audit-log"

const rowsOf = (query: string) =>
  Effect.gen(function* () {
    const app = yield* TestApp
    const answer = yield* app.admin(`${path}${query}`)
    assert.strictEqual(answer.status, 200, answer.text)
    return { rows: JSON.parse(answer.text) as ReadonlyArray<Row>, answer }
  })

const idOf = (headers: Readonly<Record<string, unknown>>): string => String(headers["x-gateway-request-id"])

layer(layerOf())("the audit log", (it) => {
  it.effect("has one row for each change, refusal and login, and none for what only reads", () =>
    Effect.gen(function* () {
      const app = yield* TestApp
      const secret = "sk-very-secret-0123456789"
      const made = yield* app.admin("/api/providers", {
        method: "POST",
        body: { provider: "openai", name: "work", apiKey: secret }
      })
      assert.strictEqual(made.status, 201, made.text)
      const id = String(made.at("connection.id"))
      const wrong = yield* app.admin("/api/providers", {
        method: "POST",
        body: { provider: "openai", [secret]: secret }
      })
      assert.strictEqual(wrong.status, 400)
      const notJson = yield* app.admin("/api/providers", { method: "POST", body: `{"${secret}` })
      assert.strictEqual(notJson.status, 400)
      const stranger = yield* app.call(`/api/providers/${id}`, { method: "DELETE" })
      assert.strictEqual(stranger.status, 401)
      yield* app.admin("/api/providers")
      const bad = yield* app.call("/api/auth/login", { method: "POST", body: { password: "not this one" } })
      assert.strictEqual(bad.status, 401)
      const session = yield* logIn
      const settings = yield* app.call("/api/settings", {
        method: "PATCH",
        headers: { ...session.cookie, ...session.csrf },
        body: { usage: { retentionDays: 30 } }
      })
      assert.strictEqual(settings.status, 200, settings.text)
      const key = yield* app.admin("/api/keys", { method: "POST", body: { name: "ci", scopes: ["manage"] } })
      assert.strictEqual(key.status, 201, key.text)
      const removed = yield* app.call(`/api/providers/${id}`, {
        method: "DELETE",
        headers: { authorization: `Bearer ${String(key.at("secret"))}` }
      })
      assert.strictEqual(removed.status, 204)
      const client = yield* app.admin("/api/keys", { method: "POST", body: { name: "client" } })
      const tried = yield* app.call("/api/keys", {
        method: "POST",
        body: { name: "more" },
        headers: { authorization: `Bearer ${String(client.at("secret"))}` }
      })
      assert.strictEqual(tried.status, 403)
      const forged = yield* app.call("/api/settings", { method: "PATCH", headers: session.cookie, body: {} })
      assert.strictEqual(forged.status, 403)

      const { answer, rows } = yield* rowsOf("")
      assert.deepStrictEqual(
        rows
          .toReversed()
          .map(({ action, actor, status, details }) => [
            action,
            actor.replace(/^session:.*/, "session"),
            status,
            details.httpStatus
          ]),
        [
          ["provider.credentials.created", "admin-key", "success", 201],
          ["provider.credentials.created", "admin-key", "failure", 400],
          ["provider.credentials.created", "admin-key", "failure", 400],
          ["provider.credentials.revoked", "anonymous", "failure", 401],
          ["auth.login.failed", "anonymous", "failure", 401],
          ["auth.login.success", "admin", "success", 200],
          ["settings.update", "session", "success", 200],
          ["apiKey.scopes.grant", "admin-key", "success", 201],
          ["provider.credentials.revoked", `apiKey:${String(key.at("key.id"))}`, "success", 204],
          ["keys.create", "admin-key", "success", 201],
          ["keys.create", `apiKey:${String(client.at("key.id"))}`, "failure", 403],
          ["settings.update_failed", "session", "failure", 403]
        ]
      )
      assert.strictEqual(answer.headers["x-total-count"], "12")
      assert.strictEqual(answer.headers["x-page-limit"], "100")
      assert.strictEqual(answer.headers["x-page-offset"], "0")

      const first = rows.at(-1)
      if (first === undefined) return assert.fail("there is no row")
      assert.strictEqual(first.target, id)
      assert.strictEqual(first.requestId, idOf(made.headers))
      assert.strictEqual(first.resourceType, "providers")
      assert.include(["127.0.0.1", "::ffff:127.0.0.1", "::1"], first.ip)
      assert.deepStrictEqual(first.details.fields, ["provider", "name", "apiKey"])
      for (const hidden of [secret, adminKey, adminPassword, "not this one", String(key.at("secret"))]) {
        assert.notInclude(answer.text, hidden)
      }
    })
  )

  it.effect("finds rows by action, actor, target, request, status and time, page by page", () =>
    Effect.gen(function* () {
      const app = yield* TestApp
      const made = yield* app.admin("/api/combos", {
        method: "POST",
        body: { name: "one", strategy: "priority", targets: [{ model: "openai/gpt-4o" }] }
      })
      assert.strictEqual(made.status, 201, made.text)
      const target = String(made.at("combo.id"))
      const count = (query: string) => Effect.map(rowsOf(query), ({ rows }) => rows.length)
      assert.strictEqual(yield* count(`?action=combos.create&target=${target}`), 1)
      assert.strictEqual(yield* count(`?requestId=${idOf(made.headers)}`), 1)
      assert.strictEqual(yield* count("?action=auth.login.*&status=failure"), 1)
      assert.strictEqual(yield* count("?actor=anonymous&action=auth.login.success"), 0)
      assert.strictEqual(yield* count("?from=2000-01-01T00:00:00Z&to=2000-01-02T00:00:00Z"), 0)
      const all = yield* rowsOf("")
      const second = yield* rowsOf("?limit=1&offset=1")
      assert.deepStrictEqual(second.rows, all.rows.slice(1, 2))
      assert.strictEqual(second.answer.headers["x-total-count"], String(all.rows.length))
      assert.strictEqual(second.answer.headers["x-page-offset"], "1")
      const refused = yield* app.admin(`${path}?limit=501&nonsense=1`)
      assert.strictEqual(refused.status, 400)
      assert.include(refused.text, "nonsense")
      const anonymous = yield* app.call(path)
      assert.strictEqual(anonymous.status, 401)
    })
  )
})

layer(layerOf())("what a change has made, in the audit log", (it) => {
  it.effect("says field by field what a change has made of an object, and keeps no secret", () =>
    Effect.gen(function* () {
      const app = yield* TestApp
      const changed = yield* app.admin("/api/settings", {
        method: "PATCH",
        body: { backup: { keepLast: 4 }, sharedKey: "canary-shared-key-0123456789" }
      })
      assert.strictEqual(changed.status, 200, changed.text)
      const [row] = (yield* rowsOf(`?requestId=${idOf(changed.headers)}`)).rows
      assert.deepStrictEqual(row?.details.changes, [
        { field: "backup.keepLast", before: 7, after: 4 },
        { field: "sharedKey", hidden: true }
      ])
      const hook = yield* app.admin("/api/webhooks", {
        method: "POST",
        body: { url: "https://hooks.example.com/canary-path", secret: "whsec_canary0123456789" }
      })
      assert.strictEqual(hook.status, 201, hook.text)
      const at = `/api/webhooks/${String(hook.at("webhook.id") ?? hook.at("id"))}`
      const put = yield* app.admin(at, {
        method: "PUT",
        body: { description: "for the team", secret: "whsec_canary9876543210" }
      })
      assert.strictEqual(put.status, 200, put.text)
      const [edited] = (yield* rowsOf(`?requestId=${idOf(put.headers)}`)).rows
      assert.sameDeepMembers(
        (edited?.details.changes ?? []).map(({ field, hidden }) => [field.split(".").at(-1), hidden ?? false]),
        [
          ["description", false],
          ["secret", true]
        ]
      )
      const removed = yield* app.admin(at, { method: "DELETE" })
      assert.strictEqual(removed.status, 204)
      const [gone] = (yield* rowsOf(`?requestId=${idOf(removed.headers)}`)).rows
      assert.isTrue(
        gone?.details.changes?.some(({ after, before }) => before === "for the team" && after === undefined)
      )
      assert.notInclude((yield* rowsOf("?limit=500")).answer.text, "canary")
      yield* app.admin("/api/settings", { method: "PATCH", body: { backup: { keepLast: 7 }, sharedKey: null } })
      const refused = yield* app.admin("/api/settings", { method: "PATCH", body: { backup: { keepLast: -1 } } })
      assert.strictEqual(refused.status, 400)
      const [wrong] = (yield* rowsOf(`?requestId=${idOf(refused.headers)}`)).rows
      assert.notProperty(wrong?.details, "changes")
    })
  )
})
