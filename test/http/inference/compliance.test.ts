/** `/v1/responses` by the cases of the Open Responses compliance suite, over upstreams of every wire. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Fake from "../../support/FakeUpstream.ts"
import { shared } from "../../support/shared.ts"
import { ResponseResource, StreamingEvent } from "./complianceSchema.ts"
import { setUp, setUpAll, type UpstreamWire } from "./complianceUpstreams.ts"

const upstreams: ReadonlyArray<UpstreamWire> = ["responses", "messages", "chat", "gemini", "ollama"]

const message = (role: string, content: unknown) => ({ type: "message", role, content })
const redHeart =
  "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="

const weather = {
  type: "function",
  name: "get_weather",
  description: "The weather of a place",
  parameters: { type: "object", properties: { location: { type: "string" } }, required: ["location"] }
}
const askWeather = { input: [message("user", "How is the weather in San Francisco?")], tools: [weather] }

interface Case {
  readonly body: Readonly<Record<string, unknown>>
  readonly outputType?: "function_call"
}

const whole: Readonly<Record<string, Case>> = {
  "basic-response": { body: { input: [message("user", "Say hello in three words.")] } },
  "system-prompt": { body: { input: [message("system", "Speak like a pirate."), message("user", "Say hello.")] } },
  "tool-calling": { body: askWeather, outputType: "function_call" },
  "image-input": {
    body: {
      input: [
        message("user", [
          { type: "input_text", text: "What is in this picture?" },
          { type: "input_image", image_url: redHeart }
        ])
      ]
    }
  },
  "multi-turn": {
    body: {
      input: [
        message("user", "My name is Alice."),
        message("assistant", "Hello Alice! How can I help?"),
        message("user", "What is my name?")
      ]
    }
  },
  "every setting": {
    body: {
      input: "Hi",
      instructions: "Be brief.",
      temperature: 0.5,
      top_p: 0.9,
      max_output_tokens: 64,
      metadata: { a: "b" },
      text: { format: { type: "json_schema", name: "n", schema: { type: "object", properties: {} } } },
      tool_choice: "auto",
      truncation: "auto",
      parallel_tool_calls: false,
      service_tier: "flex",
      safety_identifier: "s",
      prompt_cache_key: "k"
    }
  }
}

const streamed: Readonly<Record<string, Case>> = {
  "streaming-response": { body: { input: [message("user", "Count from 1 to 5.")] } },
  "tool-calling-streaming": { body: askWeather, outputType: "function_call" }
}

/** What the schema has against it; null when nothing. */
const problemsOf = (schema: Schema.Schema.AnyNoContext, value: unknown): string | null => {
  const decoded = Schema.decodeUnknownEither(schema)(value)
  return decoded._tag === "Right" ? null : decoded.left.message
}

const checkResponse = (value: unknown, { outputType }: Case): ResponseResource => {
  assert.isNull(problemsOf(ResponseResource, value))
  const response = value as ResponseResource
  assert.strictEqual(response.status, "completed")
  assert.isNotEmpty(response.output)
  if (outputType !== undefined) assert.isTrue(response.output.some(({ type }) => type === outputType))
  const ids = response.output.map(({ id }) => id)
  assert.strictEqual(new Set(ids).size, ids.length)
  return response
}

const parseEvents = (text: string): ReadonlyArray<StreamingEvent> =>
  text
    .split("\n\n")
    .filter((block) => block !== "" && !block.startsWith(":"))
    .flatMap((block) => {
      const lines = block.split("\n")
      const data = lines.find((line) => line.startsWith("data: "))?.slice(6) ?? ""
      if (data === "[DONE]") return []
      const event = JSON.parse(data)
      assert.include(lines, `event: ${event.type}`)
      assert.isNull(problemsOf(StreamingEvent, event), event.type)
      return event as StreamingEvent
    })

/** Numbers from 0 without gaps; every event of an item between its `added` and its `done`, under one id. */
const checkOrder = (events: ReadonlyArray<StreamingEvent>): void => {
  assert.deepEqual(
    events.map((event) => event.sequence_number),
    events.map((_, index) => index)
  )
  assert.deepEqual(
    events.slice(0, 2).map(({ type }) => type),
    ["response.created", "response.in_progress"]
  )
  const open = new Map<number, string>()
  let items = 0
  for (const event of events) {
    if (event.type === "response.output_item.added") {
      assert.strictEqual(event.output_index, items)
      items += 1
      open.set(event.output_index, event.item.id)
    } else if (event.type === "response.output_item.done") {
      assert.strictEqual(open.get(event.output_index), event.item.id)
      open.delete(event.output_index)
    } else if ("item_id" in event) assert.strictEqual(open.get(event.output_index), event.item_id)
  }
  assert.strictEqual(open.size, 0)
}

/** Pieces of one kind, put together. */
const joined = (events: ReadonlyArray<StreamingEvent>, type: StreamingEvent["type"]): string =>
  events.map((event) => (event.type === type && "delta" in event ? event.delta : "")).join("")

const rooms = shared(setUpAll)

describe("Open Responses compliance", () => {
  for (const wire of upstreams) {
    for (const [name, test] of Object.entries(whole)) {
      it.scopedLive(`${name}, ${wire} upstream`, () =>
        Effect.gen(function* () {
          const { gateway } = rooms()[wire]
          yield* Effect.promise(async () => {
            const answer = await gateway.post("/v1/responses", { model: "up/m", ...test.body })
            const text = await answer.text()
            assert.strictEqual(answer.status, 200, text)
            const response = checkResponse(JSON.parse(text), test)
            // A server of the wire itself told its own settings.
            if (wire === "responses") return
            const { input: _input, text: format, tools: _tools, ...settings } = test.body
            assert.deepInclude(response, settings)
            if (format !== undefined) assert.deepInclude(response.text.format, (format as { format: object }).format)
          })
        })
      )
    }

    for (const [name, test] of Object.entries(streamed)) {
      it.scopedLive(`${name}, ${wire} upstream`, () =>
        Effect.gen(function* () {
          const { gateway } = rooms()[wire]
          yield* Effect.promise(async () => {
            const answer = await gateway.post("/v1/responses", { model: "up/m", ...test.body, stream: true })
            const text = await answer.text()
            assert.strictEqual(answer.status, 200, text)
            assert.include(answer.headers.get("content-type"), "text/event-stream")
            const events = parseEvents(text)
            checkOrder(events)
            const last = events.at(-1)
            assert.strictEqual(last?.type, "response.completed")
            const response = checkResponse(last !== undefined && "response" in last ? last.response : null, test)
            assert.isNotNull(response.usage)
            assert.isNotNull(response.completed_at)
            // The end repeats what each item's own end said, and that is what its pieces said.
            assert.deepEqual(
              response.output,
              events.flatMap((event) => (event.type === "response.output_item.done" ? event.item : []))
            )
            const [item] = response.output
            if (item?.type === "function_call") {
              assert.strictEqual(joined(events, "response.function_call_arguments.delta"), item.arguments)
              assert.deepEqual(JSON.parse(item.arguments), { location: "San Francisco, CA" })
            } else {
              assert.strictEqual(joined(events, "response.output_text.delta"), "Hello there!")
            }
          })
        })
      )
    }
  }

  it.scopedLive("reasoning, refusals and citations of a chat upstream, streamed and whole", () =>
    Effect.gen(function* () {
      const { gateway, upstream } = yield* setUp("chat")
      const link = { url: "https://x.test", title: "X", start_index: 0, end_index: 1 }
      const body = { input: "Hi", reasoning: { effort: "high", summary: "auto" } }
      const head = { id: "c1", object: "chat.completion.chunk", created: 1_700_000_000, model: "fake-model" }
      const chunk = (delta: object, finish: string | null = null) =>
        `data: ${JSON.stringify({ ...head, choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`
      upstream.enqueue(
        Fake.sse([
          chunk({ reasoning_content: "Hm" }),
          chunk({ content: "A" }),
          chunk({ refusal: "No." }),
          chunk({}, "stop"),
          "data: [DONE]\n\n"
        ]),
        Fake.json({
          ...head,
          choices: [
            {
              index: 0,
              message: {
                role: "assistant",
                content: "A",
                refusal: "No.",
                reasoning_content: "Hm",
                annotations: [{ type: "url_citation", url_citation: link }]
              },
              finish_reason: "stop"
            }
          ]
        })
      )
      yield* Effect.promise(async () => {
        const streamed = await gateway.post("/v1/responses", { model: "up/m", ...body, stream: true })
        const events = parseEvents(await streamed.text())
        checkOrder(events)
        const last = events.at(-1)
        const whole = await gateway.post("/v1/responses", { model: "up/m", ...body })
        for (const answer of [last !== undefined && "response" in last ? last.response : null, await whole.json()]) {
          const response = checkResponse(answer, { body })
          assert.deepEqual(
            response.output.map(({ type }) => type),
            ["reasoning", "message", "message"]
          )
          assert.deepEqual(response.reasoning, body.reasoning as ResponseResource["reasoning"])
        }
      })
    })
  )
})
