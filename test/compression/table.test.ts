/** Measures the engines on outputs of real programs, and writes the table of `docs/compression.md` (`UPDATE_DOCS=1`). */
import { assert, describe, it } from "@effect/vitest"
import { countTokens } from "gpt-tokenizer/encoding/o200k_base"
import { readFileSync, writeFileSync } from "node:fs"
import { shortened, usualShortening } from "../../src/compression/ccr/Shortened.ts"
import { columnar } from "../../src/compression/headroom/Columns.ts"
import { usualLimits } from "../../src/compression/rtk/Apply.ts"
import { compileBuiltIn } from "../../src/compression/rtk/Compiled.ts"
import { ordered } from "../../src/compression/rtk/Detect.ts"
import { builtInFilters } from "../../src/compression/rtk/filters/index.ts"
import { isFailure } from "../../src/compression/rtk/Kept.ts"
import { reduce } from "../../src/compression/rtk/Rtk.ts"

interface Output {
  readonly command: string
  readonly text: string
}

const corpus: ReadonlyArray<Output> = JSON.parse(readFileSync(new URL("corpus/outputs.json", import.meta.url), "utf8"))
const filters = ordered(builtInFilters.map(compileBuiltIn))
const id = "4f1c0e2a9b7d4c3e8f6a5b1d"
const keep = (): string => id

const rtk = (level: "minimal" | "standard" | "aggressive") => (output: Output) =>
  reduce(filters, output, { ...usualLimits, level }, keep)?.text ?? null

const engines: ReadonlyArray<readonly [string, (output: Output) => string | null]> = [
  ["rtk, minimal", rtk("minimal")],
  ["rtk, standard", rtk("standard")],
  ["rtk, aggressive", rtk("aggressive")],
  ["headroom", ({ text }) => columnar(text)],
  ["ccr", ({ text }) => shortened(text, usualShortening, keep)]
]

const found = (text: string, pattern: RegExp): ReadonlyArray<string> => [...new Set(text.match(pattern))]
const numbers = /\d+(?:\.\d+)*/g
const paths = /[\w.-]*\/[\w./-]+/g

const percent = (part: number, whole: number): string => (whole === 0 ? "–" : `${((100 * part) / whole).toFixed(1)} %`)

/** Of what one kind of thing there is in the texts before, how much is in those after. */
const keptOf = (pairs: ReadonlyArray<readonly [string, string]>, partsOf: (text: string) => ReadonlyArray<string>) => {
  let all = 0
  let kept = 0
  for (const [before, after] of pairs) {
    for (const part of partsOf(before)) {
      all += 1
      if (after.includes(part)) kept += 1
    }
  }
  return { all, kept }
}

const failures = (text: string): ReadonlyArray<string> =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => isFailure(line))
const lines = (text: string): ReadonlyArray<string> =>
  [...new Set(text.split("\n").map((line) => line.trim()))].filter((line) => line !== "")

const measured = engines.map(([name, run]) => {
  const pairs = corpus.flatMap((output): ReadonlyArray<readonly [string, string]> => {
    const after = run(output)
    return after === null ? [] : [[output.text, after]]
  })
  const before = pairs.reduce((sum, [text]) => sum + countTokens(text), 0)
  const after = pairs.reduce((sum, [, text]) => sum + countTokens(text), 0)
  const grown = pairs.filter(([text, made]) => countTokens(made) > countTokens(text)).length
  return { name, pairs, before, after, grown }
})

const total = corpus.reduce((sum, { text }) => sum + countTokens(text), 0)

const row = ({ after, before, name, pairs }: (typeof measured)[number]): string => {
  const shares = [lines, failures, (text: string) => found(text, numbers), (text: string) => found(text, paths)].map(
    (partsOf) => {
      const { all, kept } = keptOf(pairs, partsOf)
      return percent(kept, all)
    }
  )
  const cells = [name, `${pairs.length}`, percent(before - after, total), percent(before - after, before), ...shares]
  return `| ${cells.join(" | ")} |`
}

const table = [
  `${corpus.length} outputs, ${total} tokens (o200k).`,
  "",
  "| engine | outputs changed | saved of all tokens | saved of those | lines kept | lines of failure kept | numbers kept | paths kept |",
  "|---|---|---|---|---|---|---|---|",
  ...measured.map(row)
].join("\n")

const begin = "<!-- measured -->\n"
const end = "\n<!-- /measured -->"
const page = new URL("../../docs/compression.md", import.meta.url)

describe("the engines on outputs of real programs", () => {
  it("are measured on 200 at least", () => {
    assert.isAtLeast(corpus.length, 200)
  })

  it("never make more tokens of an output", () => {
    for (const { grown, name } of measured) assert.strictEqual(grown, 0, name)
  })

  it("save what docs/compression.md says", () => {
    const text = readFileSync(page, "utf8")
    const from = text.indexOf(begin) + begin.length
    const to = text.indexOf(end)
    if (process.env["UPDATE_DOCS"] === "1") writeFileSync(page, text.slice(0, from) + table + text.slice(to))
    else assert.strictEqual(text.slice(from, to), table, "UPDATE_DOCS=1 npm test -- test/compression")
  })
})
