import { assert, describe, it } from "@effect/vitest"
import { successorsOf } from "../../../../src/plane/routing/resolve/Successors.ts"

/** The first successor that is listed. */
const pick = (id: string, ...listed: ReadonlyArray<string>): string | null =>
  [...successorsOf(id, listed)].find((name) => listed.includes(name)) ?? null

describe("successors of a model's name", () => {
  it.each([
    ["gpt-4o-2024-08-06", ["gpt-4o", "gpt-4.1"], "gpt-4o"],
    ["gpt-4-0613", ["gpt-4o"], "gpt-4o"],
    ["gpt-4.5-preview", ["gpt-5.4"], "gpt-5.4"],
    ["claude-haiku-4-5", ["claude-haiku-4-5-20250901", "claude-haiku-4-5-20251001"], "claude-haiku-4-5-20251001"],
    ["claude-3-5-sonnet-20241022", ["claude-sonnet-4-5", "claude-opus-4-1"], "claude-sonnet-4-5"],
    ["claude-3-5-sonnet-latest", ["claude-sonnet-4-6"], "claude-sonnet-4-6"],
    ["claude-3-opus-20240229[1m]", ["claude-opus-4-8", "claude-sonnet-4-6"], "claude-opus-4-8"],
    ["claude-instant-1.2", ["claude-haiku-4-5-20251001"], "claude-haiku-4-5-20251001"],
    ["gemini-1.5-pro-002", ["gemini-2.5-pro"], "gemini-2.5-pro"],
    ["mistral-large-2407", ["mistral-large-latest"], "mistral-large-latest"],
    ["command-r-03-2024", ["command-r-08-2024"], "command-r-08-2024"],
    ["llama3-70b-8192", ["llama-3.3-70b-versatile"], "llama-3.3-70b-versatile"]
  ] as const)("%s is asked as one of %j", (id, listed, expected) => assert.strictEqual(pick(id, ...listed), expected))

  it("are never older, of another kind, or of models that make vectors", () => {
    assert.isNull(pick("claude-opus-4-8", "claude-opus-4-1"))
    assert.isNull(pick("gpt-4o-mini", "gpt-4o", "gpt-4"))
    assert.isNull(pick("gpt-4", "gpt-4o-mini-2024-07-18"))
    assert.isNull(pick("text-embedding-004", "text-embedding-005", "text-embedding"))
    assert.isNull(pick("something-of-mine", "something", "gpt-4o"))
  })

  it("end, also for names without end and lines that meet", () => {
    assert.isEmpty([...successorsOf("a".repeat(100_000), [])])
    for (const id of ["claude-2.1", "gpt-3.5-turbo-16k", "o1-mini"])
      assert.isAtMost([...successorsOf(id, [])].length, 40)
  })
})
