import { assert, describe, it } from "@effect/vitest"
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import { errorView } from "../../../../src/contract/domain/Errors.ts"
import type { JsonObject } from "../../../../src/wire/json/Json.ts"
import { ollama, ollamaGenerate } from "../../../../src/wire/ollama/Codec.ts"
import { OllamaChatRequest, OllamaGenerateRequest } from "../../../../src/wire/ollama/Schema.ts"
import { makeStreamTap } from "../../../../src/wire/ollama/Tap.ts"
import type { WireCodec } from "../../../../src/wire/WireCodec.ts"
import { cut } from "../support.ts"
import { doneLine, line, ndjson, ollamaBody, png } from "./support.ts"

const tapped = (text: string, size: number) => {
  const tap = makeStreamTap()
  const out = [...cut(text, size).map((piece) => tap.push(piece)), tap.end()]
  return { text: Buffer.concat(out).toString(), facts: tap.facts }
}

describe("tap", () => {
  it("hands on the chunk object itself", () => {
    const tap = makeStreamTap()
    for (const part of [ndjson(line({ content: "a" })), "\n", ndjson(line({ thinking: "b" }), doneLine())]) {
      const bytes = Buffer.from(part)
      assert.strictEqual(tap.push(bytes), bytes)
    }
    assert.isTrue(tap.facts.terminated)
  })

  it("learns what passes, whatever the cuts", () => {
    const whole = ndjson(
      line({}),
      line({ content: "é𝔘" }),
      line({ thinking: "hm" }),
      line({ tool_calls: [{ function: { name: "f", arguments: { a: 1 } } }] }),
      doneLine()
    )
    for (const size of [1, 2, 7, 10_000]) {
      const { facts, text } = tapped(whole, size)
      assert.strictEqual(text, whole)
      assert.deepEqual(facts, {
        events: 5,
        content: true,
        stop: { reason: "tool_calls", raw: "stop", sequence: null },
        terminated: true,
        usage: { in: 26, out: 9, cacheRead: 0, cacheWrite: 0, reasoning: 0 },
        problem: null,
        textChars: 3,
        toolArgChars: 7,
        reasoningChars: 2
      })
    }
  })

  it("tells content from mere signs of life", () => {
    assert.isFalse(tapped(ndjson(line({}), line({ content: "" })), 9).facts.content)
    assert.isTrue(tapped(ndjson(line({ thinking: "a" })), 9).facts.content)
  })

  it("withholds an error line, a line that is no JSON, and all after it", () => {
    const good = ndjson(line({ content: "a" }))
    for (const size of [1, 5, 10_000]) {
      const failed = tapped(`${good}${ndjson({ error: "boom" }, doneLine())}`, size)
      assert.strictEqual(failed.text, good)
      assert.strictEqual(failed.facts.problem?.message, "boom")
      assert.isFalse(failed.facts.terminated)
      const broken = tapped(`${good}oops\n${ndjson(doneLine())}`, size)
      assert.strictEqual(broken.text, good)
      assert.strictEqual(broken.facts.problem?.code, "unreadable_stream")
    }
  })

  it("drops a cut line at the end, and completes a whole one", () => {
    const good = ndjson(line({ content: "a" }))
    assert.strictEqual(tapped(`${good}{"mess`, 9).text, good)
    const { facts, text } = tapped((good + ndjson(doneLine())).trimEnd(), 9)
    assert.strictEqual(text, good + ndjson(doneLine()))
    assert.isTrue(facts.terminated)
  })

  it("fails on a line that never ends", () => {
    const tap = makeStreamTap(8)
    tap.push(Buffer.alloc(5, 97))
    tap.push(Buffer.alloc(5, 97))
    assert.strictEqual(tap.facts.problem?.status, 502)
  })
})

describe("checkEnvelope", () => {
  const refused = (codec: WireCodec, body: unknown): string | null | undefined =>
    Either.match(codec.checkEnvelope(body), { onLeft: ({ param }) => param, onRight: () => undefined })

  const wrong: ReadonlyArray<readonly [field: string, more: JsonObject]> = [
    ["model", { model: "" }],
    ["messages", { messages: 5 }],
    ["messages", { messages: [] }],
    ["messages[0]", { messages: ["x"] }],
    ["messages[0].role", { messages: [{ content: "x" }] }],
    ["messages[0].content", { messages: [{ role: "user", content: [] }] }],
    ["stream", { stream: "yes" }],
    ["options", { options: [] }],
    ["tools", { tools: {} }]
  ]

  it("names the field that is wrong, as the schemas of the document do", () => {
    for (const [field, more] of wrong) {
      assert.strictEqual(refused(ollama, ollamaBody(more)), field)
      assert.isFalse(Schema.is(OllamaChatRequest)(ollamaBody(more)))
    }
    assert.strictEqual(refused(ollama, [1]), "body")
    assert.isTrue(Schema.is(OllamaChatRequest)(ollamaBody({ options: {}, think: "low", extra: 1 })))
    assert.strictEqual(refused(ollamaGenerate, { model: "m" }), "prompt")
    assert.strictEqual(refused(ollamaGenerate, { model: "m", prompt: "a", images: "x" }), "images")
    assert.isTrue(Schema.is(OllamaGenerateRequest)({ model: "m", prompt: "a", suffix: "b" }))
  })

  it("reads what routing needs; a stream is the default", () => {
    const body = ollamaBody({
      messages: [{ role: "user", content: null, images: [png] }],
      options: { num_predict: 9 },
      tools: [{ type: "function" }],
      think: "low",
      format: { type: "object" }
    })
    const expected = {
      model: "m",
      stream: true,
      wantsUsage: true,
      messageCount: 1,
      hasTools: true,
      hasImages: true,
      wantsReasoning: true,
      wantsSchema: true,
      maxOutputTokens: 9,
      candidates: 1,
      needsRewrite: false
    }
    assert.deepEqual(Either.getOrThrow(ollama.checkEnvelope(body)), expected)
    const plain = { stream: false, think: false, format: "json", options: { num_predict: -1 } }
    assert.deepInclude(Either.getOrThrow(ollama.checkEnvelope(ollamaBody(plain))), {
      stream: false,
      wantsReasoning: false,
      wantsSchema: false,
      maxOutputTokens: null
    })
    assert.deepInclude(Either.getOrThrow(ollamaGenerate.checkEnvelope({ model: "m", prompt: "a", system: "b" })), {
      messageCount: 2,
      hasTools: false
    })
  })

  it("relays the client's bytes with another model", () => {
    const text = '{"messages":[{"role":"user","content":"a"}], "model" : "m", "keep_alive":-1}'
    const parsed = JSON.parse(text) as JsonObject
    const relayed = ollama.relayRequest(
      Buffer.from(text),
      parsed,
      "up",
      Either.getOrThrow(ollama.checkEnvelope(parsed))
    )
    assert.strictEqual(relayed.body.toString(), text.replace('"m"', '"up"'))
    assert.isFalse(relayed.hideUsage)
  })
})

describe("errors", () => {
  const view = errorView(400, "messages: wrong", {
    param: "messages",
    details: [{ field: "messages", message: "wrong" }]
  })

  it("are one text", () => {
    assert.deepEqual(ollama.renderError(view, "r1"), {
      error: "messages: wrong",
      code: "bad_request",
      details: [{ field: "messages", message: "wrong" }],
      request_id: "r1"
    })
    const text = ollama.renderStreamError(view, "r1")
    assert.isTrue(text.endsWith("\n"))
    assert.strictEqual(JSON.parse(text).error, "messages: wrong")
    assert.deepInclude(ollama.readUpstreamError(404, '{"error":"model \'x\' not found"}'), {
      status: 404,
      message: "model 'x' not found"
    })
  })
})
