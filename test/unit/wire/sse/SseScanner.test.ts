import { assert, describe, it } from "@effect/vitest"
import { encodeSse, makeSseScanner, parseBlock } from "../../../../src/wire/sse/SseScanner.ts"

const scan = (...chunks: ReadonlyArray<string | Buffer>) => {
  const scanner = makeSseScanner()
  const events = chunks.flatMap((chunk) => scanner.push(Buffer.from(chunk as string)))
  return [...events, ...scanner.end()].map(({ data, event }) => [event, data])
}

describe("SseScanner", () => {
  it("reads every line end, comments, missing spaces and several data lines", () => {
    const text =
      "\uFEFF: hello\r\nevent:a\rdata:one\r\ndata: two\n\nid: 7\nretry: 5\ndata:  three\r\r: only a comment\n\ndata: four\n\n"
    assert.deepEqual(scan(text), [
      ["a", "one\ntwo"],
      [null, " three"],
      [null, "four"]
    ])
  })

  it("takes a CR and an LF in different chunks as one line end", () => {
    assert.deepEqual(scan("data: a\r", "\ndata: b\r", "\n\r", "\ndata: c\r\n\r\n"), [
      [null, "a\nb"],
      [null, "c"]
    ])
  })

  it("puts a character together that was cut in two", () => {
    const bytes = Buffer.from("data: 👩‍👩‍👧\u2028\n\n")
    assert.deepEqual(scan(bytes.subarray(0, 8), bytes.subarray(8)), [[null, "👩‍👩‍👧\u2028"]])
  })

  it("gives the last event when its empty line is missing, and none without data", () => {
    assert.deepEqual(scan("data: a\n\ndata: last"), [
      [null, "a"],
      [null, "last"]
    ])
    assert.deepEqual(scan("data:\n\nevent: x\n\n"), [])
  })

  it("tells where each event ends in the chunk that completed it", () => {
    const scanner = makeSseScanner()
    assert.deepEqual(scanner.push(Buffer.from("data: a\n")), [])
    const ends = scanner.push(Buffer.from("\ndata: b\n\ndata: c")).map(({ endOffset }) => endOffset)
    assert.deepEqual(ends, [1, 10])
  })

  it("fails, as a value, on an event that does not end", () => {
    const scanner = makeSseScanner(16)
    assert.deepEqual(scanner.push(Buffer.from("data: 0123456789abcdef")), [])
    assert.deepEqual(scanner.failure(), { reason: "event_too_large", limitBytes: 16 })
    assert.deepEqual(scanner.push(Buffer.from("\n\ndata: x\n\n")), [])
  })

  it("writes what it reads", () => {
    assert.deepEqual(scan(encodeSse("e", "two\nlines"), encodeSse(null, "x")), [
      ["e", "two\nlines"],
      [null, "x"]
    ])
  })

  it("looks at each byte a few times only, however many events a chunk has and whatever ends their lines", () => {
    let looked = 0
    const counted = (bytes: Buffer): Buffer =>
      Object.assign(bytes, {
        indexOf: (value: number, from = 0): number => {
          const found = Buffer.prototype.indexOf.call(bytes, value, from)
          looked += (found < 0 ? bytes.length : found + 1) - from
          return found
        },
        subarray: (start?: number, end?: number): Buffer =>
          counted(Buffer.prototype.subarray.call(bytes, start, end) as Buffer)
      })
    const many = 5_000
    for (const [lineEnd, last] of [
      ["\n", ""],
      ["\r", ""],
      ["\r\n", ""],
      ["\n", "data: z\r\r"],
      ["\r", "data: z\n\n"]
    ] as const) {
      const chunk = counted(Buffer.from(`event: e${lineEnd}data: x${lineEnd}${lineEnd}`.repeat(many) + last))
      looked = 0
      assert.lengthOf(makeSseScanner().push(chunk), many + (last === "" ? 0 : 1))
      assert.isAtMost(looked, 8 * chunk.length, JSON.stringify([lineEnd, last]))
      const block = counted(Buffer.from(`data: x${lineEnd}`.repeat(many) + last))
      looked = 0
      assert.strictEqual(parseBlock(block, 0, block.length)?.data.length, 2 * many - 1 + (last === "" ? 0 : 2))
      assert.isAtMost(looked, 4 * block.length, JSON.stringify([lineEnd, last]))
    }
  })
})
