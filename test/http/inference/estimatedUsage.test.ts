/** Streams of upstreams that tell no usage: clients get the estimate that the usage row has. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { answeredWith } from "../../support/AnyWire.ts"
import * as Fake from "../../support/FakeUpstream.ts"
import * as TestGateway from "../../support/TestGateway.ts"

const clients = {
  chat: {
    path: "/v1/chat/completions",
    body: {
      messages: [{ role: "user", content: "Hello there" }],
      stream: true,
      stream_options: { include_usage: true }
    }
  },
  messages: {
    path: "/v1/messages",
    body: { messages: [{ role: "user", content: "Hello there" }], max_tokens: 50, stream: true }
  },
  responses: { path: "/v1/responses", body: { input: "Hello there", stream: true } },
  ollama: { path: "/api/chat", body: { messages: [{ role: "user", content: "Hello there" }] } }
} as const

type Told = Readonly<Record<string, number>>

/** Tokens in and out that a stream tells. */
const toldIn = (text: string): readonly [number, number] | null => {
  const objects = text
    .split("\n")
    .map((line) => line.replace(/^data: /, ""))
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line) as Record<string, unknown>)
  for (const event of objects.toReversed()) {
    const usage = (event["usage"] ?? (event["response"] as { usage?: Told } | undefined)?.usage) as Told | undefined
    const counts = usage ?? (event as Told)
    const into = counts["prompt_tokens"] ?? counts["input_tokens"] ?? counts["prompt_eval_count"]
    const out = counts["completion_tokens"] ?? counts["output_tokens"] ?? counts["eval_count"]
    if (into !== undefined && out !== undefined) return [into, out]
  }
  return null
}

describe("a stream without usage of its upstream", () => {
  it.scopedLive("tells the client what the row says, whatever the wires", () =>
    Effect.gen(function* () {
      const gateway = yield* TestGateway.start()
      const upstream = yield* Fake.start
      upstream.always(answeredWith([{ type: "text", text: "Hello to you, too" }], { usage: null }))
      yield* Effect.promise(async () => {
        for (const wire of ["chat", "gemini", "ollama"] as const)
          await gateway.connect(`x${wire}`, upstream, wire, { models: ["m"] })
        for (const [client, { body, path }] of Object.entries(clients)) {
          for (const wire of ["chat", "gemini", "ollama"]) {
            const answer = await gateway.post(path, { model: `x${wire}/m`, ...body })
            const text = await answer.text()
            const told = toldIn(text)
            const row = await gateway.usageRow(answer.headers.get("x-gateway-request-id") ?? "")
            const place = `${client} from ${wire}`
            assert.strictEqual(row.usageSource, "estimated", place)
            assert.deepStrictEqual(told, [row.tokens.in, row.tokens.out], `${place}\n${text}`)
            assert.isAbove(row.tokens.out, 0, place)
          }
        }
        const google = await gateway.post("/v1beta/models/xchat/m:streamGenerateContent?alt=sse", {
          contents: [{ role: "user", parts: [{ text: "Hello there" }] }]
        })
        const said = await google.text()
        const row = await gateway.usageRow(google.headers.get("x-gateway-request-id") ?? "")
        assert.include(said, `"promptTokenCount":${row.tokens.in}`)
        assert.include(said, `"candidatesTokenCount":${row.tokens.out}`)
        const silent = await gateway.post("/v1/chat/completions", {
          model: "xchat/m",
          messages: [{ role: "user", content: "Hi" }],
          stream: true
        })
        const text = await silent.text()
        assert.notInclude(text, '"usage":{')
        assert.include(text, "data: [DONE]")
      })
    })
  )
})
