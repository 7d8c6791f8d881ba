/** Streams of upstreams in any wire, whole and cut, and the official clients that read what comes of them. */
import Anthropic from "@anthropic-ai/sdk"
import { GoogleGenAI } from "@google/genai"
import { Ollama } from "ollama"
import OpenAI from "openai"
import type { WireName } from "../../../../src/contract/domain/Wire.ts"
import type { StreamEvent } from "../../../../src/wire/canonical/Event.ts"
import { codecs } from "../../../../src/wire/Codec.ts"
import * as Fake from "../../../support/FakeUpstream.ts"

export const wires: ReadonlyArray<WireName> = ["chat", "messages", "responses", "gemini", "ollama"]

export interface Told {
  readonly thinking?: string
  readonly usage?: { readonly in: number; readonly out: number } | null
}

/** Pieces of a stream, one per event that says something. */
const pieces = (wire: WireName, events: ReadonlyArray<StreamEvent>): ReadonlyArray<string> => {
  const encoder = codecs[wire].makeStreamEncoder({
    nowMs: 1_700_000_000_000,
    fallbackId: "up_1",
    model: "fake-model",
    wantsUsage: true
  })
  return events.map((event) => encoder.encode(event)).filter((piece) => piece !== "")
}

const counts = { cacheRead: 0, cacheWrite: 0, reasoning: 0 }

const begun = (texts: ReadonlyArray<string>, { thinking, usage = null }: Told): ReadonlyArray<StreamEvent> => [
  ...(usage === null ? [] : [{ type: "usage", usage: { ...counts, in: usage.in, out: 1 } } as const]),
  { type: "start", id: "up_1", model: "fake-model", createdMs: 1_700_000_000_000 },
  ...(thinking === undefined
    ? []
    : ([
        { type: "block_start", index: 0, block: { type: "reasoning" } },
        { type: "delta", index: 0, delta: { type: "text", text: thinking } },
        { type: "block_stop", index: 0 }
      ] as const)),
  ...(texts.length === 0 ? [] : [{ type: "block_start", index: 1, block: { type: "text" } } as const]),
  ...texts.map((text): StreamEvent => ({ type: "delta", index: 1, delta: { type: "text", text } }))
]

/** A stream that stops in the middle of its text. */
export const begin = (wire: WireName, texts: ReadonlyArray<string>, told: Told = {}): ReadonlyArray<string> =>
  pieces(wire, begun(texts, told))

/** A stream that comes to its end. */
export const whole = (wire: WireName, texts: ReadonlyArray<string>, told: Told = {}): ReadonlyArray<string> => {
  const { usage = null } = told
  return pieces(wire, [
    ...begun(texts, told),
    ...(texts.length === 0 ? [] : [{ type: "block_stop", index: 1 } as const]),
    ...(usage === null ? [] : [{ type: "usage", usage: { ...counts, in: usage.in, out: usage.out } } as const]),
    { type: "finish", stop: { reason: "stop", raw: "stop", sequence: null } },
    { type: "done" }
  ])
}

export const headOf = (wire: WireName) => ({ headers: { "content-type": codecs[wire].streamContentType } })

export const cut = (wire: WireName, texts: ReadonlyArray<string>, told: Told = {}): Fake.Answer =>
  Fake.cutOff(begin(wire, texts, told), headOf(wire))

export const answer = (wire: WireName, texts: ReadonlyArray<string>, told: Told = {}): Fake.Answer =>
  Fake.sse(whole(wire, texts, told), headOf(wire))

export interface Heard {
  text: string
  thinking: string
  /** A finish reason, and the wire's terminator where there is one. */
  isClean: boolean
  in: number
  out: number
  error: string | null
  requestId: string
}

const question = "Tell me of the fox"

const askers: Readonly<Record<WireName, (url: string, model: string, heard: Heard) => Promise<void>>> = {
  chat: async (url, model, heard) => {
    const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: "any", maxRetries: 0 })
    const { data, response } = await client.chat.completions
      .create({
        model,
        stream: true,
        stream_options: { include_usage: true },
        messages: [{ role: "user", content: question }]
      })
      .withResponse()
    heard.requestId = response.headers.get("x-gateway-request-id") ?? ""
    const ids = new Set<string>()
    for await (const chunk of data) {
      ids.add(`${chunk.id} ${chunk.model}`)
      heard.text += chunk.choices[0]?.delta.content ?? ""
      heard.thinking += (chunk.choices[0]?.delta as { reasoning_content?: string })?.reasoning_content ?? ""
      heard.isClean ||= chunk.choices[0]?.finish_reason === "stop"
      heard.in = chunk.usage?.prompt_tokens ?? heard.in
      heard.out = chunk.usage?.completion_tokens ?? heard.out
    }
    if (ids.size !== 1) throw new Error(`the chunks belong to ${ids.size} answers`)
  },
  messages: async (url, model, heard) => {
    const client = new Anthropic({ baseURL: url, apiKey: "any", maxRetries: 0 })
    const stream = client.messages.stream({
      model,
      max_tokens: 1_000,
      messages: [{ role: "user", content: question }]
    })
    const { response } = await stream.withResponse()
    heard.requestId = response.headers.get("x-gateway-request-id") ?? ""
    stream.on("text", (text) => (heard.text += text))
    stream.on("thinking", (text) => (heard.thinking += text))
    const message = await stream.finalMessage()
    const blocks = message.content.map((block) => (block.type === "text" ? block.text : "")).join("")
    if (blocks !== heard.text) throw new Error("the message is not what was streamed")
    heard.isClean = message.stop_reason === "end_turn"
    heard.in = message.usage.input_tokens
    heard.out = message.usage.output_tokens
  },
  responses: async (url, model, heard) => {
    const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: "any", maxRetries: 0 })
    const { data, response } = await client.responses.create({ model, stream: true, input: question }).withResponse()
    heard.requestId = response.headers.get("x-gateway-request-id") ?? ""
    let next = 0
    const items = new Map<number, string>()
    for await (const event of data) {
      if (event.type === "error") throw new Error(event.message)
      if (event.type === "response.failed") throw new Error(event.response.error?.message)
      if (event.sequence_number !== next) throw new Error(`event ${event.sequence_number} instead of ${next}`)
      next += 1
      if (event.type === "response.output_item.added") items.set(event.output_index, event.item.id ?? "")
      if (event.type === "response.output_text.delta") {
        heard.text += event.delta
        if (items.get(event.output_index) !== event.item_id) throw new Error("a delta of an unknown item")
      }
      if (event.type === "response.reasoning_summary_text.delta") heard.thinking += event.delta
      if (event.type !== "response.completed") continue
      const said = event.response.output.flatMap((item) => (item.type === "message" ? item.content : []))
      const text = said.map((part) => (part.type === "output_text" ? part.text : "")).join("")
      if (text !== heard.text) throw new Error(`the output is ${JSON.stringify(text)}`)
      heard.isClean = true
      heard.in = event.response.usage?.input_tokens ?? 0
      heard.out = event.response.usage?.output_tokens ?? 0
    }
  },
  gemini: async (url, model, heard) => {
    const client = new GoogleGenAI({ apiKey: "any", httpOptions: { baseUrl: url } })
    const stream = await client.models.generateContentStream({ model, contents: question })
    for await (const chunk of stream) {
      heard.requestId = chunk.sdkHttpResponse?.headers?.["x-gateway-request-id"] ?? heard.requestId
      for (const part of chunk.candidates?.[0]?.content?.parts ?? []) {
        if (part.thought === true) heard.thinking += part.text ?? ""
        else heard.text += part.text ?? ""
      }
      heard.isClean ||= chunk.candidates?.[0]?.finishReason === "STOP"
      heard.in = chunk.usageMetadata?.promptTokenCount ?? heard.in
      heard.out = chunk.usageMetadata?.candidatesTokenCount ?? heard.out
    }
  },
  ollama: async (url, model, heard) => {
    const client = new Ollama({
      host: url,
      fetch: async (input, init) => {
        const response = await fetch(input, init)
        heard.requestId = response.headers.get("x-gateway-request-id") ?? heard.requestId
        return response
      }
    })
    const stream = await client.chat({ model, stream: true, messages: [{ role: "user", content: question }] })
    for await (const part of stream) {
      heard.text += part.message.content
      heard.thinking += part.message.thinking ?? ""
      heard.isClean ||= part.done && part.done_reason === "stop"
      if (part.done) Object.assign(heard, { in: part.prompt_eval_count, out: part.eval_count })
    }
  }
}

/** One question by the wire's official client, and what it ends with. */
export const ask = async (wire: WireName, url: string, model: string): Promise<Heard> => {
  const heard: Heard = { text: "", thinking: "", isClean: false, in: 0, out: 0, error: null, requestId: "" }
  try {
    await askers[wire](url, model, heard)
  } catch (error) {
    heard.error = error instanceof Error ? `${error.constructor.name}: ${error.message}` : String(error)
  }
  return heard
}
