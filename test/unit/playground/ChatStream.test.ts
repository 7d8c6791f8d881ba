import { assert, describe, it } from "@effect/vitest"
import { makeChatStreamReader } from "../../../src/agents/playground/ChatStream.ts"

const streamHead = ["Content-Type", "text/event-stream"]

const readAll = (chunks: ReadonlyArray<string | Buffer>, head = streamHead, status = 200) => {
  const texts: Array<string> = []
  let tokens = 0
  const reader = makeChatStreamReader({
    text: (text) => texts.push(text),
    token: () => {
      tokens += 1
    }
  })
  reader.head(status, head)
  for (const chunk of chunks) reader.push(chunk)
  return { error: reader.end(), text: texts.join(""), tokens }
}

const delta = (content: object, reason: string | null = null): string =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta: content, finish_reason: reason }] })}\n\n`

const whole = delta({ content: "Grüße " }) + delta({ content: "👋" }) + delta({}, "stop") + "data: [DONE]\n\n"

describe("a stream of the chat wire", () => {
  it("is the same text however its bytes are cut", () => {
    const bytes = Buffer.from(whole)
    for (let at = 0; at <= bytes.length; at += 1) {
      const { error, text } = readAll([bytes.subarray(0, at), bytes.subarray(at)])
      assert.deepEqual([text, error], ["Grüße 👋", null])
    }
  })

  it("counts thoughts as tokens, and not as text", () => {
    const { text, tokens } = readAll([delta({ reasoning_content: "hm" }), whole])
    assert.deepEqual([text, tokens], ["Grüße 👋", 3])
  })

  it("without an end is broken, and one with an error is that error", () => {
    assert.strictEqual(readAll([delta({ content: "half" })]).error?.code, "incomplete_answer")
    assert.strictEqual(readAll([]).error?.code, "incomplete_answer")
    const failed = readAll([
      delta({ content: "x" }),
      'data: {"error":{"message":"no","type":"t","code":"c"}}\n\n',
      whole
    ])
    assert.deepEqual(failed.error, { message: "no", type: "t", code: "c", status: null })
  })

  it("that is an answer in JSON is read as one", () => {
    const body = { choices: [{ message: { content: [{ type: "text", text: "Hi" }] }, finish_reason: "stop" }] }
    assert.deepEqual(readAll([JSON.stringify(body)], ["Content-Type", "application/json"]), {
      error: null,
      text: "Hi",
      tokens: 1
    })
  })

  it("that was refused is the refusal with its status; without words the status is one", () => {
    const refused = readAll(['{"error":{"message":"no","type":"t","code":"c"}}'], [], 404)
    assert.deepEqual(refused.error, { message: "no", type: "t", code: "c", status: 404 })
    assert.deepInclude(readAll(["<html>"], [], 502).error, { message: "The status is 502.", status: 502 })
  })
})
