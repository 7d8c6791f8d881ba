/** Whatever a text holds, it comes out of a snippet as it went in. */
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { execFileSync } from "node:child_process"
import { Script } from "node:vm"
import { jsonLiteral, pythonLiteral, quoted, shellWord } from "../../../src/agents/playground/snippets/Literals.ts"
import { snippetsOf } from "../../../src/agents/playground/snippets/Snippets.ts"

const hostile = fc.oneof(
  fc.string({ unit: "binary", maxLength: 60 }),
  fc.constantFrom(
    "'; rm -rf / #",
    "$(id)`id`${HOME}$GATEWAY_API_KEY",
    '"""\\"',
    "'''\\",
    "\\",
    "\\u0041\\n",
    "`${process.exit(1)}`",
    "</script><!--",
    "\u2028\u2029\u202e\u200b\ufeff",
    "@/etc/passwd",
    "-F file=@/etc/passwd",
    "a\r\nb\tc\u0007\u001b[2J",
    "\ud83d",
    "!!history %s %d"
  ),
  fc.string({ unit: fc.constantFrom("'", '"', "\\", "`", "$", "\n", "!", "{", "}", "#", "%", "\u0000"), maxLength: 40 })
)

const withoutNul = hostile.map((text) => text.replaceAll("\0", ""))

const run = (code: string): unknown => new Script(code).runInNewContext({}, { timeout: 1_000 })

describe("a text", () => {
  it("as a literal is the same text to JavaScript and to JSON, in ASCII and characters that are seen", () =>
    fc.assert(
      fc.property(hostile, (text) => {
        const literal = quoted(text)
        assert.strictEqual(run(`(${literal})`), text)
        assert.strictEqual(JSON.parse(literal), text)
        assert.notMatch(literal, /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/u)
      })
    ))

  it("within a value is the same value", () =>
    fc.assert(
      fc.property(fc.array(fc.record({ role: fc.constant("user"), content: hostile })), (messages) => {
        const value = { messages, temperature: 0.5, flag: true, none: null }
        assert.deepEqual(JSON.parse(jsonLiteral(value)), value)
        assert.deepEqual(JSON.parse(JSON.stringify(run(`(${jsonLiteral(value, "  ")})`))), value)
      })
    ))

  it("as a word of a shell is the same word", () => {
    const texts = fc.sample(withoutNul, { numRuns: 200, seed: 42 })
    const words = texts.map((text) => shellWord(text)).join(" ")
    const printed = execFileSync("/bin/sh", ["-c", `printf '%s\\0' ${words}`], { maxBuffer: 16_777_216 })
    // Lone halves of a pair are no text of a shell.
    const expected = texts.map((text) => Buffer.from(text).toString())
    assert.deepEqual(printed.toString().split("\0").slice(0, -1), expected)
  })

  it("within a value is the same value to Python", () => {
    const json = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        hostile,
        fc.double({ noNaN: true, noDefaultInfinity: true }),
        fc.maxSafeInteger(),
        fc.constantFrom(1e21, 2 ** 63, -1e-7, true, false, null),
        fc.array(tie("value"), { maxLength: 4 }),
        fc.dictionary(hostile, tie("value"), { maxKeys: 4 })
      )
    })).value
    // JSON has no negative zero, and names no member of JavaScript's own.
    const values = fc.sample(json, { numRuns: 400, seed: 42 }).map((value) => JSON.parse(JSON.stringify(value)))
    const program = [
      "import json, sys",
      `values = [${values.map((value) => pythonLiteral(value)).join(",\n")}]`,
      "sys.stdout.write(json.dumps(values))"
    ].join("\n")
    const printed = execFileSync("python3", ["-"], { input: program, maxBuffer: 67_108_864 })
    assert.deepEqual(JSON.parse(printed.toString()), values)
  })

  it("in a snippet of TypeScript leaves a program that is one", () =>
    fc.assert(
      fc.property(withoutNul, (text) => {
        const { typescript } = snippetsOf("http://127.0.0.1:1", {
          endpoint: "rerank",
          model: "m",
          messages: [
            { role: "user", content: text },
            { role: "user", content: text }
          ]
        })
        const program = `(async () => { ${typescript} })`
        assert.doesNotThrow(() => new Script(program))
      })
    ))
})
