import { assert, describe, it } from "@effect/vitest"
import { unwrapRequest, wrappingReply } from "../../../src/agents/bridge/CloudCode.ts"
import type { ClientReply } from "../../../src/plane/request/Exchange.ts"

const heard = () => {
  const pieces: Array<Buffer> = []
  const add = (chunk: Buffer | string): void => void pieces.push(Buffer.from(chunk as Buffer))
  let head: ReadonlyArray<unknown> = []
  const reply: ClientReply = {
    head: (status, headers) => void (head = [status, ...headers]),
    write: (chunk) => {
      add(chunk)
      return true
    },
    end: add,
    cut: () => {},
    onDrain: () => () => {},
    onClose: () => () => {},
    isClosed: () => false
  }
  return { reply: wrappingReply(reply), text: () => Buffer.concat(pieces).toString(), head: () => head }
}

/** Each cut of the bytes into two, and each byte alone. */
const cuts = (text: string): ReadonlyArray<ReadonlyArray<Buffer>> => {
  const bytes = Buffer.from(text)
  const halves = Array.from(bytes, (_, at) => [bytes.subarray(0, at), bytes.subarray(at)])
  return [...halves, Array.from(bytes, (byte) => Buffer.from([byte]))]
}

const events = 'data: {"a":"ü"}\r\n\r\n\ndata: {"b":1}\n\ndata: {"error":{"code":503}}\n\n'
const wrappedEvents =
  'data: {"response":{"a":"ü"}}\r\n\r\n\ndata: {"response":{"b":1}}\n\ndata: {"error":{"code":503}}\n\n'

describe("the wrapper of Code Assist", () => {
  it("is taken from around a request, with the members that are its own", () => {
    const contents = [{ role: "user", parts: [{ text: "Hi" }] }]
    const request = { contents, generationConfig: { topK: 1 }, session_id: "s", sessionId: "s", labels: {} }
    assert.deepStrictEqual(unwrapRequest({ model: "m", project: "p", request }), {
      contents,
      generationConfig: { topK: 1 },
      model: "m"
    })
    for (const other of [{ request }, { model: "m" }, { model: "m", request: {} }, { model: "m", contents }])
      assert.isNull(unwrapRequest(other))
  })

  it("is put around each event, however the stream is cut", () => {
    for (const pieces of cuts(events)) {
      const { reply, text } = heard()
      reply.head(200, ["Content-Type", "text/event-stream"])
      for (const piece of pieces) reply.write(piece)
      reply.end("")
      assert.strictEqual(text(), wrappedEvents)
    }
    const { reply, text } = heard()
    reply.head(200, ["Content-Type", "text/event-stream"])
    reply.end('data: {"a":1}')
    assert.strictEqual(text(), 'data: {"response":{"a":1}}')
  })

  it("passes an event on as soon as its line is whole", () => {
    const { reply, text } = heard()
    reply.head(200, ["content-type", "text/event-stream; charset=utf-8"])
    reply.write('data: {"a":1}\n')
    assert.strictEqual(text(), 'data: {"response":{"a":1}}\n')
  })

  it("is put around a whole answer, whose length grows by it, and not around an error", () => {
    for (const pieces of cuts('{"a":"ü"}')) {
      const { head, reply, text } = heard()
      reply.head(200, ["Content-Type", "application/json", "Content-Length", "10"])
      for (const piece of pieces) reply.write(piece)
      reply.end("")
      assert.strictEqual(text(), '{"response":{"a":"ü"}}')
      assert.deepStrictEqual(head().slice(-2), ["Content-Length", String(Buffer.byteLength(text()))])
    }
    const { head, reply, text } = heard()
    reply.head(404, ["Content-Type", "application/json", "Content-Length", "12"])
    reply.end('{"error":{}}')
    assert.strictEqual(text(), '{"error":{}}')
    assert.deepStrictEqual(head(), [404, "Content-Type", "application/json", "Content-Length", "12"])
  })
})
