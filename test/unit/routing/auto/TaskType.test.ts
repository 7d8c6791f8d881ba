import { assert, describe, it } from "@effect/vitest"
import * as FC from "effect/FastCheck"
import { signalWords } from "../../../../src/plane/routing/auto/TaskTerms.ts"
import { readSample, sampleLength } from "../../../../src/plane/routing/auto/TaskType.ts"

/** The words of a text, each against all there are: how it is defined. */
const plainCounts = (text: string) => {
  const words = text.toLowerCase().split(/[^\p{L}\p{N}-]+/u)
  const fits = (word: string, entry: string): boolean =>
    entry.endsWith("$") || entry.length < 4 ? word === entry.replace("$", "") : word.startsWith(entry)
  const count = (entries: string): number =>
    words.filter((word) => entries.split(" ").some((entry) => fits(word, entry))).length
  return { reasoning: count(signalWords.reasoning), domain: count(signalWords.domain) }
}

describe("TaskType", () => {
  it("counts the words of a text whatever stands between them", () => {
    const all = [...signalWords.reasoning.split(" "), ...signalWords.domain.split(" ")].map((word) =>
      word.replace("$", "")
    )
    const piece = FC.oneof(
      FC.constantFrom(...all.filter((word) => !/[\u3040-\u9fff]/.test(word))),
      FC.constantFrom(" ", "-", "s", ". ", "\n", "_", "7", "É", "ß ", "İ", " x ", "ed, ", "why"),
      FC.string({ maxLength: 3 })
    )
    FC.assert(
      FC.property(FC.array(piece, { maxLength: 30 }), (pieces) => {
        const text = pieces.join("")
        const { domain, reasoning } = readSample(text)
        assert.deepStrictEqual({ reasoning, domain }, plainCounts(text))
      }),
      { seed: 20_261_122, numRuns: 1_000 }
    )
  })

  const cases: ReadonlyArray<readonly [string, string]> = [
    ["Write a function that reverses a list in Python", "coding"],
    ["Please refactor this class", "coding"],
    ["fix this bug, the server crashes on start", "debugging"],
    ["TypeError: x is undefined\n    at run (/app/index.js:10:5)", "debugging"],
    ["Review my pull request and give feedback", "review"],
    ["Write documentation and a README for this module", "documentation"],
    ["Draw up a roadmap with milestones for the migration", "planning"],
    ["Compare these two databases and explain the differences", "analysis"],
    ["Implementiere eine Funktion, die Zahlen sortiert", "coding"],
    ["Warum ist das so? Erkläre den Unterschied", "analysis"],
    ["Corrige este fallo, por favor: depurar el servidor", "debugging"],
    ["Écrire une fonction et du code", "coding"],
    ["Planifier une stratégie", "planning"],
    ["Найди ошибку и исправь", "debugging"],
    ["请编写一个函数", "coding"],
    ["このコードのバグを調べて、デバッグして", "debugging"],
    ["이 코드를 검토하고 검토 의견을 주세요", "review"],
    ["Good morning, how are you?", "default"],
    ["", "default"],
    ["The planet is far away", "default"]
  ]
  for (const [text, task] of cases)
    it(`${task}: ${text.slice(0, 40)}`, () => assert.strictEqual(readSample(text).taskType, task))

  it("reads a bounded part", () => {
    assert.strictEqual(readSample(" ".repeat(sampleLength) + "fix this bug").taskType, "default")
  })

  it("counts the marks that specificity is made of", () => {
    const signals = readSample(
      "Prove the theorem step by step, because the integral ∫ x dx … ```ts\nconst a = () => 1;\n```"
    )
    assert(signals.math >= 3)
    assert(signals.reasoning >= 2)
    assert(signals.code >= 3)
    assert.deepStrictEqual(readSample("hello there"), {
      taskType: "default",
      code: 0,
      math: 0,
      reasoning: 0,
      domain: 0
    })
  })
})
