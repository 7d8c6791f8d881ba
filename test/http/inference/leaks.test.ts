/** Upstreams repeat what they were sent: no credential of a connection or of its node comes back in a complaint. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fake from "../../support/FakeUpstream.ts"
import * as TestGateway from "../../support/TestGateway.ts"

const apiKey = "sk-planted/key+7f3a=9c2e51d84b60"
const short = "k3y-9"
const ofNode = "planted-node-secret-0b6d1e9a"
const ofConnection = "planted connection secret 5c1d8e72"

/** Everything it was sent, in every form. */
const repeating =
  (secrets: ReadonlyArray<string>, asText: boolean, stream: boolean): Fake.Answer =>
  (response, request) => {
    const forms = secrets.flatMap((secret) => [
      secret,
      encodeURIComponent(secret),
      JSON.stringify(secret),
      Buffer.from(secret).toString("base64"),
      Buffer.from(`user:${secret}`).toString("base64")
    ])
    const message = `Refused: ${forms.map((form) => `'${form}'`).join(" ")}`
    const body = JSON.stringify({ error: { message, type: "authentication_error", code: "invalid_api_key" } })
    if (stream) return Fake.sse([`data: ${body}\n\n`])(response, request)
    return Fake.text(asText ? message : body, { status: 401 })(response, request)
  }

describe("secrets in an upstream's complaint", () => {
  for (const key of [apiKey, short]) {
    for (const [form, asText, stream] of [
      ["as JSON", false, false],
      ["as plain text", true, false],
      ["in a stream", false, true]
    ] as const) {
      it.scopedLive(`reach neither client nor the stored error: ${key === short ? "short key" : "key"}, ${form}`, () =>
        Effect.gen(function* () {
          const gateway = yield* TestGateway.start()
          const upstream = yield* Fake.start
          const secrets = [key, ofNode, ofConnection]
          upstream.always(repeating(secrets, asText, stream))
          yield* Effect.promise(async () => {
            await gateway.manage("POST", "/api/provider-nodes", {
              name: "up",
              prefix: "up",
              type: "openai-compatible",
              baseUrl: `${upstream.origin}/v1`,
              headers: { "x-node-secret": ofNode }
            })
            const { connection } = await gateway.manage("POST", "/api/providers", {
              provider: "up",
              apiKey: key,
              models: ["m"],
              headers: { "x-own-secret": ofConnection }
            })
            const ask = { model: "up/m", max_tokens: 5, stream, messages: [{ role: "user", content: "Hi" }] }
            const told = await (await gateway.post("/v1/chat/completions", ask)).text()
            assert.include(told, "Refused")
            const stored = JSON.stringify(await gateway.manage("GET", `/api/providers/${connection.id}`))
            assert.include(stored, "Refused")
            const tested = JSON.stringify(await gateway.manage("POST", `/api/providers/${connection.id}/test`))
            for (const [where, text] of Object.entries({ told, stored, tested })) {
              for (const secret of secrets) {
                assert.notInclude(text, secret, where)
                assert.notInclude(text, encodeURIComponent(secret), where)
                if (secret === short) continue
                assert.notInclude(text, Buffer.from(secret).toString("base64").slice(0, -4), where)
                assert.notInclude(text, Buffer.from(`user:${secret}`).toString("base64").slice(8, -4), where)
              }
            }
          })
        })
      )
    }
  }
})
