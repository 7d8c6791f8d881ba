/** Answers that a plugin has changed, read by the official SDKs of all wires: whole ones, and streams that were held back for it. */
import Anthropic from "@anthropic-ai/sdk"
import { GoogleGenAI } from "@google/genai"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { Ollama } from "ollama"
import OpenAI from "openai"
import type { WireName } from "../../src/contract/domain/Wire.ts"
import * as Story from "../faults/wall/Story.ts"
import * as Wires from "../faults/wall/Wires.ts"
import * as Fake from "../support/FakeUpstream.ts"
import { installPlugin, shownPlugin } from "../support/RealPlugins.ts"
import * as TestGateway from "../support/TestGateway.ts"

/** What a client has read: the text in the order it came, and what the end says of the tokens. */
interface Read {
  readonly text: string
  readonly tokens: readonly [in_: number | undefined, out: number | undefined]
  readonly isWhole: boolean
}

type Reader = (url: string, streamed: boolean) => Promise<Read>

const model = "up/m"
const quiet = { apiKey: "any", maxRetries: 0, logLevel: "off" } as const
const said = [{ role: "user" as const, content: "Tell it" }]

const readers: Readonly<Record<WireName, Reader>> = {
  chat: async (url, streamed) => {
    const openai = new OpenAI({ ...quiet, baseURL: `${url}/v1` })
    const answer = streamed
      ? await openai.chat.completions
          .stream({ model, messages: said, stream_options: { include_usage: true } })
          .finalChatCompletion()
      : await openai.chat.completions.create({ model, messages: said })
    const [choice] = answer.choices
    return {
      text: choice?.message.content ?? "",
      tokens: [answer.usage?.prompt_tokens, answer.usage?.completion_tokens],
      isWhole: choice?.finish_reason === "stop"
    }
  },
  messages: async (url, streamed) => {
    const anthropic = new Anthropic({ ...quiet, baseURL: url })
    const asked = { model, max_tokens: 500, messages: said }
    const answer = streamed
      ? await anthropic.messages.stream(asked).finalMessage()
      : await anthropic.messages.create(asked)
    return {
      text: answer.content.map((block) => (block.type === "text" ? block.text : `<${block.type}>`)).join(""),
      tokens: [answer.usage.input_tokens, answer.usage.output_tokens],
      isWhole: answer.stop_reason === "end_turn"
    }
  },
  responses: async (url, streamed) => {
    const openai = new OpenAI({ ...quiet, baseURL: `${url}/v1` })
    const deltas: Array<string> = []
    const answer = streamed
      ? await openai.responses
          .stream({ model, input: "Tell it" })
          .on("response.output_text.delta", ({ delta }) => void deltas.push(delta))
          .finalResponse()
      : await openai.responses.create({ model, input: "Tell it" })
    if (streamed) assert.strictEqual(answer.output_text, deltas.join(""))
    return {
      text: answer.output_text,
      tokens: [answer.usage?.input_tokens, answer.usage?.output_tokens],
      isWhole: answer.status === "completed"
    }
  },
  gemini: async (url, streamed) => {
    const { models } = new GoogleGenAI({ apiKey: "any", httpOptions: { baseUrl: url } })
    const asked = { model, contents: "Tell it" }
    const pieces = []
    if (streamed) for await (const piece of await models.generateContentStream(asked)) pieces.push(piece)
    else pieces.push(await models.generateContent(asked))
    const usage = pieces.at(-1)?.usageMetadata
    return {
      text: pieces.map((piece) => piece.text ?? "").join(""),
      tokens: [usage?.promptTokenCount, usage?.candidatesTokenCount],
      isWhole: pieces.at(-1)?.candidates?.[0]?.finishReason === "STOP"
    }
  },
  ollama: async (url, streamed) => {
    const ollama = new Ollama({ host: `${url}/v1` })
    const pieces = []
    if (streamed)
      for await (const piece of await ollama.chat({ model, messages: said, stream: true })) pieces.push(piece)
    else pieces.push(await ollama.chat({ model, messages: said }))
    const last = pieces.at(-1)
    return {
      text: pieces.map(({ message }) => message.content).join(""),
      tokens: [last?.prompt_eval_count, last?.eval_count],
      isWhole: last?.done === true && last.done_reason === "stop"
    }
  }
}

/** Another word in any text, and a lie about the tokens wherever an answer tells of them. */
const rewriting = {
  manifest: { hooks: { onResponse: { stream: "buffer" } }, timeoutMs: 10_000 },
  before: `const lies = new Set(["usage", "usageMetadata", "prompt_eval_count", "eval_count"])
const lie = (value) => (typeof value === "object" && value !== null ? Object.fromEntries(Object.keys(value).map((key) => [key, 999])) : 999)`,
  members: `onResponse: (_, { body }) => ({
    body: JSON.parse(JSON.stringify(body).replaceAll("lake", "sea"), (key, value) => (lies.has(key) ? lie(value) : value))
  })`
}

const upstreamOf =
  (wire: Wires.WallWire): Fake.Answer =>
  async (response, request) => {
    const isStream = JSON.parse(request.body).stream === true
    const answer = isStream ? Fake.sse(Wires.all(Wires.streamed(wire))) : Fake.json(Wires.whole(wire))
    await answer(response, request)
  }

const changed = Story.text.replaceAll("lake", "sea")

describe("answers that a plugin changes", () => {
  for (const upstreamWire of ["chat", "messages", "responses"] as const) {
    it.scopedLive(`are read by the SDKs of five wires, whole and held back; from a ${upstreamWire} upstream`, () =>
      Effect.gen(function* () {
        const gateway = yield* TestGateway.start()
        const upstream = yield* Fake.start
        upstream.always(upstreamOf(upstreamWire))
        yield* Effect.promise(async () => {
          assert.notStrictEqual(changed, Story.text)
          await gateway.connect("up", upstream, upstreamWire)
          await installPlugin(gateway, "rewriter", rewriting)
          for (const [wire, read] of Object.entries(readers)) {
            for (const streamed of [false, true]) {
              const label = `${wire}, ${streamed ? "held back" : "whole"}`
              const { isWhole, text, tokens } = await read(gateway.url, streamed)
              assert.strictEqual(text, changed, label)
              assert.deepStrictEqual(tokens, [Story.usage.in, Story.usage.out], label)
              assert.isTrue(isWhole, label)
            }
          }
          const { calls, failed, modified } = (await shownPlugin(gateway, "rewriter")).stats
          assert.deepStrictEqual([calls, modified, failed], [10, 10, 0])
          const { logs } = await gateway.manage("GET", "/api/usage/logs?limit=100")
          for (const { outcome, tokens } of logs) {
            assert.strictEqual(outcome, "completed")
            assert.deepInclude(tokens, { in: Story.usage.in, out: Story.usage.out })
          }
        })
      })
    )
  }
})
