import { assert, describe, it } from "@effect/vitest"
import { type Answered, SocketReply } from "../../../../src/entry/ws/SocketReply.ts"
import type { JsonObject } from "../../../../src/wire/json/Json.ts"
import { encodeSse } from "../../../../src/wire/sse/SseScanner.ts"

const setUp = (options: { previous?: string; members?: JsonObject; keepsUp?: () => boolean } = {}) => {
  const frames: Array<Record<string, never>> = []
  const ended: Array<Answered | null> = []
  const reply = new SocketReply({
    requestId: "req",
    members: options.members ?? {},
    previousResponseId: options.previous ?? null,
    send: (frame) => {
      frames.push(JSON.parse(frame))
      return options.keepsUp?.() ?? true
    },
    ended: (answered) => ended.push(answered)
  })
  return { reply, frames: frames as ReadonlyArray<JsonObject>, ended }
}

const event = (type: string, members: JsonObject = {}): string => encodeSse(type, JSON.stringify({ type, ...members }))
const item = { type: "message", id: "msg_1" }
const answer =
  event("response.created", { response: { id: "r", previous_response_id: null } }) +
  ": a comment\n\n" +
  event("response.output_text.delta", { delta: "ü\n[DONE]" }) +
  event("response.output_item.done", { output_index: 0, item }) +
  event("response.completed", { response: { id: "r", output: [] } })

const head = ["X-Gateway-Request-Id", "req", "Content-Type", "text/event-stream"]

describe("SocketReply", () => {
  it("makes the same frames of an answer cut at any byte", () => {
    const bytes = Buffer.from(answer)
    const whole = setUp()
    whole.reply.head(200, head)
    whole.reply.end(bytes)
    assert.deepStrictEqual(
      whole.frames.map(({ type }) => type),
      ["response.created", "response.output_text.delta", "response.output_item.done", "response.completed"]
    )
    for (let at = 1; at < bytes.length; at += 1) {
      const cut = setUp()
      cut.reply.head(200, head)
      cut.reply.write(bytes.subarray(0, at))
      cut.reply.end(bytes.subarray(at))
      assert.deepStrictEqual(cut.frames, whole.frames)
      assert.deepStrictEqual(cut.ended, [{ responseId: "r", output: [item] }])
    }
  })

  it("adds the transport's members, and shows the id the client sent", () => {
    const { frames, reply } = setUp({ members: { stream_id: 'a"b' }, previous: "before" })
    reply.head(200, head)
    reply.end(`${answer}data: [DONE]\n\n`)
    assert.isTrue(frames.every((frame) => frame["stream_id"] === 'a"b'))
    assert.deepStrictEqual(frames[0]?.["headers"], { "x-gateway-request-id": "req" })
    assert.isUndefined(frames[1]?.["headers"])
    assert.deepInclude(frames[0], { response: { id: "r", previous_response_id: "before" } })
    assert.deepInclude(frames.at(-1), { response: { id: "r", output: [], previous_response_id: "before" } })
  })

  it("reads events without a name, and drops what is no JSON object", () => {
    const { ended, frames, reply } = setUp()
    reply.head(200, head)
    reply.end(`data: hello\n\ndata: 5\n\n${answer.replaceAll(/^event:.*\n/gm, "")}`)
    assert.strictEqual(frames.length, 4)
    assert.deepStrictEqual(ended, [{ responseId: "r", output: [item] }])
  })

  it("an HTTP error is one error frame, an error event gets a status; neither is an answer", () => {
    const refused = setUp({ members: { stream_id: "s" } })
    refused.reply.head(429, [...head, "Retry-After", "3"])
    refused.reply.write('{"error":{"message":"slow')
    refused.reply.end(' down","type":"rate_limit_error","code":"rate_limit_exceeded"}}')
    assert.deepStrictEqual(refused.ended, [null])
    assert.strictEqual(refused.frames.length, 1)
    assert.deepInclude(refused.frames[0], { type: "error", status: 429, stream_id: "s", message: "slow down" })
    assert.deepInclude(refused.frames[0]?.["headers"], { "retry-after": "3" })

    const broken = setUp()
    broken.reply.head(200, head)
    broken.reply.write(answer)
    broken.reply.end(
      event("error", { code: "gateway_timeout", error: { type: "server_error", code: "gateway_timeout" } })
    )
    assert.deepInclude(broken.frames.at(-1), { type: "error", status: 504 })
    assert.deepStrictEqual(broken.ended, [null])
  })

  it("an answer without its last event ends in an error", () => {
    for (const text of ["", '{"id":"whole answer"}', event("response.created", { response: { id: "r" } })]) {
      const { ended, frames, reply } = setUp()
      reply.head(200, head)
      reply.end(text)
      assert.deepInclude(frames.at(-1), { type: "error", status: 502 })
      assert.deepStrictEqual(ended, [null])
    }
  })

  it("says when the client is slow, and passes on that it caught up", () => {
    const { reply } = setUp({ keepsUp: () => false })
    let drains = 0
    reply.onDrain(() => (drains += 1))
    reply.head(200, head)
    assert.isTrue(reply.write(": only a comment\n\n"))
    assert.isFalse(reply.write(answer))
    reply.drained()
    assert.strictEqual(drains, 1)
  })

  it("reports once that the client left, also to a listener that is added later", () => {
    let left = 0
    const early = setUp()
    early.reply.leave()
    early.reply.onClose(() => (left += 1))
    assert.strictEqual(left, 1)

    const running = setUp()
    running.reply.onClose(() => (left += 1))
    running.reply.head(200, head)
    running.reply.leave()
    running.reply.leave()
    assert.strictEqual(left, 2)
    assert.isTrue(running.reply.isClosed())
    running.reply.write(answer)
    running.reply.end(answer)
    assert.deepStrictEqual(running.frames, [])
    assert.deepStrictEqual(running.ended, [null])
  })
})
