/** How long a recording is, by its first bytes. */
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { audioSeconds } from "../../../src/kernel/AudioDuration.ts"

const wav = (dataBytes: number, before = Buffer.alloc(0)): Buffer => {
  const format = Buffer.alloc(24)
  format.write("fmt ", 0)
  format.writeUInt32LE(16, 4)
  format.writeUInt32LE(32_000, 16)
  const data = Buffer.alloc(8)
  data.write("data", 0)
  data.writeUInt32LE(dataBytes, 4)
  return Buffer.concat([Buffer.from("RIFF____WAVE"), before, format, data])
}

describe("the length of a recording", () => {
  it("of WAV is told by its rate and its data, behind other chunks too", () => {
    assert.strictEqual(audioSeconds(wav(64_000), 44 + 64_000), 2)
    const list = Buffer.from("LIST\x03\x00\x00\x00abc\x00", "latin1")
    assert.strictEqual(audioSeconds(wav(64_000, list), 44 + list.length + 64_000), 2)
    // Written as it was recorded, and cut.
    assert.strictEqual(audioSeconds(wav(0), 44 + 16_000), 0.5)
    assert.strictEqual(audioSeconds(wav(0xffffffff), 44 + 16_000), 0.5)
  })

  it("of FLAC is told by its samples", () => {
    const head = Buffer.alloc(42)
    head.write("fLaC", 0)
    head.writeUIntBE(44_100 << 4, 18, 3)
    head.writeUInt32BE(44_100 * 3, 22)
    assert.strictEqual(audioSeconds(head, 1_000), 3)
  })

  it("of MP3 is told by its first frame, behind a tag too", () => {
    const frame = Buffer.from([0xff, 0xfb, 0x90, 0x00])
    assert.strictEqual(audioSeconds(Buffer.concat([frame, Buffer.alloc(400)]), 160_000), 10)
    const tag = Buffer.from([0x49, 0x44, 0x33, 4, 0, 0, 0, 0, 0, 2, 0, 0])
    assert.strictEqual(audioSeconds(Buffer.concat([tag, frame, Buffer.alloc(400)]), 160_012), 10)
  })

  it("is not known of anything else, and no bytes are a mistake", () => {
    assert.isNull(audioSeconds(Buffer.from("OggS and more"), 1_000))
    fc.assert(
      fc.property(
        fc.constantFrom("", "RIFF____WAVE", "fLaC", "ID3", "RIFF____WAVEfmt ", "\xff\xfb"),
        fc.uint8Array({ maxLength: 200 }),
        fc.nat(),
        (begin, rest, bytes) => {
          const seconds = audioSeconds(Buffer.concat([Buffer.from(begin, "latin1"), rest]), bytes)
          assert.isTrue(seconds === null || (Number.isFinite(seconds) && seconds > 0))
        }
      ),
      { seed: 7 }
    )
  })
})
