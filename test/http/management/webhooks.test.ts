/** `/api/webhooks`: what is stored, what is shown of it, and what is refused. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { type Answer, layerOf, TestApp } from "./TestApp.ts"

const secretOf = (answer: Answer): string => String(answer.at("webhook.secret"))

// An address of documentation would be refused as one that belongs to nobody.
const url = "https://1.1.1.1/hook"

it.layer(layerOf())("webhooks", (test) => {
  test.scoped("are made with a secret, which lists cut off", () =>
    Effect.gen(function* () {
      const { admin } = yield* TestApp
      const made = yield* admin("/api/webhooks", { method: "POST", body: { url } })
      assert.strictEqual(made.status, 201)
      assert.match(secretOf(made), /^whsec_[0-9a-f]{48}$/)
      assert.deepStrictEqual(made.at("webhook.events"), ["*"])
      assert.strictEqual(made.at("webhook.enabled"), 1)
      assert.strictEqual(made.at("webhook.kind"), "custom")
      const id = String(made.at("webhook.id"))
      assert.match(id, /^[0-9a-f-]{36}$/)
      const listed = yield* admin("/api/webhooks")
      assert.strictEqual(listed.at("webhooks.0.secret"), `${secretOf(made).slice(0, 10)}…`)
      assert.notInclude(listed.text, secretOf(made))
      const shown = yield* admin(`/api/webhooks/${id}`)
      assert.strictEqual(secretOf(shown), secretOf(made))
      const changed = yield* admin(`/api/webhooks/${id}`, {
        method: "PUT",
        body: { enabled: false, events: ["request.failed"], description: "Alerts" }
      })
      assert.deepStrictEqual(
        ["enabled", "events", "description"].map((name) => changed.at(`webhook.${name}`)),
        [0, ["request.failed"], "Alerts"]
      )
      assert.strictEqual(secretOf(changed), secretOf(made))
      assert.deepStrictEqual((yield* admin(`/api/webhooks/${id}/deliveries`)).at("deliveries"), [])
      assert.strictEqual((yield* admin(`/api/webhooks/${id}`, { method: "DELETE" })).status, 204)
      for (const path of ["", "/deliveries"]) {
        assert.strictEqual((yield* admin(`/api/webhooks/${id}${path}`)).status, 404)
      }
    })
  )

  test.scoped("take a secret and names that nobody knows", () =>
    Effect.gen(function* () {
      const { admin } = yield* TestApp
      const body = { url, secret: "my-own", events: ["request.completed", "moon.rose"], kind: "slack", enabled: 0 }
      const made = yield* admin("/api/webhooks", { method: "POST", body })
      assert.strictEqual(made.status, 201)
      for (const [name, value] of Object.entries(body)) assert.deepStrictEqual(made.at(`webhook.${name}`), value)
    })
  )

  test.scoped("have quiet hours in a time zone, which can be changed and taken away", () =>
    Effect.gen(function* () {
      const { admin } = yield* TestApp
      const plain = yield* admin("/api/webhooks", { method: "POST", body: { url } })
      assert.strictEqual(plain.at("webhook.timeZone"), "UTC")
      assert.isNull(plain.at("webhook.quietHours"))
      const path = `/api/webhooks/${plain.at("webhook.id")}`
      const quietHours = {
        windows: [
          { from: "22:00", to: "07:00" },
          { days: ["sun", "sat"], from: "00:00", to: "00:00" }
        ],
        passSeverity: "error",
        passEvents: ["quota.exceeded"]
      }
      const changed = yield* admin(path, { method: "PUT", body: { quietHours, timeZone: "Europe/Zurich" } })
      assert.strictEqual(changed.status, 200, changed.text)
      assert.strictEqual(changed.at("webhook.timeZone"), "Europe/Zurich")
      assert.deepStrictEqual(changed.at("webhook.quietHours"), {
        ...quietHours,
        windows: [
          { days: ["mon", "tue", "wed", "thu", "fri", "sat", "sun"], from: "22:00", to: "07:00" },
          { days: ["sat", "sun"], from: "00:00", to: "00:00" }
        ]
      })
      const kept = yield* admin(path, { method: "PUT", body: { description: "Alerts" } })
      assert.deepStrictEqual(kept.at("webhook.quietHours"), changed.at("webhook.quietHours"))
      const cleared = yield* admin(path, { method: "PUT", body: { quietHours: null } })
      assert.isNull(cleared.at("webhook.quietHours"))
    })
  )

  describe("refuse", () => {
    for (const [what, body, field] of [
      ["a time zone that there is not", { url, timeZone: "Mars/Olympus" }, "timeZone"],
      [
        "a time that there is not",
        { url, quietHours: { windows: [{ from: "25:00", to: "07:00" }] } },
        "quietHours.windows.0.from"
      ],
      ["quiet hours without times", { url, quietHours: { windows: [] } }, "quietHours.windows"],
      [
        "a day that there is not",
        { url, quietHours: { windows: [{ days: ["noday"], from: "22:00", to: "07:00" }] } },
        "quietHours.windows.0.days.0"
      ],
      ["an address that is private", { url: "http://127.0.0.1:1/hook" }, "url"],
      ["an address that is private by name", { url: "http://localhost/hook" }, "url"],
      ["a metadata address", { url: "http://169.254.169.254/latest" }, "url"],
      ["another protocol", { url: "file:///etc/passwd" }, "url"],
      ["user and password in the address", { url: "https://me:pw@1.1.1.1/" }, "url"],
      ["no address", {}, "url"],
      ["a field that is not known", { url, uri: "x" }, "uri"],
      ["no event at all", { url, events: [] }, "events"],
      ["an unknown kind", { url, kind: "pigeon" }, "kind"],
      ["an empty secret", { url, secret: "" }, "secret"],
      ["a number for enabled", { url, enabled: 7 }, "enabled"]
    ] as const) {
      test.scoped(what, () =>
        Effect.gen(function* () {
          const { admin } = yield* TestApp
          const before = (yield* admin("/api/webhooks")).text
          const refused = yield* admin("/api/webhooks", { method: "POST", body })
          assert.strictEqual(refused.status, 400, refused.text)
          assert.strictEqual(refused.at("error.param"), field, refused.text)
          assert.strictEqual((yield* admin("/api/webhooks")).text, before)
        })
      )
    }

    test.scoped("a private address in a change, and keep the old one", () =>
      Effect.gen(function* () {
        const { admin } = yield* TestApp
        const id = (yield* admin("/api/webhooks", { method: "POST", body: { url } })).at("webhook.id")
        const refused = yield* admin(`/api/webhooks/${id}`, { method: "PUT", body: { url: "http://10.0.0.1/" } })
        assert.strictEqual(refused.status, 400)
        assert.include(refused.text, "OUTBOUND_SSRF_GUARD_ENABLED")
        assert.strictEqual((yield* admin(`/api/webhooks/${id}`)).at("webhook.url"), url)
      })
    )
  })
})

it.layer(layerOf({ environment: new Map([["OUTBOUND_SSRF_GUARD_ENABLED", "false"]]) }))("without the guard", (test) => {
  test.scoped("private addresses are taken and tested, metadata addresses are not", () =>
    Effect.gen(function* () {
      const { admin, url: own } = yield* TestApp
      const made = yield* admin("/api/webhooks", { method: "POST", body: { url: `${own}/nowhere` } })
      assert.strictEqual(made.status, 201)
      const id = made.at("webhook.id")
      const tested = yield* admin(`/api/webhooks/${id}/test`, { method: "POST" })
      assert.strictEqual(tested.status, 200)
      assert.deepStrictEqual(JSON.parse(tested.text), {
        delivered: false,
        status: 404,
        error: "The receiver answered 404."
      })
      const log = yield* admin(`/api/webhooks/${id}/deliveries`)
      assert.strictEqual(log.at("deliveries.0.event"), "test.ping")
      assert.strictEqual(log.at("deliveries.0.status"), 404)
      assert.strictEqual((yield* admin(`/api/webhooks/${id}`)).at("webhook.failure_count"), 0)
      const refused = yield* admin("/api/webhooks", { method: "POST", body: { url: "http://169.254.169.254/" } })
      assert.strictEqual(refused.status, 400)
    })
  )
})
