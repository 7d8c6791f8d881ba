/** `attention.raised` and `attention.cleared` to a receiver: an account whose key is refused, and its removal. */
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { eventuallyFound } from "../../support/eventually.ts"
import * as Fake from "../../support/FakeUpstream.ts"
import { answering, assertSigned, envelopeOf } from "../../support/Receiver.ts"
import * as TestGateway from "../../support/TestGateway.ts"

const patience = { everyMs: 500, withinMs: 40_000 }

it.scopedLive("an account that a provider refuses is told to a webhook, and that it needs nobody any more", () =>
  Effect.gen(function* () {
    const environment = new Map([["OUTBOUND_SSRF_GUARD_ENABLED", "false"]])
    const gateway = yield* TestGateway.start({ environment })
    const refusing = yield* Fake.start
    refusing.always(Fake.json({ error: { message: "This key was revoked." } }, { status: 401 }))
    const receiver = yield* Fake.start
    receiver.always(answering(200))
    const told = (name: string) => receiver.requests.filter((request) => envelopeOf(request).event === name)
    yield* Effect.promise(async () => {
      const { webhook } = await gateway.manage("POST", "/api/webhooks", {
        url: `${receiver.origin}/in`,
        events: ["attention.raised", "attention.cleared"]
      })
      // What there is at the first look is not told, so that accounts are refused until one is.
      const ids: Array<string> = []
      const raised = await eventuallyFound(
        "an account that is told",
        async () => {
          const prefix = `refused${ids.length}`
          ids.push((await gateway.connect(prefix, refusing, "chat")).id)
          const body = { model: `${prefix}/m`, messages: [{ role: "user", content: "Hi" }] }
          await (await gateway.post("/v1/chat/completions", body)).arrayBuffer()
          return told("attention.raised")[0]
        },
        patience
      )
      assertSigned(raised, webhook.secret)
      const { data } = envelopeOf(raised)
      assert.deepInclude(data, { kind: "connectionEnded", severity: "error" })
      const subject = data["subject"] as { readonly type: string; readonly id: string }
      assert.strictEqual(subject.type, "connection")
      assert.include(ids, subject.id)

      await gateway.manage("DELETE", `/api/providers/${subject.id}`)
      const cleared = await eventuallyFound(
        "its end",
        () => told("attention.cleared").find((request) => envelopeOf(request).data["id"] === data["id"]),
        patience
      )
      assertSigned(cleared, webhook.secret)
    })
  })
)
