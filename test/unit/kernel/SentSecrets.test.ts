import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import { noSecrets, secretForms, secretsInHeaders, sentSecrets } from "../../../src/kernel/secrets/SentSecrets.ts"

const secret = 'sk-proj-9fQ2/xY+7"Zk0b'
const found = sentSecrets([secret])

/** Every encoding that an upstream may write a credential in. */
const written: Readonly<Record<string, (text: string) => string>> = {
  plain: (text) => text,
  "percent-encoded": encodeURIComponent,
  "percent-encoded, lower case": (text) => encodeURIComponent(text).replaceAll(/%../g, (each) => each.toLowerCase()),
  "percent-encoded throughout": (text) => Buffer.from(text).toString("hex").replaceAll(/../g, "%$&"),
  "JSON-escaped": (text) => JSON.stringify(text).slice(1, -1),
  "JSON-escaped twice": (text) => JSON.stringify(JSON.stringify(text)).slice(3, -3),
  "with escaped slashes": (text) => JSON.stringify(text).slice(1, -1).replaceAll("/", "\\/"),
  "in Unicode escapes": (text) =>
    [...text].map((each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, "0")}`).join(""),
  "HTML-escaped": (text) => text.replaceAll('"', "&quot;"),
  hexadecimal: (text) => Buffer.from(text).toString("hex"),
  "hexadecimal, upper case": (text) => Buffer.from(text).toString("hex").toUpperCase(),
  ...Object.fromEntries(
    ["", "x", "xy"].flatMap((before) =>
      (["base64", "base64url"] as const).map((name) => [
        `${name} behind ${before.length} bytes`,
        (text: string) => Buffer.from(`${before}${text} and more`).toString(name)
      ])
    )
  )
}

describe("credentials that come back", () => {
  for (const [name, write] of Object.entries(written)) {
    it(`are found ${name}, in bytes, texts and streams`, () => {
      const form = write(secret)
      const text = `You sent {${form}} to us.`
      for (const clean of [
        found.bytes(Buffer.from(text)).toString(),
        found.text(text),
        found.json({ deep: [{ [form]: text }] }).deep.map((each) => JSON.stringify(each))[0] ?? ""
      ]) {
        assert.include(clean, "[redacted]")
        assert.isFalse(
          secretForms(secret).some((each) => clean.includes(each)),
          clean
        )
      }
      assert.strictEqual(found.bytes(Buffer.from(text), true).length, Buffer.from(text).length)
    })
  }

  it("are found however the bytes are cut, and nothing else is changed", () => {
    FastCheck.assert(
      FastCheck.property(
        FastCheck.array(FastCheck.oneof(FastCheck.string(), FastCheck.constantFrom(...Object.values(written))), {
          maxLength: 8
        }),
        FastCheck.array(FastCheck.nat({ max: 40 }), { maxLength: 30 }),
        (parts, cuts) => {
          const plain = parts.map((part) => (typeof part === "string" ? `${part} ` : ` ${part(secret)} `)).join("")
          const bytes = Buffer.from(plain)
          const scrub = found.stream()
          const out: Array<Buffer> = []
          let at = 0
          for (const cut of cuts) {
            out.push(scrub.push(bytes.subarray(at, at + cut)))
            at = Math.min(bytes.length, at + cut)
          }
          out.push(scrub.push(bytes.subarray(at)), scrub.end())
          const clean = Buffer.concat(out).toString()
          assert.isFalse(secretForms(secret).some((form) => form.length >= 16 && clean.includes(form)))
          // A form of which up to five characters had left goes on as its own beginning and the mark.
          const longest = secret.length * 6
          assert.isAtMost(Math.abs(clean.length - found.text(plain).length), parts.length * longest)
          if (parts.every((part) => typeof part === "string")) assert.deepStrictEqual(Buffer.concat(out), bytes)
        }
      ),
      { numRuns: 300, seed: 7 }
    )
  })

  it("hold nothing back where nothing begins", () => {
    const scrub = found.stream()
    const chunk = Buffer.from('data: {"choices":[{"delta":{"content":" planks"}}]}\n\n')
    assert.strictEqual(scrub.push(chunk), chunk)
    assert.strictEqual(found.bytes(chunk), chunk)
    assert.strictEqual(scrub.push(Buffer.from("sk-pr")).toString(), "sk-pr")
  })

  it("are held back from their sixth character on, and given back where something else follows", () => {
    const scrub = found.stream()
    assert.strictEqual(scrub.push(Buffer.from("a sk-pro")).toString(), "a ")
    assert.strictEqual(scrub.push(Buffer.from("spect")).toString(), "sk-prospect")
    assert.strictEqual(scrub.push(Buffer.from("a sk-proj-9fQ2")).toString(), "a ")
    assert.strictEqual(scrub.end().toString(), "[redacted]")
  })

  it("are no ordinary words", () => {
    for (const word of ["ollama", "not-needed", "lm-studio", "1234567", ""]) {
      assert.isTrue(sentSecrets([word]).isEmpty, word)
    }
    assert.strictEqual(noSecrets.text(secret), secret)
  })

  it("are found by the names of the headers that carry them", () => {
    const { text } = secretsInHeaders(["authorization", "Bearer abcdef123456", "accept", "application/json"])
    assert.strictEqual(text("abcdef123456 in application/json"), "[redacted] in application/json")
  })

  it("cost a steady time for each byte of a text that is made to be slow", () => {
    const near = secret.slice(0, -1)
    const sizes = [1, 2, 4].map((times) => Buffer.from(near.repeat(2_000 * times)))
    for (const bytes of sizes) assert.strictEqual(found.bytes(bytes), bytes)
  })
})
