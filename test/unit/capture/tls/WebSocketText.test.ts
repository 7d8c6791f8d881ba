/** Messages in frames, as a real WebSocket writes them. */
import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"
import { WebSocketText } from "../../../../src/observe/capture/tls/WebSocketText.ts"

interface Frame {
  readonly opcode: number
  readonly payload: Buffer
  readonly isLast?: boolean
  readonly mask?: Buffer
  readonly reserved?: number
}

const frame = ({ isLast = true, mask, opcode, payload, reserved = 0 }: Frame): Buffer => {
  const size = payload.length
  const extended = size < 126 ? Buffer.alloc(0) : Buffer.alloc(size < 65_536 ? 2 : 8)
  if (extended.length === 2) extended.writeUInt16BE(size)
  if (extended.length === 8) extended.writeBigUInt64BE(BigInt(size))
  const short = size < 126 ? size : size < 65_536 ? 126 : 127
  const head = Buffer.from([(isLast ? 0x80 : 0) | reserved | opcode, (mask === undefined ? 0 : 0x80) | short])
  const body = Buffer.from(payload.map((byte, at) => byte ^ (mask?.[at & 3] ?? 0)))
  return Buffer.concat([head, extended, mask ?? Buffer.alloc(0), body])
}

const read = (chunks: ReadonlyArray<Buffer>): string => {
  const pieces: Array<Buffer> = []
  const reader = new WebSocketText((piece) => pieces.push(piece))
  for (const chunk of chunks) reader.push(chunk)
  return Buffer.concat(pieces).toString()
}

const bytes = (text: string): Buffer => Buffer.from(text)
const mask = Buffer.from([7, 99, 250, 3])

describe("messages in WebSocket frames", () => {
  it("are lines, whatever their length, masked or not, and cut anywhere", () => {
    const messages = fc.array(
      fc.record({
        text: fc.oneof(
          fc.string({ unit: "grapheme" }),
          fc.integer({ min: 100, max: 70_000 }).map((size) => "x".repeat(size))
        ),
        isMasked: fc.boolean(),
        cut: fc.nat(50)
      }),
      { maxLength: 6 }
    )
    fc.assert(
      fc.property(messages, fc.integer({ min: 1, max: 5_000 }), (all, step) => {
        const wire = Buffer.concat(
          all.flatMap(({ cut, isMasked, text }) => {
            const payload = bytes(text)
            const more = isMasked ? { mask } : {}
            return [
              frame({ opcode: 1, payload: payload.subarray(0, cut), isLast: false, ...more }),
              // A ping may come between the frames of a message.
              frame({ opcode: 9, payload: bytes("ping") }),
              frame({ opcode: 0, payload: payload.subarray(cut), ...more })
            ]
          })
        )
        const chunks = Array.from({ length: Math.ceil(wire.length / step) }, (_, at) =>
          wire.subarray(at * step, (at + 1) * step)
        )
        assert.strictEqual(read(chunks), all.map(({ text }) => `${bytes(text).toString()}\n`).join(""))
      }),
      { numRuns: 60 }
    )
  })

  it("show of binary and compressed ones how long they are, and nothing of control frames", () => {
    const wire = [
      frame({ opcode: 2, payload: Buffer.alloc(300, 1) }),
      frame({ opcode: 1, payload: bytes("deflated"), reserved: 0x40 }),
      frame({ opcode: 1, payload: bytes("") }),
      frame({ opcode: 8, payload: bytes("\u0003\u00e8bye"), mask })
    ]
    assert.strictEqual(read(wire), "[300 bytes of binary data]\n[8 bytes of binary data]\n\n")
  })
})
