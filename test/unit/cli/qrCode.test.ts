/** QR codes of the terminal, read back by another library. */
import { assert, describe, it } from "@effect/vitest"
import jsQR from "jsqr"
import { qrLines } from "../../../src/cli/output/QrCode.ts"

/** Its types are of a module with a default export, which it is not. */
const read = jsQR as unknown as typeof jsQR.default

const moduleSize = 4

/** The picture that a terminal with a dark background shows, as a camera would have it. */
const decoded = (lines: ReadonlyArray<string>): string | null => {
  const [first = ""] = lines
  const columns = [...first].length
  const width = columns * moduleSize
  const height = lines.length * 2 * moduleSize
  const pixels = new Uint8ClampedArray(width * height * 4)
  for (const [row, line] of lines.entries()) {
    for (const [column, cell] of [...line].entries()) {
      for (const [half, painted] of [cell === "█" || cell === "▀", cell === "█" || cell === "▄"].entries()) {
        for (let y = 0; y < moduleSize; y += 1) {
          for (let x = 0; x < moduleSize; x += 1) {
            const at = (((row * 2 + half) * moduleSize + y) * width + column * moduleSize + x) * 4
            pixels.fill(painted ? 255 : 0, at, at + 3)
            pixels[at + 3] = 255
          }
        }
      }
    }
  }
  return read(pixels, width, height, { inversionAttempts: "dontInvert" })?.data ?? null
}

describe("a QR code of the terminal", () => {
  for (const text of [
    "https://calls.tunnel.example/v1",
    "http://203.0.113.7:8080/v1",
    `https://${"word-".repeat(40)}end.trycloudflare.com/v1`
  ]) {
    it(`is read as ${text.slice(0, 40)}`, () => {
      const lines = qrLines(text)
      assert.strictEqual(decoded(lines), text)
      assert.strictEqual(new Set(lines.map((line) => [...line].length)).size, 1)
      assert.isTrue(lines.every((line) => /^[█▀▄ ]+$/u.test(line)))
    })
  }
})
