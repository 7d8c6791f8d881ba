/**
 * What the detectors miss and what they find that is none, over a corpus. The figures stand in `docs/guardrails.md`; `UPDATE_DOCS=1` writes them anew.
 */
import { assert, describe, it } from "@effect/vitest"
import { readFileSync, writeFileSync } from "node:fs"
import { negatives } from "../../guard/corpus/Negatives.ts"
import { positivesOf } from "../../guard/corpus/Positives.ts"
import { type DetectorId, detectorIds } from "../../../src/plane/guard/Finding.ts"
import { findPersonalData, redact } from "../../../src/plane/guard/Detectors.ts"

const all = { disabled: new Set<string>(), custom: [] }
const page = new URL("../../../docs/guardrails.md", import.meta.url)
const begin = "<!-- figures -->"
const end = "<!-- /figures -->"

const lines = Object.values(negatives).flat()

const missedBy = (id: DetectorId): ReadonlyArray<string> =>
  positivesOf(id).flatMap(({ secret, text }) => (redact(text, all).text.includes(secret) ? [text] : []))

const wrongBy = (id: DetectorId): ReadonlyArray<string> =>
  lines.filter((line) => findPersonalData(line, all).some(({ detector }) => detector === id))

/** Rates that are accepted, in percent; 0 where nothing is said. */
const accepted: Partial<Record<DetectorId, { readonly missed?: number; readonly wrong?: number }>> = {
  "api-key": { missed: 0.5 },
  "credit-card": { wrong: 1 },
  email: { missed: 1 },
  ip: { wrong: 7 },
  phone: { missed: 1.5, wrong: 4 },
  ssn: { wrong: 4 }
}

const percent = (part: number, whole: number): string => `${((100 * part) / whole).toFixed(1)} %`

const figures = (): string => {
  const rows = detectorIds.map((id) => {
    const positives = positivesOf(id).length
    const missed = missedBy(id).length
    const wrong = wrongBy(id).length
    return `| \`${id}\` | ${positives} | ${missed} (${percent(missed, positives)}) | ${lines.length} | ${wrong} (${percent(wrong, lines.length)}) |`
  })
  return [
    begin,
    "",
    "| detector | texts with one | missed | texts without | wrongly found |",
    "| --- | --- | --- | --- | --- |",
    ...rows,
    "",
    end
  ].join("\n")
}

describe("the corpus", () => {
  it("has enough of each kind", () => {
    assert.isAtLeast(lines.length, 1_500)
    for (const id of detectorIds) assert.isAtLeast(positivesOf(id).length, 200, id)
  })

  for (const id of detectorIds) {
    it(`${id}: what is missed and what is wrongly found stays within what is accepted`, () => {
      const missed = missedBy(id)
      const wrong = wrongBy(id)
      assert.isAtMost(
        (100 * missed.length) / positivesOf(id).length,
        accepted[id]?.missed ?? 0,
        missed.slice(0, 5).join("\n")
      )
      assert.isAtMost((100 * wrong.length) / lines.length, accepted[id]?.wrong ?? 0, wrong.slice(0, 5).join("\n"))
    })
  }

  it("has its figures in docs/guardrails.md", () => {
    const text = readFileSync(page, "utf8")
    const [before = "", rest = ""] = text.split(begin)
    const [, after = ""] = rest.split(end)
    const written = before + figures() + after
    if (process.env["UPDATE_DOCS"] === "1") writeFileSync(page, written)
    assert.strictEqual(readFileSync(page, "utf8"), written)
  })
})
