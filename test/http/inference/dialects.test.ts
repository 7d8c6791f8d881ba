/** Providers that depart from the wire they speak, over HTTP: each gets what it documents, and clients notice nothing of it. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fake from "../../support/FakeUpstream.ts"
import * as TestGateway from "../../support/TestGateway.ts"

// eslint-disable-next-line typescript/no-explicit-any -- tests read into bodies as they please
type Body = any

const nine = /^[a-zA-Z0-9]{9}$/

const responsesAnswer = {
  id: "resp_1",
  object: "response",
  created_at: 1_700_000_000,
  status: "completed",
  model: "gpt",
  output: [
    {
      type: "message",
      id: "msg_1",
      role: "assistant",
      status: "completed",
      content: [{ type: "output_text", text: "Bonjour", annotations: [] }]
    }
  ],
  usage: { input_tokens: 7, output_tokens: 3, total_tokens: 10 }
}

const answering: Fake.Answer = async (response, request) => {
  const body: Body = JSON.parse(request.body)
  const answer = request.url.endsWith("/responses")
    ? Fake.json(responsesAnswer)
    : body.stream === true
      ? Fake.sse(Fake.chatStream(["Bon", "jour"]))
      : Fake.json(Fake.chatCompletion({ text: "Bonjour" }))
  await answer(response, request)
}

const setUp = Effect.gen(function* () {
  const gateway = yield* TestGateway.start()
  const upstream = yield* Fake.start
  upstream.always(answering)
  const connect = (provider: string, models: ReadonlyArray<string>) =>
    gateway.manage("POST", "/api/providers", { provider, apiKey: "k", baseUrl: `${upstream.origin}/v1`, models })
  const last = (): { readonly url: string; readonly body: Body } => {
    const request = upstream.requests.findLast(({ method }) => method === "POST")
    return { url: request?.url ?? "", body: JSON.parse(request?.body ?? "{}") }
  }
  const ask = async (path: string, body: unknown) => {
    const response = await gateway.post(path, body)
    const text = await response.text()
    assert.strictEqual(response.status, 200, text)
    return { ...last(), text, dropped: response.headers.get("x-gateway-dropped"), headers: response.headers }
  }
  return { gateway, upstream, connect, ask }
})

type SetUp = Effect.Effect.Success<typeof setUp>

const scenario = (name: string, run: (room: SetUp) => Promise<void>): void => {
  it.scopedLive(name, () => Effect.flatMap(setUp, (room) => Effect.promise(() => run(room))))
}

const hi = [{ role: "user", content: "Hi" }]
const schema = { type: "object", properties: { city: { type: "string" } } }
const chatTools = [{ type: "function", function: { name: "weather", parameters: schema } }]
const messagesTools = [{ name: "weather", input_schema: schema }]

describe("OpenAI", () => {
  scenario("is asked by its responses wire, and by chat for chat clients", async ({ ask, connect }) => {
    await connect("openai", ["gpt-5.4", "gpt-4.1"])
    const messages = { model: "openai/gpt-5.4", max_tokens: 2000, messages: hi, tools: messagesTools }
    const adaptive = await ask("/v1/messages", { ...messages, thinking: { type: "enabled", budget_tokens: 1024 } })
    assert.match(adaptive.url, /\/v1\/responses$/)
    assert.strictEqual(adaptive.body.tools[0].name, "weather")
    assert.strictEqual(adaptive.body.reasoning.effort, "low")
    assert.match((await ask("/v1/messages", { ...messages, model: "openai/gpt-4.1" })).url, /\/v1\/responses$/)
    assert.match((await ask("/api/chat", { model: "openai/gpt-4.1", messages: hi, stream: false })).url, /\/responses$/)
    const gemini = { contents: [{ role: "user", parts: [{ text: "Hi" }] }] }
    assert.match((await ask("/v1beta/models/openai/gpt-4.1:generateContent", gemini)).url, /\/responses$/)
    assert.match((await ask("/v1/chat/completions", { model: "openai/gpt-4.1", messages: hi })).url, /\/completions$/)
  })

  scenario("gets a chat client's tools with reasoning where the model takes them", async ({ ask, connect }) => {
    await connect("openai", ["gpt-5.4", "gpt-5.6", "gpt-5.2", "gpt-5-pro", "gpt-4o-audio-preview"])
    const way = async (model: string, more: object, path = "/v1/chat/completions") =>
      (await ask(path, { model: `openai/${model}`, messages: hi, ...more })).url.replace(/^.*\/v1\//, "")
    const tools = { tools: chatTools }
    assert.strictEqual(await way("gpt-5.4", { ...tools, reasoning_effort: "high" }), "responses")
    assert.strictEqual(await way("gpt-5.4", tools), "chat/completions")
    assert.strictEqual(await way("gpt-5.4", { reasoning_effort: "high" }), "chat/completions")
    assert.strictEqual(await way("gpt-5.4", { ...tools, reasoning_effort: "none" }), "chat/completions")
    assert.strictEqual(await way("gpt-5.6", tools), "responses")
    assert.strictEqual(await way("gpt-5.6", { ...tools, reasoning_effort: "none" }), "chat/completions")
    assert.strictEqual(await way("gpt-5.2", { ...tools, reasoning_effort: "high" }), "chat/completions")
    assert.strictEqual(await way("gpt-5-pro", {}), "responses")
    assert.strictEqual(await way("gpt-4o-audio-preview", { max_tokens: 9 }, "/v1/messages"), "chat/completions")
  })
})

/** A second turn of Claude Code: the thinking of an upstream without signatures comes back with an empty one. */
const secondTurn = (model: string, more: object = {}) => ({
  model,
  max_tokens: 100,
  tools: messagesTools,
  messages: [
    ...hi,
    {
      role: "assistant",
      content: [
        { type: "thinking", thinking: "Let me look.", signature: "" },
        { type: "tool_use", id: "toolu_01A09q90qw90lq917835lq9", name: "weather", input: { city: "Paris" } }
      ]
    },
    {
      role: "user",
      content: [{ type: "tool_result", tool_use_id: "toolu_01A09q90qw90lq917835lq9", content: "sunny" }]
    }
  ],
  ...more
})

describe("reasoning of earlier turns", () => {
  scenario("goes to providers that document a place for it, and is named for the others", async ({ ask, connect }) => {
    await connect("groq", ["openai/gpt-oss-120b"])
    await connect("mistral", ["magistral-medium-latest"])
    await connect("moonshot", ["kimi-k2.5"])
    for (const model of ["groq/openai/gpt-oss-120b", "mistral/magistral-medium-latest"]) {
      const { body, dropped } = await ask("/v1/messages", secondTurn(model))
      assert.notProperty(body.messages[1], "reasoning_content")
      assert.strictEqual(dropped, "messages.content.thinking")
    }
    const { body, dropped } = await ask("/v1/messages", secondTurn("moonshot/kimi-k2.5"))
    assert.strictEqual(body.messages[1].reasoning_content, "Let me look.")
    assert.isNull(dropped)
  })

  scenario("is taken out of a chat client's request for a provider that refuses it", async ({ ask, connect }) => {
    await connect("groq", ["m"])
    await connect("together", ["m"])
    const messages = [...hi, { role: "assistant", content: "Hello", reasoning_content: "hm" }, ...hi]
    const refused = await ask("/v1/chat/completions", { model: "groq/m", messages, top_a: 1 })
    assert.deepEqual(refused.body.messages[1], { role: "assistant", content: "Hello" })
    assert.strictEqual(refused.body.top_a, 1)
    assert.strictEqual(refused.dropped, "messages.reasoning_content")
    const taken = await ask("/v1/chat/completions", { model: "together/m", messages })
    assert.deepEqual(taken.body.messages, messages)
  })
})

describe("Mistral", () => {
  scenario("gets no stream_options, and its usage is recorded", async ({ ask, connect, gateway }) => {
    await connect("mistral", ["m"])
    const chat = { model: "mistral/m", messages: hi, stream: true }
    const requests: ReadonlyArray<readonly [string, object]> = [
      ["/v1/chat/completions", chat],
      ["/v1/chat/completions", { ...chat, stream_options: { include_usage: true } }],
      ["/v1/chat/completions", { stream_options: { include_usage: true }, ...chat }],
      ["/v1/messages", { ...chat, max_tokens: 9 }]
    ]
    for (const [path, body] of requests) {
      const { body: sent, headers } = await ask(path, body)
      assert.notProperty(sent, "stream_options")
      assert.strictEqual(sent.stream, true)
      const row = await gateway.usageRow(headers.get("x-gateway-request-id") ?? "")
      assert.deepInclude(row, { outcome: "completed", usageSource: "upstream" })
      assert.strictEqual(row.tokens.out, 3)
    }
  })

  scenario(
    "gets foreign ids of calls in its own form, and clients get theirs back",
    async ({ ask, connect, upstream }) => {
      await connect("mistral", ["m"])
      const { body } = await ask("/v1/messages", secondTurn("mistral/m"))
      const [, assistant, tool] = body.messages
      assert.match(assistant.tool_calls[0].id, nine)
      assert.strictEqual(tool.tool_call_id, assistant.tool_calls[0].id)
      // The same word every time, and the client's own where an answer repeats it.
      const toolCalls = [
        { id: String(tool.tool_call_id), name: "weather", arguments: "{}" },
        { id: "Zz9Zz9Zz9", name: "weather", arguments: "{}" }
      ]
      for (const stream of [false, true]) {
        upstream.enqueue(
          stream ? Fake.sse(Fake.chatStream([], { toolCalls })) : Fake.json(Fake.chatCompletion({ toolCalls }))
        )
        const { text } = await ask("/v1/messages", secondTurn("mistral/m", { stream }))
        assert.include(text, '"id":"toolu_01A09q90qw90lq917835lq9"')
        assert.include(text, '"id":"Zz9Zz9Zz9"')
        assert.notInclude(text, String(tool.tool_call_id))
      }
    }
  )

  scenario("gets them so from chat clients too, and its own as they are", async ({ ask, connect }) => {
    await connect("mistral", ["m"])
    const turn = (id: string) => [
      ...hi,
      {
        role: "assistant",
        content: "",
        tool_calls: [{ id, type: "function", function: { name: "f", arguments: "{}" } }]
      },
      { role: "tool", tool_call_id: id, content: "1" }
    ]
    const foreign = await ask("/v1/chat/completions", { model: "mistral/m", messages: turn("call_abc") })
    assert.match(foreign.body.messages[1].tool_calls[0].id, nine)
    assert.strictEqual(foreign.body.messages[2].tool_call_id, foreign.body.messages[1].tool_calls[0].id)
    const own = await ask("/v1/chat/completions", { model: "mistral/m", messages: turn("D681PevKs") })
    assert.deepEqual(own.body.messages, turn("D681PevKs"))
  })
})

describe("xAI", () => {
  scenario(
    "is billed with its reasoning, which it counts beside the completion",
    async ({ ask, connect, gateway, upstream }) => {
      await connect("xai", ["grok-4.3"])
      upstream.enqueue(
        Fake.json({
          ...Fake.chatCompletion({ text: "4" }),
          usage: {
            prompt_tokens: 12,
            completion_tokens: 1,
            total_tokens: 241,
            completion_tokens_details: { reasoning_tokens: 228 }
          }
        })
      )
      const { headers } = await ask("/v1/chat/completions", { model: "xai/grok-4.3", messages: hi })
      const { tokens } = await gateway.usageRow(headers.get("x-gateway-request-id") ?? "")
      assert.deepInclude(tokens, { in: 12, out: 229, reasoning: 228 })
    }
  )
})
