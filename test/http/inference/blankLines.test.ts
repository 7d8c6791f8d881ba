/** White space before the JSON of an answer is none of its business, on every wire and however it is labelled. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { WireName } from "../../../src/contract/domain/Wire.ts"
import * as Fake from "../../support/FakeUpstream.ts"
import * as TestGateway from "../../support/TestGateway.ts"

const text = { type: "output_text", text: "fine", annotations: [] }
const answers: Readonly<Record<WireName, unknown>> = {
  chat: Fake.chatCompletion({ text: "fine" }),
  messages: Fake.messagesAnswer({ text: "fine" }),
  responses: {
    id: "resp_1",
    object: "response",
    created_at: 1,
    status: "completed",
    model: "m",
    output: [{ type: "message", id: "msg_1", role: "assistant", status: "completed", content: [text] }],
    usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 }
  },
  gemini: {
    candidates: [{ index: 0, content: { role: "model", parts: [{ text: "fine" }] }, finishReason: "STOP" }],
    usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 }
  },
  ollama: {
    model: "m",
    created_at: "2026-01-01T00:00:00Z",
    message: { role: "assistant", content: "fine" },
    done: true,
    done_reason: "stop",
    prompt_eval_count: 1,
    eval_count: 1
  }
}

const types = ["application/json", "text/event-stream", null]
const ask = { model: "up/m", messages: [{ role: "user", content: "Hi" }] }

const blank =
  (wire: WireName, type: string | null, pretty: boolean): Fake.Answer =>
  async (response) => {
    response.writeHead(200, type === null ? {} : { "content-type": type })
    // In a piece of its own, and before the answer itself.
    await new Promise((resolve) => response.write("\n\n", resolve))
    response.end(`\r\n \n${JSON.stringify(answers[wire], null, pretty ? 2 : 0)}`)
  }

describe("an answer that begins with blank lines", () => {
  for (const wire of ["chat", "messages", "responses", "gemini", "ollama"] as const) {
    it.scopedLive(`is read as JSON (${wire})`, () =>
      Effect.gen(function* () {
        const gateway = yield* TestGateway.start()
        const upstream = yield* Fake.start
        yield* Effect.promise(async () => {
          await gateway.connect("up", upstream, wire)
          for (const type of types) {
            for (const pretty of [false, true]) {
              for (const stream of [false, true]) {
                // A stream of this wire is JSON line by line.
                if (wire === "ollama" && pretty && stream) continue
                upstream.always(blank(wire, type, pretty))
                const response = await gateway.post("/v1/chat/completions", { ...ask, stream })
                const text = await response.text()
                const way = `${type}, pretty ${pretty}, streamed ${stream}`
                assert.strictEqual(response.status, 200, `${way}: ${text}`)
                assert.include(text, '"fine"', way)
                assert.match(text, /"finish_reason": ?"stop"/, way)
              }
            }
          }
        })
      })
    )
  }
})
