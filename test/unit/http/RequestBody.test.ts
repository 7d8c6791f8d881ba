/** How a body comes together, and what it takes meanwhile. */
import { assert, describe, it } from "@effect/vitest"
import type { IncomingMessage } from "node:http"
import { PassThrough } from "node:stream"
import { type BodyResult, readBody } from "../../../src/entry/listening/RequestBody.ts"

const setUp = (limitBytes: number, { announced, room = Infinity }: { announced?: number; room?: number } = {}) => {
  const stream = new PassThrough()
  const headers = announced === undefined ? {} : { "content-length": String(announced) }
  const request = Object.assign(stream, { headers }) as unknown as IncomingMessage
  let held = 0
  let most = 0
  let releases = 0
  const share = {
    take: (bytes: number): boolean => {
      if (held + bytes > room) return false
      held += bytes
      most = Math.max(most, held)
      return true
    },
    release: (): void => {
      held = 0
      releases += 1
    }
  }
  const results: Array<BodyResult> = []
  readBody(request, limitBytes, share, (result) => results.push(result))
  return { stream, results, held: () => held, most: () => most, releases: () => releases }
}

const ended = (stream: PassThrough): Promise<void> =>
  new Promise((resolve) => {
    stream.on("end", resolve)
    stream.end()
  })

describe("readBody", () => {
  it("a body of one chunk is that chunk", async () => {
    const { held, results, stream } = setUp(100, { announced: 4 })
    const chunk = Buffer.from("body")
    stream.write(chunk)
    await ended(stream)
    assert.deepStrictEqual(results, [chunk])
    assert.strictEqual((results[0] as Buffer).buffer, chunk.buffer)
    assert.strictEqual(held(), 4)
  })

  it("one byte at a time takes about twice the bytes, announced or not", async () => {
    for (const announced of [undefined, 100_000]) {
      const { most, results, stream } = setUp(100_000, announced === undefined ? {} : { announced })
      const text = "0123456789".repeat(10_000)
      for (const byte of Buffer.from(text)) stream.write(Buffer.of(byte))
      await ended(stream)
      const [body] = results
      assert.strictEqual(String(body), text)
      assert.isAtMost(most(), announced ?? 262_144)
      assert.strictEqual((body as Buffer).buffer.byteLength, most())
    }
  })

  it("what was announced beyond a megabyte is taken as it comes", async () => {
    const { most, stream } = setUp(64_000_000, { announced: 64_000_000 })
    stream.write(Buffer.alloc(10))
    stream.write(Buffer.alloc(10))
    stream.write(Buffer.alloc(20_000))
    await ended(stream)
    assert.strictEqual(most(), 1_048_576)
  })

  it("beyond the limit, without room, and without an end: told once, and everything is given back once", async () => {
    const beyond = setUp(10)
    beyond.stream.write("0123456789a")
    await ended(beyond.stream)
    const crowded = setUp(1_000_000, { room: 20_000 })
    crowded.stream.write(Buffer.alloc(15_000))
    crowded.stream.write(Buffer.alloc(15_000))
    crowded.stream.write(Buffer.alloc(15_000))
    await ended(crowded.stream)
    const gone = setUp(10)
    gone.stream.write("01")
    await new Promise((resolve) => gone.stream.on("close", resolve).destroy())
    for (const [{ held, releases, results }, result] of [
      [beyond, "too_large"],
      [crowded, "no_room"],
      [gone, "gone"]
    ] as const) {
      assert.deepStrictEqual(results, [result])
      assert.strictEqual(held(), 0)
      assert.strictEqual(releases(), 1)
    }
  })

  it("an empty body is empty", async () => {
    const { results, stream } = setUp(10)
    stream.resume()
    await ended(stream)
    assert.deepStrictEqual(results.map(String), [""])
  })
})
