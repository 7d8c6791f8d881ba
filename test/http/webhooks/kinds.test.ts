/** Webhooks of the kinds that are messages, against servers of their shapes on loopback. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fake from "../../support/FakeUpstream.ts"
import { startSmtp } from "../../support/SmtpServer.ts"
import * as TestGateway from "../../support/TestGateway.ts"

const open = TestGateway.start({ environment: new Map([["OUTBOUND_SSRF_GUARD_ENABLED", "false"]]) })

const post = async (gateway: TestGateway.TestGateway, body: unknown) => {
  const response = await fetch(`${gateway.url}/api/webhooks`, {
    method: "POST",
    headers: { authorization: `Bearer ${TestGateway.adminKey}`, "content-type": "application/json" },
    body: JSON.stringify(body)
  })
  return { status: response.status, body: JSON.parse(await response.text()) }
}

const mail = { from: "gateway@example.com", to: ["oncall@example.com"], tls: "none" }

describe("a webhook", () => {
  it.scopedLive("of the kind teams sends a card, and generic is another name of custom", () =>
    Effect.gen(function* () {
      const gateway = yield* open
      const receiver = yield* Fake.start
      yield* Effect.promise(async () => {
        receiver.always(Fake.json({}))
        const made = await post(gateway, { url: `${receiver.origin}/in`, kind: "teams" })
        assert.strictEqual(made.status, 201)
        const tested = await gateway.manage("POST", `/api/webhooks/${made.body.webhook.id}/test`)
        assert.deepStrictEqual(tested, { delivered: true, status: 200, error: null })
        const { attachments, type } = JSON.parse((await receiver.received(1)).body)
        assert.strictEqual(type, "message")
        assert.strictEqual(attachments[0].contentType, "application/vnd.microsoft.card.adaptive")
        assert.strictEqual(attachments[0].content.type, "AdaptiveCard")
        const plain = await post(gateway, { url: `${receiver.origin}/in`, kind: "generic" })
        assert.strictEqual(plain.body.webhook.kind, "custom")
      })
    })
  )

  it.scopedLive("of the kind email sends to a mail server, and says why one does not take it", () =>
    Effect.gen(function* () {
      const gateway = yield* open
      const server = yield* startSmtp
      yield* Effect.promise(async () => {
        const made = await post(gateway, { url: `smtp://127.0.0.1:${server.port}`, kind: "email", mail })
        assert.strictEqual(made.status, 201, JSON.stringify(made.body))
        const { id } = made.body.webhook
        const tested = await gateway.manage("POST", `/api/webhooks/${id}/test`)
        assert.deepStrictEqual(tested, { delivered: true, status: 250, error: null })
        const [taken] = server.taken
        assert.deepInclude(taken, { from: "gateway@example.com", to: ["oncall@example.com"] })
        assert.match(taken?.text ?? "", /^Subject: Gateway: The gateway can reach this place\.\r$/m)
        server.refuse("550 no such user")
        const refused = await gateway.manage("POST", `/api/webhooks/${id}/test`)
        assert.deepInclude(refused, { delivered: false, status: 550 })
      })
    })
  )

  it.scopedLive("of the kind email needs what belongs to it, and nothing else has it", () =>
    Effect.gen(function* () {
      const gateway = yield* open
      yield* Effect.promise(async () => {
        const url = "smtp://127.0.0.1:2525"
        for (const [body, field] of [
          [{ url, kind: "email" }, "mail.from"],
          [{ url, kind: "email", mail: { from: "a@b.example" } }, "mail.to"],
          [{ url: "http://127.0.0.1:1", kind: "email", mail }, "url"],
          [{ url, kind: "slack" }, "url"],
          [{ url: "http://127.0.0.1:1", kind: "slack", mail }, "mail"],
          [{ url, kind: "email", mail: { ...mail, to: ["a@b.example\r\nBcc: c@d.example"] } }, "mail.to.0"],
          [{ url, kind: "email", mail: { ...mail, from: "Me <a@b.example>" } }, "mail.from"],
          [{ url, kind: "email", mail: { ...mail, user: "me", password: "secret" } }, "mail.tls"],
          [{ url, kind: "email", mail: { ...mail, tls: "starttls", user: "me" } }, "mail.password"],
          [{ url, kind: "email", mail: { ...mail, cc: "x@y.example" } }, "mail.cc"],
          [{ url: "smtp://me:pw@127.0.0.1", kind: "email", mail }, "url"]
        ] as const) {
          const refused = await post(gateway, body)
          assert.strictEqual(refused.status, 400, JSON.stringify(body))
          assert.strictEqual(refused.body.error.param, field)
        }
        const secret = "password-of-the-mail-server"
        const kept = { ...mail, tls: "starttls", user: "me", password: secret }
        const made = await post(gateway, { url, kind: "email", mail: kept })
        assert.strictEqual(made.body.webhook.mail.password, "…")
        const moved = await fetch(`${gateway.url}/api/webhooks/${made.body.webhook.id}`, {
          method: "PUT",
          headers: { authorization: `Bearer ${TestGateway.adminKey}`, "content-type": "application/json" },
          body: JSON.stringify({ url: "smtp://127.0.0.1:2626" })
        })
        assert.strictEqual(moved.status, 400)
        assert.notInclude(await moved.text(), secret)
      })
    })
  )

  it.scopedLive("of the kind email may not lead to a private address", () =>
    Effect.gen(function* () {
      const gateway = yield* TestGateway.start()
      yield* Effect.promise(async () => {
        for (const host of ["127.0.0.1", "10.0.0.1", "localhost", "[::1]", "169.254.169.254"]) {
          const refused = await post(gateway, { url: `smtp://${host}:25`, kind: "email", mail })
          assert.strictEqual(refused.status, 400, host)
          assert.strictEqual(refused.body.error.param, "url")
        }
      })
    })
  )
})
