/**
 * What the programs themselves read in the literals of snippets: one process of Python, of Node and of a shell for all samples. Values are compared by their
 * code units and bits, so that no lone half of a pair, no sign of a zero and no digit is lost unseen.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as fc from "fast-check"
import { execFileSync } from "node:child_process"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { playgroundEndpoints } from "../../../src/subjects/playground/entity.ts"
import {
  jsonLiteral,
  pythonLiteral,
  scriptLiteral,
  shellWord
} from "../../../src/agents/playground/snippets/Literals.ts"
import { requestOf, type Snippet } from "../../../src/agents/playground/snippets/SnippetRequest.ts"
import { snippetsOf } from "../../../src/agents/playground/snippets/Snippets.ts"
import type { Json } from "../../../src/wire/json/Json.ts"
import { temporaryFolder } from "../../support/TemporaryFolder.ts"

const seed = 20_261_126
const maxBuffer = 512 * 1_048_576

const hostileTexts = [
  "",
  "'; exit 7 #",
  "$(exit 7)`exit 7`${HOME}$GATEWAY_API_KEY",
  '"""\\"',
  "'''\\",
  "\\",
  "\\\\",
  "\\N{BULLET}\\x41\\u0041\\U0001f44b\\101\\\n",
  "{f}%s%d{{x}}",
  "`${process.exit(7)}`",
  "\u2028\u2029\u202e\u200b\ufeff\ufffe\uffff\u0085\u00ad",
  "\u0000\u0001\u0007\u0008\u000b\u000c\u001b[2J\u007f",
  "a\r\nb\tc\rd\n",
  "\ud83d",
  "\udc4b",
  "\udc4b\ud83d",
  "\ud83dx\udc4b",
  "\ud83d\u200b\udc4b",
  "👋🏽\u{10ffff}\u{e0041}",
  "-F file=@/etc/passwd",
  "@/etc/passwd",
  "!!",
  "EOF\n"
]

const text = fc.oneof(
  fc.string({ unit: "binary", maxLength: 30 }),
  // Any code unit, so also halves of pairs that stand alone.
  fc.array(fc.nat(0xffff), { maxLength: 20 }).map((units) => String.fromCharCode(...units)),
  fc.array(fc.integer({ min: 0xd7f0, max: 0xe010 }), { maxLength: 12 }).map((units) => String.fromCharCode(...units)),
  fc.string({
    unit: fc.constantFrom("'", '"', "\\", "`", "$", "\n", "\r", "!", "{", "}", "#", "%", "u", "x", "N", "0")
  }),
  fc.constantFrom(...hostileTexts)
)

const number = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.integer(),
  fc.maxSafeInteger(),
  fc.constantFrom(
    -0,
    0,
    1e21,
    1e20,
    123456789012345680000,
    -1e100,
    5e-324,
    1e-7,
    Number.MAX_VALUE,
    -Number.MAX_VALUE,
    2 ** 53,
    0.1
  )
)

const key = fc.oneof(
  text,
  fc.constantFrom("__proto__", "constructor", "toString", "hasOwnProperty", "0", "-1", "10", "f", "")
)

/** An object of whatever names: `__proto__` is a member like any other. */
const objectOf = (entries: ReadonlyArray<readonly [string, Json]>): Json => Object.fromEntries(entries)

const { value: anyValue } = fc.letrec<{ value: Json; list: Json; record: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 5, depthSize: "medium" },
    fc.constantFrom<Json>(null, true, false),
    number,
    text,
    tie("list"),
    tie("record")
  ),
  list: fc.array(tie("value"), { maxLength: 5 }),
  record: fc.array(fc.tuple(key, tie("value")), { maxLength: 5 }).map(objectOf)
}))

/** Lists and objects within each other. Python reads 200 levels. */
const deep = fc
  .tuple(fc.array(fc.option(key), { minLength: 60, maxLength: 150 }), anyValue)
  .map(([names, inner]) =>
    names.reduce<Json>((within, name) => (name === null ? [within] : objectOf([[name, within]])), inner)
  )

const hostileValues: ReadonlyArray<Json> = [
  ...hostileTexts,
  objectOf([["__proto__", { polluted: true }]]),
  objectOf([["__proto__", 1]]),
  [-0, 0, { "-0": -0 }]
]

const values: ReadonlyArray<Json> = [
  ...hostileValues,
  ...fc.sample(anyValue, { numRuns: 600, seed }),
  ...fc.sample(text, { numRuns: 600, seed }),
  ...fc.sample(deep, { numRuns: 15, seed })
]

/** The value, with all that a reader could lose. It is run in another process too, by its text. */
const seen = (value: Json | undefined): unknown => {
  const bits = (each: number): string => {
    const bytes = new DataView(new ArrayBuffer(8))
    bytes.setFloat64(0, each)
    return bytes.getBigUint64(0).toString(16).padStart(16, "0")
  }
  const units = (each: string): string =>
    [...Array(each.length).keys()].map((at) => each.charCodeAt(at).toString(16).padStart(4, "0")).join("")
  if (value === null || typeof value === "boolean") return value
  if (typeof value === "number") return ["n", bits(value)]
  if (typeof value === "string") return ["s", units(value)]
  if (Array.isArray(value)) return ["a", ...value.map(seen)]
  return ["o", ...Object.entries(value ?? {}).map(([name, member]) => [units(name), seen(member)])]
}

const seenInPython = `
import json, struct

def units(text):
    return text.encode("utf-16-be", "surrogatepass").hex()

def seen(value):
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, (int, float)):
        return ["n", struct.pack(">d", float(value)).hex()]
    if isinstance(value, str):
        return ["s", units(value)]
    if isinstance(value, list):
        return ["a", *map(seen, value)]
    return ["o", *[[units(name), seen(member)] for name, member in value.items()]]

def show(values):
    for value in values:
        print(json.dumps(seen(value), separators=(",", ":")))
`

const linesOf = (output: Buffer): ReadonlyArray<string> => output.toString().split("\n").slice(0, -1)

const assertSame = (read: ReadonlyArray<string>, expected: ReadonlyArray<Json>): void => {
  assert.strictEqual(read.length, expected.length)
  for (const [at, value] of expected.entries()) {
    assert.strictEqual(read[at], JSON.stringify(seen(value)), JSON.stringify(value))
  }
}

const hasPython = ((): boolean => {
  try {
    execFileSync("python3", ["--version"], { stdio: "ignore" })
    return true
  } catch {
    return false
  }
})()

/** The program's output; it is run from a file, as users run theirs. */
const outputOf = (program: string, name: string, code: string) =>
  Effect.map(temporaryFolder, (folder) => {
    const file = join(folder, name)
    writeFileSync(file, code)
    return execFileSync(program, [file], { cwd: folder, maxBuffer, stdio: ["ignore", "pipe", "pipe"] })
  })

const manySamples = 120_000

const snippets: ReadonlyArray<Snippet> = [...hostileTexts, ...fc.sample(text, { numRuns: 60, seed })].flatMap(
  (content) =>
    playgroundEndpoints.map((endpoint) => ({
      endpoint,
      model: "up/m",
      system: content,
      messages: [
        { role: "user" as const, content },
        { role: "assistant" as const, content: `${content}'` },
        { role: "user" as const, content: `${content}"` }
      ],
      params: { temperature: -0, seed: -7, stop: [content || "'"] }
    }))
)
const base = "http://127.0.0.1:1"

describe("a value in a snippet", () => {
  it.scopedLive(
    "is the same value to Node, whatever its members are called",
    () =>
      Effect.map(
        outputOf(
          process.execPath,
          "values.mjs",
          [
            `const seen = ${String(seen)}`,
            `const values = [\n${values.map((value) => scriptLiteral(value, "  ")).join(",\n")}\n]`,
            // The text is JSON as well, which a shell hands to curl.
            `const sent = [\n${values.map((value) => JSON.stringify(jsonLiteral(value))).join(",\n")}\n]`,
            `for (const value of [...values, ...sent.map((text) => JSON.parse(text))]) console.log(JSON.stringify(seen(value)))`
          ].join("\n")
        ),
        (output) => assertSame(linesOf(output), [...values, ...values])
      ),
    manySamples
  )

  if (hasPython) {
    it.scopedLive(
      "is the same value to Python, whatever its members are called",
      () =>
        Effect.map(
          outputOf(
            "python3",
            "values.py",
            `${seenInPython}\nshow([\n${values.map((value) => pythonLiteral(value, "    ")).join(",\n")}\n])\n`
          ),
          (output) => assertSame(linesOf(output), values)
        ),
      manySamples
    )

    it.scopedLive(
      "is what a whole program of Python sends",
      () => {
        // The program as it is printed, with something that tells what it was given in the place of the library.
        const code = [
          seenInPython,
          "import ast, io, sys, types",
          "library = types.ModuleType('requests')",
          "class Answer:",
          "    content = b''",
          "    def raise_for_status(self): pass",
          "    def json(self): raise SystemExit",
          "def post(url, headers, json=None, data=None, files=None):",
          "    show([json if data is None else data])",
          "    return Answer()",
          "library.post = post",
          "sys.modules['requests'] = library",
          "def opened(name, mode): return io.BytesIO()",
          "for program in [",
          snippets.map((snippet) => pythonLiteral(snippetsOf(base, snippet).python)).join(",\n"),
          "]:",
          "    try:",
          "        exec(compile(program, 'snippet.py', 'exec'), {'open': opened})",
          "    except SystemExit:",
          "        pass",
          ""
        ].join("\n")
        return Effect.map(outputOf("python3", "programs.py", code), (output) => {
          const sent = snippets.map((snippet): Json => {
            const { body, file } = requestOf(snippet)
            return file === null
              ? body
              : Object.fromEntries(
                  Object.entries(body).map(([name, value]) => [
                    name,
                    typeof value === "string" ? value : JSON.stringify(value)
                  ])
                )
          })
          assertSame(linesOf(output), sent)
        })
      },
      manySamples
    )
  }

  it.scopedLive(
    "is the same word to a shell, but for what no word can hold",
    () => {
      const texts = values.filter((value) => typeof value === "string")
      const code = `for word in ${texts.map(shellWord).join(" ")}; do printf '%s\\0' "$word"; done`
      return Effect.map(outputOf("/bin/sh", "words.sh", code), (output) =>
        assert.deepEqual(
          output.toString().split("\0").slice(0, -1),
          // No word has a NUL, and lone halves of a pair are no text.
          texts.map((word) => Buffer.from(word.replaceAll("\0", "")).toString())
        )
      )
    },
    manySamples
  )

  it.scopedLive(
    "is what curl is given by a whole command",
    () => {
      const commands = snippets.map((snippet) => snippetsOf(base, snippet).curl)
      const code = ["GATEWAY_API_KEY=k", `curl() { printf '%s\\0' "$@"; printf '\\0'; }`, ...commands].join("\n")
      return Effect.map(outputOf("/bin/sh", "commands.sh", code), (output) => {
        const calls = output.toString().split("\0\0").slice(0, -1)
        assert.strictEqual(calls.length, snippets.length)
        for (const [at, snippet] of snippets.entries()) {
          const words = (calls[at] ?? "").split("\0")
          const { body, file, path } = requestOf(snippet)
          assert.deepEqual(words.slice(0, 3), [base + path, "-H", "Authorization: Bearer k"])
          if (file !== null) {
            const { prompt } = body
            const isTold = typeof prompt === "string"
            if (isTold) assert.include(words, `prompt=${Buffer.from(prompt).toString()}`)
            else assert.isFalse(words.some((word) => word.startsWith("prompt=")))
            continue
          }
          const sent = words[words.indexOf("--data-raw") + 1] ?? ""
          assert.strictEqual(JSON.stringify(seen(JSON.parse(sent))), JSON.stringify(seen(body)))
        }
      })
    },
    manySamples
  )
})
