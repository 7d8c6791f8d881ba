/** Reasoning and its signatures survive clients that cannot carry them, and never go to another account. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fake from "../../support/FakeUpstream.ts"
import * as TestGateway from "../../support/TestGateway.ts"

type Body = Record<string, unknown>
const bodyOf = (request: Fake.RecordedRequest): Body => JSON.parse(request.body) as Body

const tools = [{ type: "function", function: { name: "read", parameters: { type: "object", properties: {} } } }]
const question = { role: "user", content: "What is in a.txt?" }

const turnOf = (stream: boolean) => ({ model: "up/m", stream, tools, messages: [question] })

/** What an OpenAI client would send next: the assistant's message as it understood it, and the tool's result. */
const nextTurn = (message: Body) => {
  const [call] = message["tool_calls"] as ReadonlyArray<{ id: string }>
  const { content, tool_calls } = message
  return {
    model: "up/m",
    tools,
    messages: [
      question,
      { role: "assistant", content, tool_calls },
      { role: "tool", tool_call_id: call?.id, content: "forty-two" }
    ]
  }
}

/** The message of a streamed chat answer, put together as clients do. */
const assembled = (sse: string): Body => {
  let content = ""
  let id = ""
  let args = ""
  for (const line of sse.split("\n")) {
    if (!line.startsWith("data: {")) continue
    const { choices } = JSON.parse(line.slice(6)) as { choices: ReadonlyArray<{ delta: Record<string, never> }> }
    const delta = (choices[0]?.delta ?? {}) as { content?: string; tool_calls?: ReadonlyArray<Body> }
    content += delta.content ?? ""
    for (const call of delta.tool_calls ?? []) {
      id = (call["id"] as string | undefined) ?? id
      args += (call["function"] as { arguments?: string } | undefined)?.arguments ?? ""
    }
  }
  return { content, tool_calls: [{ id, type: "function", function: { name: "read", arguments: args } }] }
}

const block = (index: number, start: Body, ...deltas: ReadonlyArray<Body>): ReadonlyArray<Body> => [
  { type: "content_block_start", index, content_block: start },
  ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
  { type: "content_block_stop", index }
]

const thinking = { type: "thinking", thinking: "I should read it.", signature: "c2lnbmF0dXJl" }
const messageStart = { id: "msg_1", type: "message", role: "assistant", model: "m", content: [], stop_reason: null }
const anthropicEvents: ReadonlyArray<Body> = [
  { type: "message_start", message: { ...messageStart, usage: { input_tokens: 9, output_tokens: 1 } } },
  ...block(
    0,
    { type: "thinking", thinking: "", signature: "" },
    { type: "thinking_delta", thinking: "I should read it." },
    { type: "signature_delta", signature: "c2lnbmF0dXJl" }
  ),
  ...block(1, { type: "text", text: "" }, { type: "text_delta", text: "Reading." }),
  ...block(
    2,
    { type: "tool_use", id: "toolu_1", name: "read", input: {} },
    { type: "input_json_delta", partial_json: '{"path":"a.txt"}' }
  ),
  { type: "message_delta", delta: { stop_reason: "tool_use", stop_sequence: null }, usage: { output_tokens: 20 } },
  { type: "message_stop" }
]
const anthropicStream = Fake.sse(
  anthropicEvents.map((event) => `event: ${String(event["type"])}\ndata: ${JSON.stringify(event)}\n\n`)
)
const anthropicWhole = Fake.json({
  ...messageStart,
  content: [
    thinking,
    { type: "text", text: "Reading." },
    { type: "tool_use", id: "toolu_1", name: "read", input: { path: "a.txt" } }
  ],
  stop_reason: "tool_use",
  usage: { input_tokens: 9, output_tokens: 20 }
})
const done = Fake.json({
  ...messageStart,
  content: [{ type: "text", text: "It says forty-two." }],
  stop_reason: "end_turn",
  usage: { input_tokens: 30, output_tokens: 5 }
})

describe("opaque state", () => {
  for (const stream of [true, false]) {
    it.scopedLive(`a chat client keeps Claude's signed thinking over a tool round (stream: ${stream})`, () =>
      Effect.gen(function* () {
        const gateway = yield* TestGateway.start()
        const upstream = yield* Fake.start
        yield* Effect.promise(async () => {
          await gateway.connect("up", upstream, "messages")
          upstream.enqueue(stream ? anthropicStream : anthropicWhole, done)
          const first = await gateway.post("/v1/chat/completions", turnOf(stream))
          const answer = await first.text()
          const message = stream
            ? assembled(answer)
            : (JSON.parse(answer) as { choices: ReadonlyArray<{ message: Body }> }).choices[0]?.message
          assert.isDefined(message)
          const second = await gateway.post("/v1/chat/completions", nextTurn(message ?? {}))
          assert.strictEqual(second.status, 200, await second.text())
          const { messages } = bodyOf(await upstream.received(2)) as { messages: ReadonlyArray<{ content: unknown }> }
          assert.deepStrictEqual(messages[1]?.content, [
            thinking,
            { type: "text", text: "Reading." },
            { type: "tool_use", id: "toolu_1", name: "read", input: { path: "a.txt" } }
          ])
        })
      })
    )
  }

  it.scopedLive("another key's conversation is not known", () =>
    Effect.gen(function* () {
      const gateway = yield* TestGateway.start()
      const upstream = yield* Fake.start
      yield* Effect.promise(async () => {
        await gateway.connect("up", upstream, "messages")
        const { secret } = (await gateway.manage("POST", "/api/keys", { name: "other" })) as { secret: string }
        upstream.enqueue(anthropicWhole, done)
        const first = await gateway.post("/v1/chat/completions", turnOf(false))
        const { choices } = (await first.json()) as { choices: ReadonlyArray<{ message: Body }> }
        await gateway.post("/v1/chat/completions", nextTurn(choices[0]?.message ?? {}), {
          authorization: `Bearer ${secret}`
        })
        assert.notInclude((await upstream.received(2)).body, "c2lnbmF0dXJl")
      })
    })
  )

  it.scopedLive("encrypted reasoning stays with the account that made it", () =>
    Effect.gen(function* () {
      const gateway = yield* TestGateway.start()
      const [one, two] = [yield* Fake.start, yield* Fake.start]
      yield* Effect.promise(async () => {
        await gateway.connect("one", one, "responses")
        await gateway.connect("two", two, "responses")
        const reasoning = { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "Z0FBQUFB" }
        const message = {
          type: "message",
          id: "msg_1",
          role: "assistant",
          status: "completed",
          content: [{ type: "output_text", text: "Hello", annotations: [] }]
        }
        const answer = Fake.json({
          id: "resp_1",
          object: "response",
          status: "completed",
          output: [reasoning, message]
        })
        one.always(answer)
        two.always(answer)
        const ask = (model: string, input: unknown): Promise<Response> =>
          gateway.post("/v1/responses", { model, input, include: ["reasoning.encrypted_content"] })
        await (await ask("one/m", "Hi")).text()
        const input = [{ role: "user", content: "Hi" }, reasoning, message, { role: "user", content: "And?" }]
        const same = await ask("one/m", input)
        const other = await ask("two/m", input)
        assert.deepStrictEqual([same.status, other.status], [200, 200])
        assert.include((await one.received(2)).body, "Z0FBQUFB")
        const sent = (await two.received(1)).body
        assert.notInclude(sent, "Z0FBQUFB")
        assert.include(sent, "Hello")
        assert.isNotNull(other.headers.get("x-gateway-dropped"))
      })
    })
  )

  it.scopedLive("a signature that goes to no other provider is named each time", () =>
    Effect.gen(function* () {
      const gateway = yield* TestGateway.start()
      const [one, two] = [yield* Fake.start, yield* Fake.start]
      yield* Effect.promise(async () => {
        await gateway.connect("one", one, "gemini")
        await gateway.connect("two", two, "gemini")
        const call = { functionCall: { id: "c", name: "read", args: {} }, thoughtSignature: "c2lnbmVkIGJ5IG9uZQ==" }
        const said = { role: "model", parts: [call] }
        const answer = Fake.json({ candidates: [{ content: said, finishReason: "STOP" }], responseId: "r" })
        one.always(answer)
        two.always(answer)
        const user = { role: "user", parts: [{ text: "Hi" }] }
        const result = { role: "user", parts: [{ functionResponse: { id: "c", name: "read", response: {} } }] }
        const ask = (model: string, contents: ReadonlyArray<object>): Promise<Response> =>
          gateway.post(`/v1beta/models/${model}:generateContent`, { contents })
        await (await ask("one/m", [user])).text()
        for (const nth of [1, 2]) {
          const other = await ask("two/m", [user, said, result])
          assert.strictEqual(other.status, 200, await other.text())
          assert.notInclude((await two.received(nth)).body, "c2lnbmVkIGJ5IG9uZQ==")
          assert.strictEqual(other.headers.get("x-gateway-dropped"), "contents.parts.thoughtSignature")
        }
      })
    })
  )

  it.scopedLive("a chat upstream that wants its reasoning back gets it", () =>
    Effect.gen(function* () {
      const gateway = yield* TestGateway.start()
      const upstream = yield* Fake.start
      yield* Effect.promise(async () => {
        await gateway.connect("up", upstream, "chat", { models: ["deepseek-v3"] })
        const message = {
          role: "assistant",
          content: "",
          reasoning_content: "I should read it.",
          tool_calls: [{ id: "call_1", type: "function", function: { name: "read", arguments: "{}" } }]
        }
        upstream.always(
          Fake.json({ id: "c", model: "m", choices: [{ index: 0, message, finish_reason: "tool_calls" }] })
        )
        const model = "up/deepseek-v3"
        await (await gateway.post("/v1/chat/completions", { ...turnOf(false), model })).text()
        await (await gateway.post("/v1/chat/completions", { ...nextTurn(message), model })).text()
        const { messages } = bodyOf(await upstream.received(2)) as { messages: ReadonlyArray<Body> }
        assert.strictEqual(messages[1]?.["reasoning_content"], "I should read it.")
      })
    })
  )
})
