/** Measures the engines on outputs of real programs and on conversations, and writes the tables of `docs/compression.md` (`UPDATE_DOCS=1`). */
import { assert, describe, it } from "@effect/vitest"
import { countTokens } from "gpt-tokenizer/encoding/o200k_base"
import { readFileSync, writeFileSync } from "node:fs"
import { aggressiveEngine } from "../../src/plane/compression/engines/Aggressive.ts"
import { readBlocks } from "../../src/plane/compression/Blocks.ts"
import { cavemanEngine, defaultCaveman } from "../../src/plane/compression/caveman/Caveman.ts"
import { compress } from "../../src/plane/compression/Compressor.ts"
import type { Engine } from "../../src/plane/compression/Engine.ts"
import { liteEngine } from "../../src/plane/compression/engines/Lite.ts"
import { ccrEngine, dedupEngine, headroomEngine, rtkEngine } from "../../src/plane/compression/ResultEngines.ts"
import { usualLimits } from "../../src/plane/compression/rtk/Apply.ts"
import { compileBuiltIn } from "../../src/plane/compression/rtk/Compiled.ts"
import { ordered } from "../../src/plane/compression/rtk/Detect.ts"
import { builtInFilters } from "../../src/plane/compression/rtk/filters/index.ts"
import { ultraEngine } from "../../src/plane/compression/ultra/Ultra.ts"
import type { JsonObject } from "../../src/wire/json/Json.ts"
import { type Output, type Transcript, transcriptsOf } from "./corpus/transcripts.ts"

const outputs: ReadonlyArray<Output> = JSON.parse(readFileSync(new URL("corpus/outputs.json", import.meta.url), "utf8"))
const transcripts = transcriptsOf(outputs)
const filters = ordered(builtInFilters.map(compileBuiltIn))
const rtk = (level: "minimal" | "standard" | "aggressive") => rtkEngine(filters, { ...usualLimits, level })
const caveman = cavemanEngine(defaultCaveman)

const engines: ReadonlyArray<readonly [string, ReadonlyArray<Engine>]> = [
  ["lite", [liteEngine]],
  ["caveman", [caveman]],
  ["aggressive", [aggressiveEngine]],
  ["ultra", [ultraEngine]],
  ["rtk, minimal", [rtk("minimal")]],
  ["rtk, standard", [rtk("standard")]],
  ["rtk, aggressive", [rtk("aggressive")]],
  ["headroom", [headroomEngine]],
  ["session-dedup", [dedupEngine]],
  ["ccr", [ccrEngine]],
  ["stacked", [rtk("standard"), caveman]]
]

/** An output alone, with the call that it answers. */
const aloneOf = ({ command, text }: Output): Transcript => ({
  wire: "chat",
  turns: 2,
  body: {
    messages: [
      {
        role: "assistant",
        tool_calls: [{ id: "c", type: "function", function: { name: "bash", arguments: JSON.stringify({ command }) } }]
      },
      { role: "tool", tool_call_id: "c", content: text }
    ]
  }
})

/** Things of one kind in a text, each once. */
type Things = (text: string) => ReadonlySet<string>
const matching =
  (pattern: RegExp): Things =>
  (text) =>
    new Set(Array.from(text.matchAll(pattern), ([thing]) => thing.trim()))

const kinds: ReadonlyArray<readonly [string, Things]> = [
  ["failures", matching(/\b(?:error|exception|fail(?:ed|ure|s)?|fatal|panic|denied|no such|not found)\b.*$/gim)],
  ["numbers", matching(/\d+(?:[.,]\d+)*/g)],
  ["paths", matching(/(?<![\w.:/-])[\w.-]*\/[\w./-]*\w/g)],
  ["addresses", matching(/[a-z]+:\/\/[^\s"'<>)\]`]+/gi)],
  [
    "negations",
    matching(/\b(?:not|no|never|nothing|none|without|unless|cannot|can't|don't|nicht|nichts|kein|ohne)\b(?: \w+)?/gi)
  ]
]

const percent = (part: number, whole: number): string => (whole === 0 ? "–" : `${((100 * part) / whole).toFixed(1)} %`)

const textsOf = (wire: Transcript["wire"], body: JsonObject): ReadonlyArray<string> =>
  readBlocks(wire, body).blocks.map(({ text }) => text)

const sum = (texts: ReadonlyArray<string>): number => texts.reduce((all, text) => all + countTokens(text), 0)

/** What is there once in a conversation has to be there once afterwards. */
const measure = (name: string, of: ReadonlyArray<Transcript>, by: ReadonlyArray<Engine>) => {
  const totals = kinds.map(() => ({ all: 0, kept: 0 }))
  let changed = 0
  let before = 0
  let after = 0
  let grown = 0
  for (const { body, wire } of of) {
    const tools = { keep: () => "4f1c0e2a9b7d4c3e8f6a5b1d" }
    const made = compress({
      wire,
      body,
      engines: by,
      tools,
      owner: "k",
      stability: null,
      asTheyCame: false,
      monotonicMs: () => 0
    })
    changed += made.changes.length
    if (made.changes.length === 0) continue
    const own = sum(made.changes.map((change) => change.before))
    const now = sum(made.changes.map((change) => change.after))
    before += own
    after += now
    if (now > own) grown += 1
    const was = textsOf(wire, body).join("\n")
    const is = textsOf(wire, made.body).join("\n")
    for (const [index, [, thingsIn]] of kinds.entries()) {
      const left = thingsIn(is)
      const total = totals[index]
      if (total === undefined) continue
      for (const thing of thingsIn(was)) {
        total.all += 1
        if (left.has(thing)) total.kept += 1
      }
    }
  }
  return { name, changed, before, after, grown, totals }
}

const tableOf = (of: ReadonlyArray<Transcript>) => {
  const total = sum(of.flatMap(({ body, wire }) => textsOf(wire, body)))
  const rows = engines.map(([name, by]) => measure(name, of, by))
  const lines = [
    `| engine | texts changed | saved of all tokens | saved of those | ${kinds.map(([kind]) => `${kind} kept`).join(" | ")} |`,
    `|---|---|---|---|${kinds.map(() => "---|").join("")}`,
    ...rows.map(({ after, before, changed, name, totals }) => {
      const shares = totals.map(({ all, kept }) => percent(kept, all))
      return `| ${[name, `${changed}`, percent(before - after, total), percent(before - after, before), ...shares].join(" | ")} |`
    })
  ]
  return { total, rows, text: lines.join("\n") }
}

const ofOutputs = tableOf(outputs.map(aloneOf))
const ofTranscripts = tableOf(transcripts)
const measured = [...ofOutputs.rows, ...ofTranscripts.rows]

const table = [
  `${outputs.length} outputs, ${ofOutputs.total} tokens (o200k):`,
  "",
  ofOutputs.text,
  "",
  `${transcripts.length} conversations, ${ofTranscripts.total} tokens:`,
  "",
  ofTranscripts.text
].join("\n")

const begin = "<!-- measured -->\n"
const end = "\n<!-- /measured -->"
const page = new URL("../../docs/compression.md", import.meta.url)

describe("the engines on outputs of real programs and on conversations", () => {
  it("are measured on 200 outputs and 20 conversations at least", () => {
    assert.isAtLeast(outputs.length, 200)
    assert.isAtLeast(transcripts.length, 20)
    assert.strictEqual(new Set(transcripts.map(({ wire }) => wire)).size, 5)
    for (const { turns } of transcripts) assert.isTrue(turns >= 10 && turns <= 40, `${turns} turns`)
  })

  it("never make more tokens", () => {
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
