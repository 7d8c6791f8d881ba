import { assert, describe, it } from "@effect/vitest"
import { createHash } from "node:crypto"
import type { JsonObject } from "../../../../src/wire/json/Json.ts"
import { contextKeyOf } from "../../../../src/observe/inspector/reading/ContextKey.ts"
import { conversationOf } from "../../../../src/observe/inspector/reading/Conversation.ts"
import { type Format, formatOf } from "../../../../src/observe/inspector/reading/Format.ts"
import { knownHosts, providerOfHost } from "../../../../src/observe/inspector/reading/Hosts.ts"
import { detectKind } from "../../../../src/observe/inspector/reading/Kind.ts"
import {
  type AnswerText,
  answerFactsOf,
  llmOf,
  noAnswer,
  requestFactsOf
} from "../../../../src/observe/inspector/reading/Llm.ts"
import { modelTraffic } from "../../../support/ModelTraffic.ts"

const asBody = (value: object): JsonObject => JSON.parse(JSON.stringify(value))
const nothing = { host: "example.com", path: "/", userAgent: "curl/8", body: undefined }

/** As the inspector reads an exchange. */
const factsOf = (format: Format, provider: string | null, answer: AnswerText | null, path = "/") => {
  const request = requestFactsOf(format)
  const answered = answer === null ? noAnswer(request) : answerFactsOf(request, path, provider, answer)
  const context = { provider, mappedTo: null, ttftMs: null, totalMs: null, priceOf: () => null }
  return { ...llmOf(request, answered, context), usage: answered.usage }
}

const price = { input: 2, output: 10, cached: 0.5, cacheCreation: 2.5 }

describe("the kind of an exchange", () => {
  it("is llm by each signal alone", () => {
    assert.lengthOf(knownHosts, 18)
    for (const [pattern] of knownHosts) {
      const host = pattern.replace("*", "eu-1")
      assert.strictEqual(detectKind({ ...nothing, host }), "llm", host)
      assert.strictEqual(detectKind({ ...nothing, host: `${host.toUpperCase()}:443` }), "llm", host)
      assert.strictEqual(detectKind({ ...nothing, host: `not${host.replaceAll(".", "-")}.test` }), "unknown", host)
    }
    for (const { path } of modelTraffic) assert.strictEqual(detectKind({ ...nothing, path }), "llm", path)
    for (const body of [
      { messages: [] },
      { contents: [] },
      { model: "m", prompt: "x" },
      { model: "m", input: ["x"] },
      { request: { contents: [] } }
    ]) {
      assert.strictEqual(detectKind({ ...nothing, body }), "llm", JSON.stringify(body))
    }
    for (const word of ["codex", "claude", "gemini", "antigravity", "kiro", "copilot", "cursor"]) {
      assert.strictEqual(detectKind({ ...nothing, userAgent: `${word.toUpperCase()}-cli/1.0` }), "llm", word)
    }
  })

  it("is app for other JSON, and unknown else", () => {
    assert.strictEqual(detectKind({ ...nothing, body: { event: "click", prompt: "x" } }), "app")
    assert.strictEqual(detectKind({ ...nothing, body: [] }), "app")
    assert.strictEqual(detectKind(nothing), "unknown")
    assert.strictEqual(detectKind({ ...nothing, path: "/my/messages/list", userAgent: "precursory" }), "unknown")
  })
})

describe("the context key", () => {
  const expected = createHash("sha256").update("Be brief.").digest("hex").slice(0, 12)

  it("is that of the system prompt, wherever it stands", () => {
    for (const { apiKind, request } of modelTraffic) {
      const key = contextKeyOf(asBody(request))
      assert.strictEqual(key, apiKind === "completions" || apiKind === "embeddings" ? null : expected, apiKind)
    }
    assert.strictEqual(
      contextKeyOf({
        messages: [
          { role: "user", content: "x" },
          { role: "developer", content: "Be brief." }
        ]
      }),
      expected
    )
    assert.strictEqual(contextKeyOf({ system: "Be brief." }), expected)
  })

  it("joins the texts of parts with line ends", () => {
    const joined = createHash("sha256").update("a\nb").digest("hex").slice(0, 12)
    assert.strictEqual(
      contextKeyOf({
        system: [
          { type: "text", text: "a" },
          { type: "text", text: "b" }
        ]
      }),
      joined
    )
    assert.strictEqual(contextKeyOf({ systemInstruction: { parts: [{ text: "a" }, { text: "b" }] } }), joined)
  })
})

describe("metadata of a model's exchange", () => {
  it("is read by the format's own decoders, whole and streamed", () => {
    for (const { answer, apiKind, host, path, request, stream } of modelTraffic) {
      const format = formatOf(path, asBody(request))
      assert.strictEqual(format?.apiKind, apiKind)
      if (format === null) continue
      const provider = providerOfHost(host)
      const whole = factsOf(format, provider, {
        text: JSON.stringify(answer),
        contentType: "application/json",
        isCut: false
      })
      assert.deepInclude(
        whole,
        {
          apiKind,
          streamed: false,
          tokensIn: 100,
          tokensOut: apiKind === "embeddings" ? 0 : 20,
          tokensEstimated: false
        },
        apiKind
      )
      assert.isString(whole.model, apiKind)
      if (stream === undefined) continue
      const streamed = formatOf(stream.path ?? path, asBody({ ...request, stream: true }))
      assert.isNotNull(streamed)
      if (streamed === null) continue
      const facts = factsOf(streamed, provider, { text: stream.body, contentType: stream.type, isCut: false })
      assert.deepInclude(
        facts,
        { apiKind, streamed: true, tokensIn: 100, tokensOut: 20, tokensEstimated: false },
        apiKind
      )
    }
  })

  it("counts turns", () => {
    const turns = modelTraffic.map(({ path, request }) => {
      const format = formatOf(path, asBody(request))
      return format === null ? 0 : factsOf(format, null, null).messages
    })
    assert.deepStrictEqual(turns, [4, 1, 3, 3, 3, 2, 2])
  })

  it("estimates tokens where the upstream reported none, and says so", () => {
    for (const { apiKind, path, request, stream } of modelTraffic) {
      const format = formatOf(path, asBody(request))
      if (format === null || stream === undefined || apiKind === "gemini") continue
      const cut = stream.body.slice(0, stream.body.indexOf(`lo"`) + 20)
      const facts = factsOf(format, null, { text: cut, contentType: stream.type, isCut: true })
      assert.isTrue(facts.tokensEstimated || facts.usage !== null, apiKind)
      assert.isAbove(facts.tokensIn ?? 0, 0, apiKind)
      assert.isAbove(facts.tokensOut ?? 0, 0, apiKind)
    }
  })

  it("has cost by the price book, speed, and the counts of the cache", () => {
    const anthropic = modelTraffic.find(({ apiKind }) => apiKind === "messages")
    const format = formatOf("/v1/messages", asBody(anthropic?.request ?? {}))
    assert.isNotNull(format)
    if (format === null) return
    const request = requestFactsOf(format)
    const answer = answerFactsOf(request, "/v1/messages", "anthropic", {
      text: JSON.stringify(anthropic?.answer),
      contentType: "application/json",
      isCut: false
    })
    const asked: Array<string> = []
    const context = {
      provider: "anthropic",
      mappedTo: null,
      ttftMs: 500,
      totalMs: 1_500,
      priceOf: (provider: string, model: string) => (asked.push(`${provider}/${model}`), price)
    }
    const llm = llmOf(request, answer, context)
    // 16 read, 64 from the cache, 20 into it, 20 generated.
    assert.closeTo(llm.costEstimateUsd ?? 0, (16 * 2 + 64 * 0.5 + 20 * 2.5 + 20 * 10) / 1e6, 1e-9)
    assert.deepStrictEqual(asked, ["anthropic/claude-sonnet-4-5"])
    assert.deepInclude(llm, {
      cacheRead: 64,
      cacheWrite: 20,
      tokensPerSecond: 20,
      ttftMs: 500,
      provider: "anthropic"
    })
    assert.isNull(llmOf(request, answer, { ...context, provider: null }).costEstimateUsd)
    assert.isNull(llmOf(request, answer, { ...context, priceOf: () => null }).costEstimateUsd)
    assert.isNull(llmOf(request, answer, { ...context, totalMs: null }).tokensPerSecond)
  })

  it("is told without an answer, and of an error", () => {
    const format = formatOf("/v1/chat/completions", {
      model: "m",
      messages: [{ role: "user", content: "Hi" }],
      stream: true
    })
    assert.isNotNull(format)
    if (format === null) return
    assert.deepInclude(factsOf(format, null, null), { streamed: true, tokensOut: null, usage: null })
    const error = factsOf(format, null, {
      text: '{"error":{"message":"no"}}',
      contentType: "application/json",
      isCut: false
    })
    assert.deepInclude(error, { tokensOut: 0, usage: null })
  })

  it("recognises a format by its body where the path says nothing", () => {
    assert.strictEqual(formatOf("/x", { messages: [] })?.apiKind, "chat")
    assert.strictEqual(formatOf("/x", { messages: [], system: "s" })?.apiKind, "messages")
    assert.strictEqual(formatOf("/x", { contents: [] })?.apiKind, "gemini")
    assert.strictEqual(formatOf("/x", { model: "m", input: "x" })?.apiKind, "responses")
    assert.strictEqual(formatOf("/x", { model: "m", prompt: "x" })?.apiKind, "completions")
    assert.isNull(formatOf("/x", { model: "m" }))
    assert.isNull(formatOf("/x", [1]))
    const wrapped = formatOf("/v1internal:streamGenerateContent", { model: "gemini-3", request: { contents: [] } })
    assert.deepInclude(wrapped, { apiKind: "gemini" })
    assert.deepStrictEqual(wrapped?.body, { contents: [], model: "gemini-3", stream: true })
  })
})

describe("the conversation", () => {
  const body = (text: string, contentType: string, isCut = false) => ({ text, contentType, isCut })

  it("has the turns of each format, and the answer merged from its stream", () => {
    for (const { answer, apiKind, path, request, stream } of modelTraffic) {
      const asked = body(JSON.stringify(request), "application/json")
      const view = conversationOf({ path, request: asked, response: body(JSON.stringify(answer), "application/json") })
      assert.notProperty(view, "rawEvents", apiKind)
      if (apiKind === "embeddings") {
        assert.deepStrictEqual(view.request, [
          {
            role: "user",
            blocks: [
              { type: "text", text: "Hi" },
              { type: "text", text: "Ho" }
            ]
          }
        ])
        continue
      }
      assert.isTrue(
        view.request.some(
          ({ blocks, role }) => role === "user" && blocks.some((block) => block.type === "text" && block.text === "Hi")
        ),
        apiKind
      )
      const streamed =
        stream === undefined
          ? view
          : conversationOf({ path: stream.path ?? path, request: asked, response: body(stream.body, stream.type) })
      for (const { response } of [view, streamed]) {
        const blocks = response.flatMap((turn) => turn.blocks)
        assert.deepInclude(blocks, { type: "text", text: "Hello" }, apiKind)
        if (apiKind === "completions") continue
        const call = blocks.find((block) => block.type === "tool_use")
        assert.deepInclude(call, { name: "weather", input: { city: "Rome" } }, apiKind)
        assert.strictEqual(response[0]?.role, "assistant")
      }
      if (apiKind !== "completions") assert.strictEqual(view.request[0]?.role, "system", apiKind)
    }
  })

  it("shows thinking, calls, results and media as blocks", () => {
    const of = (kind: string) => {
      const { answer, path, request } = modelTraffic.find(({ apiKind }) => apiKind === kind) ?? modelTraffic[0]!
      return conversationOf({
        path,
        request: body(JSON.stringify(request), ""),
        response: body(JSON.stringify(answer), "")
      })
    }
    const messages = of("messages")
    assert.deepStrictEqual(messages.request[2]?.blocks, [
      { type: "thinking", text: "Hm.", signed: true },
      { type: "tool_use", id: "t0", name: "weather", input: { city: "Oslo" } }
    ])
    assert.deepStrictEqual(messages.request[3], {
      role: "tool",
      blocks: [{ type: "tool_result", tool_use_id: "t0", content: "rain" }]
    })
    assert.deepInclude(messages.response[0]?.blocks ?? [], { type: "thinking", text: "Hm.", signed: true })
    const chat = of("chat")
    assert.deepInclude(chat.request[1]?.blocks ?? [], { type: "media", mediaType: "image/png", bytes: 3 })
  })

  it("reads what is there of bodies that were cut", () => {
    const text = JSON.stringify({
      model: "m",
      messages: [
        { role: "user", content: "first" },
        { role: "user", content: "second and long" }
      ]
    })
    const view = conversationOf({
      path: "/v1/chat/completions",
      request: body(text.slice(0, -14), "", true),
      response: null
    })
    assert.strictEqual(view.request[0]?.blocks.length, 1)
    assert.deepInclude(view.request[0]?.blocks ?? [], { type: "text", text: "first" })
  })

  it("shows the events as they came where the format is unknown, and the message of an error", () => {
    const unknown = conversationOf({
      path: "/x",
      request: body('{"q":1}', ""),
      response: body('data: {"a":1}\n\ndata: b\n\n', "text/event-stream")
    })
    assert.deepStrictEqual(unknown, { request: [], response: [], contextKey: null, rawEvents: [{ a: 1 }, "b"] })
    const lines = conversationOf({
      path: "/x",
      request: null,
      response: body('{"a":1}\n{"a":2}\n', "application/x-ndjson")
    })
    assert.deepStrictEqual(lines.rawEvents, [{ a: 1 }, { a: 2 }])
    const failed = conversationOf({
      path: "/v1/chat/completions",
      request: body('{"model":"m","messages":[{"role":"user","content":"x"}]}', ""),
      response: body('{"error":{"message":"too much"}}', "application/json")
    })
    assert.deepStrictEqual([failed.response, failed.error], [[], "too much"])
    assert.notProperty(failed, "rawEvents")
    const none = conversationOf({ path: "/x", request: null, response: null })
    assert.deepStrictEqual(none, { request: [], response: [], contextKey: null })
  })
})
