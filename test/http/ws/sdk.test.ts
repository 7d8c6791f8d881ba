/** The official SDK's own socket client. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import OpenAI from "openai"
import { ResponsesWS } from "openai/resources/responses/ws"
import * as Fake from "../../support/FakeUpstream.ts"
import * as TestGateway from "../../support/TestGateway.ts"
import * as Ws from "./support.ts"

describe("the openai SDK over a socket", () => {
  it.scopedLive("two turns and an error", () =>
    Effect.gen(function* () {
      const gateway = yield* TestGateway.start()
      const upstream = yield* Fake.start
      upstream.enqueue(Fake.sse([Ws.stream("messages", "one", Ws.said(0, "First"))]))
      upstream.enqueue(Fake.sse([Ws.stream("messages", "two", Ws.said(0, "Second"))]))
      yield* Effect.promise(() => Ws.connect(gateway, "up", upstream, "messages"))
      const client = new OpenAI({ apiKey: "any", baseURL: `${gateway.url}/v1` })
      const socket = yield* Effect.acquireRelease(
        Effect.sync(() => new ResponsesWS(client)),
        (open) => Effect.sync(() => open.close())
      )
      yield* Effect.promise(async () => {
        const ends: Array<{ readonly id: string; readonly text: string }> = []
        const failures: Array<string> = []
        const done = new Promise<void>((resolve) => {
          socket.on("response.completed", ({ response }) => {
            const [item] = response.output
            const [part] = item?.type === "message" ? item.content : []
            ends.push({ id: response.id, text: part?.type === "output_text" ? part.text : "" })
            const next = ends.length === 1 ? "up/m" : "nobody/m"
            socket.send({ type: "response.create", model: next, input: "More", previous_response_id: response.id })
          })
          socket.on("error", (error) => {
            failures.push(error.message)
            resolve()
          })
        })
        socket.send({ type: "response.create", model: "up/m", input: "Hello" })
        await done
        assert.deepStrictEqual(
          ends.map(({ text }) => text),
          ["First", "Second"]
        )
        const { messages } = JSON.parse(upstream.requests[1]!.body)
        assert.deepStrictEqual(
          messages.map(({ role }: { role: string }) => role),
          ["user", "assistant", "user"]
        )
        assert.match(failures[0] ?? "", /nobody\/m/)
      })
    })
  )
})
