/** Conversations over a socket, as coding agents hold them, for upstreams of every wire. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { WireName } from "../../../src/contract/domain/Wire.ts"
import * as Fake from "../../support/FakeUpstream.ts"
import * as TestGateway from "../../support/TestGateway.ts"
import * as Ws from "./support.ts"

const wires: ReadonlyArray<WireName> = ["chat", "messages", "responses", "gemini", "ollama"]
const tools = [{ type: "function", name: "shell", description: "Runs", parameters: { type: "object", properties: {} } }]
const contentType = (wire: WireName) => ({
  headers: { "content-type": wire === "ollama" ? "application/x-ndjson" : "text/event-stream" }
})

const setUp = (wire: WireName) =>
  Effect.gen(function* () {
    const gateway = yield* TestGateway.start()
    const upstream = yield* Fake.start
    yield* Effect.promise(() => Ws.connect(gateway, "up", upstream, wire))
    return { gateway, upstream }
  })

describe("turns over a socket", () => {
  it.scopedLive("a large frame is read whole, and what comes behind it waits for it", () =>
    Effect.gen(function* () {
      const { gateway, upstream } = yield* setUp("responses")
      const client = yield* Ws.open(gateway)
      upstream.enqueue(
        Fake.sse([Ws.stream("responses", "resp_a", Ws.said(0, "Long."))], contentType("responses")),
        Fake.sse([Ws.stream("responses", "resp_b", Ws.said(0, "Short."))], contentType("responses"))
      )
      yield* Effect.promise(async () => {
        const long = "an änswer ".repeat(300_000)
        client.send(Ws.create({ input: [Ws.user(long)], tools }))
        client.send(Ws.create({ input: [Ws.user("Short?")], tools }))
        assert.strictEqual((await client.turn()).at(-1).response.id, "resp_a")
        assert.strictEqual((await client.turn()).at(-1).response.id, "resp_b")
        const [first, second] = upstream.requests
        assert.include(first?.body, long)
        assert.include(second?.body, "Short?")
      })
    })
  )

  for (const wire of wires) {
    it.scopedLive(`warm-up, turn and tool turn on a ${wire} upstream`, () =>
      Effect.gen(function* () {
        const { gateway, upstream } = yield* setUp(wire)
        const client = yield* Ws.open(gateway)
        upstream.enqueue(
          Fake.sse(
            [Ws.stream(wire, "resp_a", Ws.said(0, "Let me look."), Ws.called(1, "call_1", "shell", '{"c":"ls"}'))],
            contentType(wire)
          ),
          Fake.sse([Ws.stream(wire, "resp_b", Ws.said(0, "Do", "ne ünï"))], contentType(wire))
        )
        yield* Effect.promise(async () => {
          const rules = { type: "message", role: "developer", content: [{ type: "input_text", text: "Be brief." }] }
          client.send(Ws.create({ generate: false, input: [rules], tools }))
          const warm = await client.turn()
          assert.deepStrictEqual(
            warm.map(({ type }) => type),
            ["response.created", "response.in_progress", "response.completed"]
          )
          const { response } = warm.at(-1)
          assert.deepStrictEqual(response.output, [])
          assert.strictEqual(response.usage.total_tokens, 0)
          assert.strictEqual(upstream.requests.length, 0)

          client.send(Ws.create({ previous_response_id: response.id, input: [Ws.user("What is here?")], tools }))
          const first = await client.turn()
          const asked = first.at(-1)
          assert.strictEqual(asked.type, "response.completed")
          assert.strictEqual(asked.response.previous_response_id, response.id)
          assert.strictEqual(first[0].response.previous_response_id, response.id)
          assert.strictEqual(first[0].headers["x-gateway-provider"], "up")
          const call = asked.response.output.find((item: Ws.Frame) => item.type === "function_call")
          assert.strictEqual(call.name, "shell")
          assert.include(upstream.requests[0]!.body, "Be brief.")
          assert.include(upstream.requests[0]!.body, "What is here?")
          assert.notInclude(upstream.requests[0]!.body, "previous_response_id")

          const output = { type: "function_call_output", call_id: call.call_id, output: "one.txt" }
          client.send(Ws.create({ previous_response_id: asked.response.id, input: [output], tools }))
          const second = await client.turn()
          assert.strictEqual(second.at(-1).type, "response.completed")
          assert.strictEqual(second.at(-1).response.previous_response_id, asked.response.id)
          const text = second
            .filter(({ type }) => type === "response.output_text.delta")
            .map(({ delta }) => delta)
            .join("")
          assert.strictEqual(text, "Done ünï")
          const sent = upstream.requests[1]!.body
          for (const part of ["Be brief.", "What is here?", "Let me look.", "one.txt", "shell"])
            assert.include(sent, part)
          const numbers = second.map(({ sequence_number }) => sequence_number)
          assert.deepStrictEqual(
            numbers,
            numbers.map((_, index) => index)
          )
          assert.isTrue(client.frames.every(({ type }) => type !== "binary"))
        })
      })
    )
  }

  it.scopedLive("a same-wire answer cut anywhere gives the same frames, and its id leads on", () =>
    Effect.gen(function* () {
      const { gateway, upstream } = yield* setUp("responses")
      const client = yield* Ws.open(gateway, "/responses")
      upstream.enqueue(Fake.byteByByte(`${Ws.stream("responses", "resp_x", Ws.said(0, "Grüße"))}data: [DONE]\n\n`))
      upstream.enqueue(Fake.sse([Ws.stream("responses", "resp_y", Ws.said(0, "Ja"))]))
      yield* Effect.promise(async () => {
        client.send({ type: "response.create", response: { model: "up/m", input: "Hallo" } })
        const frames = await client.turn()
        assert.strictEqual(frames.at(-1).response.id, "resp_x")
        client.send(Ws.create({ previous_response_id: "resp_x", input: "Noch da?" }))
        await client.turn()
        const sent = JSON.parse(upstream.requests[1]!.body)
        assert.deepStrictEqual(
          sent.input.map((item: Ws.Frame) => item.role),
          ["user", "assistant", "user"]
        )
        assert.isTrue(sent.stream)
        for (const absent of ["type", "generate", "previous_response_id", "stream_id"]) assert.notProperty(sent, absent)
      })
    })
  )

  it.scopedLive("instructions and tools are not inherited; an id of somewhere else stays in the request", () =>
    Effect.gen(function* () {
      const { gateway, upstream } = yield* setUp("responses")
      const client = yield* Ws.open(gateway)
      upstream.always(Fake.sse([Ws.stream("responses", "resp_x", Ws.said(0, "Yes"))]))
      yield* Effect.promise(async () => {
        client.send(Ws.create({ instructions: "Old rules", tools, previous_response_id: "resp_kept_upstream" }))
        await client.turn()
        assert.strictEqual(JSON.parse(upstream.requests[0]!.body).previous_response_id, "resp_kept_upstream")
        client.send(Ws.create({ instructions: "New rules", previous_response_id: "resp_x", input: "More" }))
        await client.turn()
        const sent = JSON.parse(upstream.requests[1]!.body)
        assert.strictEqual(sent.instructions, "New rules")
        assert.notProperty(sent, "tools")
        assert.strictEqual(sent.previous_response_id, "resp_kept_upstream")
        assert.strictEqual(sent.input.length, 3)
      })
    })
  )

  it.scopedLive("every answer has its usage row", () =>
    Effect.gen(function* () {
      const { gateway, upstream } = yield* setUp("chat")
      const client = yield* Ws.open(gateway, "/api/v1/responses")
      upstream.always(Fake.sse(Fake.chatStream(["Hello"])))
      yield* Effect.promise(async () => {
        client.send(Ws.create())
        const frames = await client.turn()
        const row = await gateway.usageRow(frames[0].headers["x-gateway-request-id"])
        assert.deepInclude(row, { outcome: "completed", sourceWire: "responses", targetWire: "chat", streamed: true })
        assert.deepInclude(row.tokens, { in: 7, out: 3 })
      })
    })
  )

  it.scopedLive("two lanes run side by side, and a busy lane takes its requests in order", () =>
    Effect.gen(function* () {
      const { gateway, upstream } = yield* setUp("chat")
      const client = yield* Ws.open(gateway)
      const held = Fake.makeLatch()
      const [start, ...rest] = Fake.chatStream(["slow"])
      upstream.enqueue(Fake.sse([start!, held, ...rest]))
      upstream.always(Fake.sse(Fake.chatStream(["quick"])))
      yield* Effect.promise(async () => {
        client.send(Ws.create({ stream_id: "a" }))
        await upstream.received(1)
        client.send(Ws.create({ stream_id: "a", input: "second of a" }))
        client.send(Ws.create({ stream_id: "b" }))
        const b = await client.turn()
        assert.isTrue(b.every(({ stream_id }) => stream_id === "b"))
        assert.strictEqual(b.at(-1).type, "response.completed")
        assert.strictEqual(upstream.requests.length, 2)
        held.open()
        for (const text of ["slow", "quick"]) {
          const a = await client.turn()
          assert.isTrue(a.every(({ stream_id }) => stream_id === "a"))
          assert.include(JSON.stringify(a.at(-1)), text)
        }
      })
    })
  )
})
