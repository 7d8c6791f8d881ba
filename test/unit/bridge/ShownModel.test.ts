import { assert, describe, it } from "@effect/vitest"
import { showingModel } from "../../../src/agents/bridge/ShownModel.ts"
import { codecs } from "../../../src/wire/Codec.ts"
import { streamedArray } from "../../../src/wire/StreamedArray.ts"
import type { WireCodec } from "../../../src/wire/WireCodec.ts"
import { makeTestReply } from "../../support/Replies.ts"

const answered = (codec: WireCodec, type: string, pieces: ReadonlyArray<Buffer | string>, status = 200) => {
  const client = makeTestReply()
  const length = String(pieces.reduce((sum, piece) => sum + Buffer.byteLength(piece), 0))
  const reply = showingModel(client, codec, "own")
  reply.head(status, ["Content-Type", type, "Content-Length", length])
  for (const piece of pieces) reply.write(piece)
  reply.end("")
  return { text: client.text(), headers: client.headers() }
}

/** Each cut of the bytes into two, and each byte alone. */
const cuts = (text: string): ReadonlyArray<ReadonlyArray<Buffer>> => {
  const bytes = Buffer.from(text)
  const halves = Array.from(bytes, (_, at) => [bytes.subarray(0, at), bytes.subarray(at)])
  return [...halves, Array.from(bytes, (byte) => Buffer.from([byte]))]
}

const sse = "text/event-stream; charset=utf-8"
const streams: ReadonlyArray<readonly [name: string, codec: WireCodec, type: string, from: string, to: string]> = [
  [
    "chat",
    codecs.chat,
    sse,
    ': hello\n\ndata: {"model":"up/m", "n":1.0,"a":"ü"}\n\ndata: {"x":"\\"model"}\n\ndata: [DONE]\n\n',
    ': hello\n\ndata: {"model":"own", "n":1.0,"a":"ü"}\n\ndata: {"x":"\\"model"}\n\ndata: [DONE]\n\n'
  ],
  [
    "messages",
    codecs.messages,
    sse,
    'event: message_start\ndata: {"type":"message_start","message":{"model":"m","content":[]}}\n\ndata: {"type":"ping"}\n\n',
    'event: message_start\ndata: {"type":"message_start","message":{"model":"own","content":[]}}\n\ndata: {"type":"ping"}\n\n'
  ],
  [
    "responses",
    codecs.responses,
    sse,
    'event: response.created\ndata: {"response":{"model":"m","input":{"model":"m"}}}\n\n',
    'event: response.created\ndata: {"response":{"model":"own","input":{"model":"m"}}}\n\n'
  ],
  ["gemini", codecs.gemini, sse, 'data: {"modelVersion":"m"}\n\n', 'data: {"modelVersion":"own"}\n\n'],
  [
    "an array",
    streamedArray,
    "application/json",
    '[{"modelVersion":"m"}\n,\r\n{"modelVersion":"m"}]',
    '[{"modelVersion":"own"}\n,\r\n{"modelVersion":"own"}]'
  ],
  [
    "lines",
    codecs.ollama,
    "application/x-ndjson",
    '{"model":"m","done":false}\n{"model":"m","done":true}\n',
    '{"model":"own","done":false}\n{"model":"own","done":true}\n'
  ]
]

describe("the client's name of a model", () => {
  for (const [name, codec, type, from, to] of streams) {
    it(`stands in each event of ${name} that names one, however the stream is cut`, () => {
      for (const pieces of cuts(from)) assert.strictEqual(answered(codec, type, pieces).text, to)
    })
  }

  it("stands in a whole answer, with its length told anew", () => {
    const whole = '{"id":"1", "model":"a long name","choices":[{"message":{"content":"\\"model\\":\\"x\\""}}],"n":1.50}'
    for (const pieces of cuts(whole)) {
      const { headers, text } = answered(codecs.chat, "application/json", pieces)
      assert.strictEqual(text, whole.replace("a long name", "own"))
      assert.deepStrictEqual(headers.slice(-2), ["Content-Length", String(text.length)])
    }
  })

  it("leaves failures and what names no model as they are", () => {
    const error = '{"error":{"message":"no"},"model":"up/m"}'
    assert.strictEqual(answered(codecs.chat, "application/json", [error], 404).text, error)
    for (const other of ['{"input_tokens":3}', '{"model":null}', '{"model":{"a":1}}', "[1]", "{", ""]) {
      assert.strictEqual(answered(codecs.chat, "application/json", [other]).text, other)
    }
    assert.strictEqual(answered(codecs.chat, "text/plain", ['{"model":"m"}']).text, '{"model":"m"}')
  })
})
