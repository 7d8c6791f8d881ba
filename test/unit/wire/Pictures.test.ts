import { assert, describe, it } from "@effect/vitest"
import * as Either from "effect/Either"
import type { WireName } from "../../../src/contract/domain/Wire.ts"
import { lostParts } from "../../../src/wire/canonical/Pictures.ts"
import { codecs } from "../../../src/wire/Codec.ts"
import type { JsonObject } from "../../../src/wire/json/Json.ts"
import { answer as geminiAnswer, data } from "./gemini/support.ts"
import { chunk, context, events, sse, tapStream, translateStream } from "./support.ts"

/** One pixel. */
const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
const url = `data:image/png;base64,${png}`
const inline = { inlineData: { mimeType: "image/png", data: png } }
const item = { id: "ig_1", type: "image_generation_call", status: "completed", output_format: "png", result: png }
const image = { type: "image_url", image_url: { url } }
const stop = { finishReason: "STOP" }

type Upstream = "gemini" | "responses" | "chat" | "ollama"

const answers: Readonly<Record<Upstream, JsonObject>> = {
  gemini: geminiAnswer([inline], "STOP"),
  responses: { id: "resp_1", object: "response", status: "completed", model: "m", output: [item] },
  chat: {
    id: "c1",
    model: "m",
    choices: [{ index: 0, message: { role: "assistant", content: "", images: [image] }, finish_reason: "stop" }]
  },
  ollama: { model: "m", message: { role: "assistant", content: "", images: [png] }, done: true, done_reason: "stop" }
}

const added = { ...item, status: "in_progress", result: null }
const streams: Readonly<Record<Upstream, string>> = {
  gemini: data(geminiAnswer([inline]), { ...geminiAnswer([{ text: "" }]), ...geminiAnswer([{ text: "" }], "STOP") }),
  responses: sse(
    { type: "response.created", response: { id: "resp_1", model: "m" } },
    { type: "response.output_item.added", output_index: 0, item: added },
    { type: "response.image_generation_call.generating", output_index: 0, item_id: "ig_1" },
    { type: "response.output_item.done", output_index: 0, item },
    { type: "response.completed", response: { id: "resp_1", status: "completed", output: [item] } }
  ),
  chat: sse(chunk({ role: "assistant", content: "" }), chunk({ images: [image] }), chunk({}, "stop"), "[DONE]"),
  ollama: [
    { model: "m", message: { role: "assistant", content: "", images: [png] }, done: false },
    { model: "m", message: { role: "assistant", content: "" }, done: true, done_reason: "stop" }
  ]
    .map((line) => `${JSON.stringify(line)}\n`)
    .join("")
}

const upstreams = ["gemini", "responses", "chat", "ollama"] as const

interface Found {
  readonly choices: readonly [{ readonly message: { readonly images: ReadonlyArray<typeof image> } }]
  readonly output: ReadonlyArray<{ readonly result?: string }>
  readonly candidates: readonly [{ readonly content: { readonly parts: ReadonlyArray<typeof inline> } }]
  readonly message: { readonly images: ReadonlyArray<string> }
}

/** The pictures a client finds in a whole answer. */
const found = (client: WireName, body: JsonObject): ReadonlyArray<unknown> => {
  const told = JSON.parse(JSON.stringify(body)) as Found
  switch (client) {
    case "chat":
      return told.choices[0].message.images.map((each) => each.image_url.url.split(",")[1])
    case "responses":
      return told.output.flatMap(({ result }) => result ?? [])
    case "gemini":
      return told.candidates[0].content.parts.map((part) => part.inlineData.data)
    default:
      return told.message.images
  }
}

describe("a picture in an answer", () => {
  for (const upstream of upstreams) {
    it(`${upstream}: reaches every wire that can carry it, whole and streamed`, () => {
      const response = Either.getOrThrow(codecs[upstream].decodeResponse(answers[upstream]))
      for (const client of upstreams) {
        const whole = codecs[client].encodeResponse(response, context)
        assert.deepEqual(found(client, whole), [png], client)
        assert.deepEqual(lostParts(response, client, codecs[client].carriesPicture), { names: [], nothingLeft: null })
        const { facts, text } = translateStream(client, upstream, streams[upstream])
        assert.isTrue(facts.content && facts.terminated, `${upstream}>${client}`)
        assert.include(text, png, `${upstream}>${client}`)
      }
    })

    it(`${upstream}: is content of an answer that is relayed`, () => {
      assert.isTrue(codecs[upstream].readAnswer(answers[upstream]).hasContent)
      assert.isTrue(tapStream(upstream, streams[upstream]).facts.content)
    })
  }

  it("is told to a responses client as an item of its own, from begin to end", () => {
    const told = events(translateStream("responses", "gemini", streams.gemini).text)
    const kinds = told.map(({ type }) => type)
    assert.deepEqual(kinds.slice(2, -1), [
      "response.output_item.added",
      "response.image_generation_call.in_progress",
      "response.image_generation_call.completed",
      "response.output_item.done"
    ])
    const { id, ...rest } = told.at(-1).response.output[0]
    assert.match(id, /^ig_gw_/)
    assert.deepEqual(rest, { type: "image_generation_call", status: "completed", output_format: "png", result: png })
  })

  it("is named where it cannot be told, in a stream by a comment", () => {
    const both = geminiAnswer([{ text: "Here:" }, inline], "STOP")
    const response = Either.getOrThrow(codecs.gemini.decodeResponse(both))
    assert.deepEqual(lostParts(response, "messages", codecs.messages.carriesPicture), {
      names: ["answer.inlineData"],
      nothingLeft: null
    })
    const { facts, text } = translateStream("messages", "gemini", data(both))
    assert.isTrue(facts.terminated)
    assert.include(text, "\n: dropped answer.inlineData\n\n")
    assert.notInclude(text, png)
  })

  it("is a failure that tells why, where nothing else was said and it cannot be told", () => {
    const response = Either.getOrThrow(codecs.gemini.decodeResponse(answers.gemini))
    assert.strictEqual(lostParts(response, "messages", codecs.messages.carriesPicture).nothingLeft, "picture")
    for (const upstream of upstreams) {
      const { facts, text } = translateStream("messages", upstream, streams[upstream])
      assert.isFalse(facts.terminated || facts.content)
      assert.match(facts.problem?.message ?? "", /picture, which the messages wire cannot carry/)
      assert.notInclude(text, "message_stop")
    }
  })

  it("stays with the thoughts where the model only drafted it", () => {
    const draft = { ...inline, thought: true }
    const response = Either.getOrThrow(
      codecs.gemini.decodeResponse(geminiAnswer([draft, { text: "Hi" }], "STOP", stop))
    )
    assert.notInclude(JSON.stringify(codecs.chat.encodeResponse(response, context)), png)
  })
})

describe("citations in a chat stream", () => {
  const link = { url: "https://a.example", title: "A", start_index: 0, end_index: 2 }
  const stream = sse(
    chunk({ role: "assistant", content: "Hi" }),
    chunk({ annotations: [{ type: "url_citation", url_citation: link }] }),
    chunk({}, "stop"),
    "[DONE]"
  )

  it("reach a responses client as annotations, and a chat client as they came", () => {
    const told = events(translateStream("responses", "chat", stream).text)
    const annotation = { type: "url_citation", ...link }
    assert.deepEqual(told.find(({ type }) => type === "response.output_text.annotation.added").annotation, annotation)
    assert.deepEqual(told.at(-1).response.output[0].content[0].annotations, [annotation])
    const again = translateStream("chat", "responses", sse(...told)).text
    assert.include(again, JSON.stringify({ annotations: [{ type: "url_citation", url_citation: link }] }))
  })
})
