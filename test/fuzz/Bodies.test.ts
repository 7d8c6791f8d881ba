/** Random and mutated bodies into every check, decoder and encoder: a refusal or a translation, never a throw. Seeded. */
import { assert, describe, it } from "@effect/vitest"
import * as Either from "effect/Either"
import * as FC from "effect/FastCheck"
import { codecs, encodeAnswer, translateRequest } from "../../src/wire/Codec.ts"
import { isObject, type Json, type JsonObject, parseJson } from "../../src/wire/json/Json.ts"
import { replaceModelBytes } from "../../src/wire/json/TopLevelSplice.ts"
import { ollamaGenerate } from "../../src/wire/ollama/Codec.ts"
import { answers, mangled, mutated, nasty, nastyTexts, requests, wires } from "./material.ts"

const run = { seed: 20_261_121, numRuns: 300 }
const options = { model: "claude-opus-4-6", stream: true, maxOutputTokens: 4096, reasoning: null }
const context = { nowMs: 1, fallbackId: "g", model: "m", wantsUsage: true }

const clients = [...wires.map((wire) => codecs[wire]), ollamaGenerate]
type Client = (typeof clients)[number]

/** All that happens to a request after its body was read. */
const feedRequest = (client: Client, text: string): void => {
  const parsed = parseJson(text)
  assert.oneOf(client.checkEnvelope(parsed)._tag, ["Left", "Right"])
  if (!isObject(parsed)) return
  const body: JsonObject = { model: "m", stream: true, ...parsed }
  const envelope = client.checkEnvelope(body)
  if (Either.isRight(envelope)) client.relayRequest(Buffer.from(text), body, "m", envelope.right)
  replaceModelBytes(Buffer.from(text), parsed, "m")
  for (const target of wires) {
    const result = translateRequest(client, codecs[target], body, options)
    if (Either.isRight(result)) assert.isString(JSON.stringify(result.right.body))
    else {
      assert.isNotEmpty(result.left.details)
      assert.isNotEmpty(result.left.message)
    }
  }
}

const feedAnswer = (upstream: Client, body: Json | undefined, text: string): void => {
  const problem = upstream.readUpstreamError(500, text)
  assert.isNotEmpty(problem.message)
  assert.isAtMost(problem.message.length, 2100)
  if (!isObject(body)) return
  upstream.readAnswer(body)
  const decoded = upstream.decodeResponse(body)
  if (Either.isLeft(decoded)) return
  for (const client of wires) {
    assert.isString(JSON.stringify(encodeAnswer(codecs[client], decoded.right, { ...context, request: {} })))
  }
}

describe("fuzzed requests", () => {
  for (const wire of wires) {
    it(`${wire}: one place holds something else`, () => {
      FC.assert(
        FC.property(mutated(requests[wire]), (text) => feedRequest(codecs[wire], text)),
        run
      )
    })

    it(`${wire}: bytes are missing, doubled or strange`, () => {
      const texts = requests[wire].map((body) => JSON.stringify(body))
      FC.assert(
        FC.property(mangled(texts), (bytes) => feedRequest(codecs[wire], bytes.toString())),
        run
      )
    })
  }

  it("any JSON at all, on every wire", () => {
    for (const client of clients) {
      for (const text of nastyTexts) {
        feedRequest(client, text)
        for (const member of [
          "messages",
          "contents",
          "input",
          "tools",
          "system",
          "prompt",
          "generationConfig",
          "options"
        ]) {
          feedRequest(client, `{"${member}":${text}}`)
          feedRequest(client, `{"${member}":[${text}]}`)
        }
      }
      FC.assert(
        FC.property(nasty, (text) => feedRequest(client, text)),
        run
      )
    }
  })

  it("a body's own prototype is not the object's", () => {
    const poison =
      '{"model":"m","__proto__":{"polluted":true},"messages":[{"role":"user","content":"a","__proto__":{"polluted":true}}]}'
    for (const client of clients) feedRequest(client, poison)
    assert.isUndefined(({} as Record<string, unknown>)["polluted"])
  })
})

describe("fuzzed answers", () => {
  for (const wire of wires) {
    it(`${wire}: one place holds something else`, () => {
      FC.assert(
        FC.property(mutated(answers[wire]), (text) => feedAnswer(codecs[wire], parseJson(text), text)),
        run
      )
    })

    it(`${wire}: any JSON, any text`, () => {
      FC.assert(
        FC.property(FC.oneof(nasty, FC.string(), FC.constant("<html><title>x</title>".repeat(2000))), (text) =>
          feedAnswer(codecs[wire], parseJson(text), text)
        ),
        run
      )
    })
  }
})
