/** The official SDKs, unmodified, against every pair of client wire and upstream wire: text and tools, streamed and not. */
import Anthropic, { type APIError as AnthropicError } from "@anthropic-ai/sdk"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import OpenAI, { type APIError as OpenAIError } from "openai"
import { advertisedAutoIds } from "../../src/plane/routing/resolve/AutoId.ts"
import * as Fake from "../support/FakeUpstream.ts"
import * as TestGateway from "../support/TestGateway.ts"

type Wire = "chat" | "messages"

const usage = { in: 21, out: 9, cacheRead: 5 }
const call = { id: "call_abc123", name: "get_weather", arguments: '{"city":"Paris","days":2}' }
const schema = { type: "object" as const, properties: { city: { type: "string" } }, required: ["city"] }

/** What a fake upstream of a wire answers: text, or a tool call when the request brought tools. */
const upstreamOf =
  (wire: Wire): Fake.Answer =>
  async (response, request) => {
    const body = JSON.parse(request.body) as { stream?: boolean; tools?: ReadonlyArray<unknown> }
    const toolCalls = (body.tools ?? []).length > 0 ? [call] : []
    const texts = toolCalls.length > 0 ? [] : ["Bon", "jour", " là"]
    const streamed = wire === "chat" ? Fake.chatStream : Fake.messagesStream
    const whole = wire === "chat" ? Fake.chatCompletion : Fake.messagesAnswer
    const answer = body.stream
      ? Fake.sse(streamed(texts, { toolCalls, usage }))
      : Fake.json(whole({ ...(texts.length > 0 ? { text: texts.join("") } : {}), toolCalls, usage }))
    await answer(response, request)
  }

const setUp = (upstreamWire: Wire) =>
  Effect.gen(function* () {
    const gateway = yield* TestGateway.start()
    const upstream = yield* Fake.start
    upstream.always(upstreamOf(upstreamWire))
    yield* Effect.promise(() => gateway.connect("up", upstream, upstreamWire))
    return {
      upstream,
      gateway,
      openai: new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: "any", maxRetries: 0 }),
      anthropic: new Anthropic({ baseURL: gateway.url, apiKey: "any", maxRetries: 0 })
    }
  })

const ask = [{ role: "user" as const, content: "Say hello" }]
const chatTools = [{ type: "function" as const, function: { name: "get_weather", parameters: schema } }]
const messagesTools = [{ name: "get_weather", input_schema: schema }]

for (const upstreamWire of ["chat", "messages"] as const) {
  describe(`openai SDK → ${upstreamWire} upstream`, () => {
    it.scopedLive("text, whole", () =>
      Effect.gen(function* () {
        const { openai } = yield* setUp(upstreamWire)
        const answer = yield* Effect.promise(() => openai.chat.completions.create({ model: "up/m", messages: ask }))
        assert.strictEqual(answer.choices[0]?.message.content, "Bonjour là")
        assert.strictEqual(answer.choices[0]?.finish_reason, "stop")
        assert.strictEqual(answer.usage?.prompt_tokens, usage.in)
        assert.strictEqual(answer.usage?.completion_tokens, usage.out)
        assert.strictEqual(answer.usage?.prompt_tokens_details?.cached_tokens, usage.cacheRead)
      })
    )

    it.scopedLive("text, streamed, with usage when asked for", () =>
      Effect.gen(function* () {
        const { openai } = yield* setUp(upstreamWire)
        const final = yield* Effect.promise(() =>
          openai.chat.completions
            .stream({ model: "up/m", messages: ask, stream_options: { include_usage: true } })
            .finalChatCompletion()
        )
        assert.strictEqual(final.choices[0]?.message.content, "Bonjour là")
        assert.strictEqual(final.usage?.prompt_tokens, usage.in)
      })
    )

    it.scopedLive("text, streamed, without usage when not asked for", () =>
      Effect.gen(function* () {
        const { openai, upstream } = yield* setUp(upstreamWire)
        const chunks = yield* Effect.promise(async () => {
          const all = []
          for await (const chunk of await openai.chat.completions.create({
            model: "up/m",
            messages: ask,
            stream: true
          })) {
            all.push(chunk)
          }
          return all
        })
        assert.strictEqual(chunks.map((chunk) => chunk.choices[0]?.delta.content ?? "").join(""), "Bonjour là")
        assert.isTrue(chunks.every((chunk) => chunk.choices.length === 1 && (chunk.usage ?? null) === null))
        const sent = JSON.parse(upstream.requests[0]!.body)
        if (upstreamWire === "chat") assert.isTrue(sent.stream_options.include_usage)
      })
    )

    it.scopedLive("a tool call, whole and streamed, and its result on the next turn", () =>
      Effect.gen(function* () {
        const { openai, upstream } = yield* setUp(upstreamWire)
        yield* Effect.promise(async () => {
          const params = { model: "up/m", messages: ask, tools: chatTools }
          const whole = await openai.chat.completions.create(params)
          const streamed = await openai.chat.completions.stream(params).finalChatCompletion()
          for (const answer of [whole, streamed]) {
            const made = answer.choices[0]?.message.tool_calls?.[0]
            assert.strictEqual(answer.choices[0]?.finish_reason, "tool_calls")
            assert.strictEqual(made?.type === "function" ? made.function.name : null, "get_weather")
            assert.deepStrictEqual(
              made?.type === "function" ? JSON.parse(made.function.arguments) : null,
              JSON.parse(call.arguments)
            )
          }
          const made = whole.choices[0]!.message
          const next = await openai.chat.completions.create({
            model: "up/m",
            messages: [...ask, made, { role: "tool", tool_call_id: made.tool_calls![0]!.id, content: "18 degrees" }]
          })
          assert.strictEqual(next.choices[0]?.message.content, "Bonjour là")
          assert.include(upstream.requests.at(-1)!.body, "18 degrees")
        })
      })
    )

    it.scopedLive("an upstream's error raises the SDK's own error class with the upstream's words", () =>
      Effect.gen(function* () {
        const { openai, upstream } = yield* setUp(upstreamWire)
        upstream.always(
          Fake.json(Fake.errorBody(upstreamWire, "Slow down, please"), { status: 429, headers: { "retry-after": "7" } })
        )
        const error = yield* Effect.promise(() =>
          openai.chat.completions.create({ model: "up/m", messages: ask }).then(
            () => null,
            (failure: unknown) => failure
          )
        )
        assert.instanceOf(error, OpenAI.RateLimitError)
        assert.include((error as OpenAIError).message, "Slow down, please")
        assert.strictEqual((error as OpenAIError).headers?.get("retry-after"), "7")
      })
    )
  })

  describe(`anthropic SDK → ${upstreamWire} upstream`, () => {
    const base = { model: "up/m", max_tokens: 100, messages: ask }

    it.scopedLive("text, whole", () =>
      Effect.gen(function* () {
        const { anthropic } = yield* setUp(upstreamWire)
        const answer = yield* Effect.promise(() => anthropic.messages.create(base))
        assert.deepInclude(answer.content[0], { type: "text", text: "Bonjour là" })
        assert.strictEqual(answer.stop_reason, "end_turn")
        assert.strictEqual(answer.usage.input_tokens, usage.in - usage.cacheRead)
        assert.strictEqual(answer.usage.cache_read_input_tokens, usage.cacheRead)
        assert.strictEqual(answer.usage.output_tokens, usage.out)
      })
    )

    it.scopedLive("text, streamed", () =>
      Effect.gen(function* () {
        const { anthropic } = yield* setUp(upstreamWire)
        const final = yield* Effect.promise(() => anthropic.messages.stream(base).finalMessage())
        assert.deepInclude(final.content[0], { type: "text", text: "Bonjour là" })
        assert.strictEqual(final.stop_reason, "end_turn")
        assert.strictEqual(final.usage.output_tokens, usage.out)
      })
    )

    it.scopedLive("a tool call, whole and streamed, and its result on the next turn", () =>
      Effect.gen(function* () {
        const { anthropic, upstream } = yield* setUp(upstreamWire)
        yield* Effect.promise(async () => {
          const params = { ...base, tools: messagesTools }
          const whole = await anthropic.messages.create(params)
          const streamed = await anthropic.messages.stream(params).finalMessage()
          for (const answer of [whole, streamed]) {
            const made = answer.content.find((block) => block.type === "tool_use")
            assert.strictEqual(answer.stop_reason, "tool_use")
            assert.strictEqual(made?.name, "get_weather")
            assert.deepStrictEqual(made?.input, JSON.parse(call.arguments))
          }
          const made = whole.content.find((block) => block.type === "tool_use")!
          const next = await anthropic.messages.create({
            ...base,
            messages: [
              ...ask,
              { role: "assistant", content: whole.content },
              { role: "user", content: [{ type: "tool_result", tool_use_id: made.id, content: "18 degrees" }] }
            ]
          })
          assert.deepInclude(next.content[0], { type: "text", text: "Bonjour là" })
          assert.include(upstream.requests.at(-1)!.body, "18 degrees")
        })
      })
    )

    it.scopedLive("an upstream's error raises the SDK's own error class with the upstream's words", () =>
      Effect.gen(function* () {
        const { anthropic, upstream } = yield* setUp(upstreamWire)
        upstream.always(Fake.json(Fake.errorBody(upstreamWire, "Key is no good"), { status: 401 }))
        const error = yield* Effect.promise(() =>
          anthropic.messages.create(base).then(
            () => null,
            (failure: unknown) => failure
          )
        )
        assert.instanceOf(error, Anthropic.AuthenticationError)
        assert.include((error as AnthropicError).message, "Key is no good")
      })
    )
  })
}

describe("GET /v1/models", () => {
  it.scopedLive("lists for both SDKs", () =>
    Effect.gen(function* () {
      const { anthropic, gateway, openai } = yield* setUp("chat")
      yield* Effect.promise(async () => {
        await gateway.combo("best", "up/m")
        const ofOpenai = (await openai.models.list()).data.map((model) => model.id)
        const ofAnthropic = (await anthropic.models.list()).data.map((model) => model.id)
        assert.deepStrictEqual(ofOpenai, [...advertisedAutoIds, "best", "up/m"])
        assert.deepStrictEqual(ofAnthropic, ofOpenai)
        const paged: Array<string> = []
        for await (const model of anthropic.models.list({ limit: 1 })) paged.push(model.id)
        assert.deepStrictEqual(paged, ofOpenai)
      })
    })
  )
})
