import { assert, describe, it } from "@effect/vitest"
import { readSample, sampleLength } from "../../../../src/routing/auto/TaskType.ts"

describe("TaskType", () => {
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
