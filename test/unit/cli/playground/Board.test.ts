import { assert, describe, it } from "@effect/vitest"
import { begun, type Board, draw, ended, next, plain } from "../../../../src/subjects/playground/commands/Board.ts"
import { type CompareEvent, eventOf } from "../../../../src/cli/gateway/CompareStream.ts"

const metrics = {
  ttftMs: 250,
  tokensPerSecond: 50,
  tokensIn: 9,
  tokensOut: 100,
  costUsd: 0.0012,
  isEstimate: true as const
}

const events: ReadonlyArray<CompareEvent> = [
  { event: "column", column: 0, model: "up/a" },
  { event: "delta", column: 0, text: "The sky is blue because" },
  { event: "delta", column: 1, text: "Grüße\n世界" },
  { event: "delta", column: 0, text: " of scattering." },
  { event: "column_done", column: 0, requestId: "r0", metrics },
  { event: "column_error", column: 1, requestId: "r1", error: { message: "too \u001b[2Jslow", type: "t", code: "c" } },
  { event: "done" }
]

const after = (count: number): Board =>
  events.slice(0, count).reduce((board, event, at) => next(board, event, 100 * (at + 1)), begun(["up/a", "up/b"], 0))

describe("the board", () => {
  it("has each answer in its column, wrapped to its width", () =>
    assert.deepEqual(draw(after(4), 41, null, 1_000), [
      "up/a                │ up/b",
      "─────────────────── │ ───────────────────",
      "The sky is blue     │ Grüße",
      "because of          │ 世界",
      "scattering.         │",
      "─────────────────── │ ───────────────────",
      "first token 200 ms  │ first token 300 ms",
      "· about 13 tokens/s │ · about 3 tokens/s",
      "…                   │ …"
    ]))

  it("shows the ends of answers that are higher than the screen", () => {
    const lines = draw(after(4), 41, 1, 1_000)
    assert.include(lines, "scattering.         │ 世界")
    assert.notInclude(lines.join("\n"), "The sky")
  })

  it("has metrics, failures, and no text that steers the terminal", () => {
    const lines = draw(after(7), 200, null, 1_000).join("\n")
    assert.include(lines, "first token 250 ms · 50 tokens/s · 9 in · 100 out · ~$0.001200")
    assert.include(lines, "failed: too ?[2Jslow")
    assert.notInclude(lines, "\u001b")
  })

  it("takes what never ended for broken", () => {
    const { columns, isDone } = ended(after(5))
    assert.deepEqual([isDone, columns[0]?.error, columns[1]?.error], [false, null, "The answer broke off."])
  })

  it("is text without columns in a pipe", () =>
    assert.strictEqual(
      plain(after(7)),
      [
        "== up/a ==",
        "The sky is blue because of scattering.",
        "-- first token 250 ms · 50 tokens/s · 9 in · 100 out · ~$0.001200",
        "",
        "== up/b ==",
        "Grüße\n世界",
        "-- failed: too ?[2Jslow"
      ].join("\n")
    ))
})

describe("an event", () => {
  it("is read by its name, and others are none", () => {
    assert.deepEqual(eventOf("delta", '{"column":1,"text":"x"}'), { event: "delta", column: 1, text: "x" })
    for (const [name, data] of [
      ["delta", "{}"],
      ["delta", "no"],
      ["other", "{}"],
      ["toString", "{}"],
      [null, "{}"]
    ] as const) {
      assert.isNull(eventOf(name, data))
    }
  })
})
