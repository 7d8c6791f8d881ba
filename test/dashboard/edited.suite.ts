/** What was typed into a form over a stored object, and the draft of a combo. */
import { assert, describe, it } from "vitest"
import { editedOf, emptied, textsOf } from "../../src/dashboard/forms/edited.ts"
import type { FieldSchema } from "../../src/dashboard/forms/operations.ts"
import { draftOf, moved, readDraft, sharesOf } from "../../src/dashboard/views/routing/combo/draft.ts"

const schema: FieldSchema = {
  type: "object",
  properties: {
    retry: {
      type: "object",
      properties: { maxRetries: { type: "integer" }, note: { type: ["string", "null"] } }
    },
    phrases: { type: "array", items: { type: "string" } },
    isOn: { type: "boolean" }
  }
}
const stored = { retry: { maxRetries: 2, note: "x" }, phrases: ["one"], isOn: true, own: { kept: 1 } }

describe("a form over a stored object", () => {
  it("shows what is stored, and changes what was touched only", () => {
    assert.deepStrictEqual(textsOf(schema, stored), {
      "retry.maxRetries": "2",
      "retry.note": "x",
      phrases: "one",
      isOn: "true"
    })
    assert.deepStrictEqual(editedOf(schema, stored, {}, "empty").value, stored)
    assert.deepStrictEqual(editedOf(schema, stored, { "retry.maxRetries": "3" }, "empty").value, {
      ...stored,
      retry: { maxRetries: 3, note: "x" }
    })
  })

  it("reads an emptied field as empty, as null, or as one that is needed", () => {
    const { value, wrong } = editedOf(
      schema,
      stored,
      { "retry.maxRetries": "", "retry.note": "", phrases: "" },
      "empty"
    )
    assert.deepStrictEqual(wrong, { "retry.maxRetries": "needed" })
    assert.deepStrictEqual(value, { ...stored, retry: { maxRetries: 2, note: null }, phrases: [] })
  })

  it("takes an emptied setting away where that means that it is not set", () => {
    const typed = emptied({}, textsOf(schema, stored), "retry")
    assert.deepStrictEqual(editedOf(schema, stored, typed, "absent").value, {
      phrases: ["one"],
      isOn: true,
      own: { kept: 1 }
    })
    assert.deepStrictEqual(editedOf(schema, stored, { "retry.maxRetries": "two" }, "absent").wrong, {
      "retry.maxRetries": "number"
    })
  })
})

describe("the draft of a combo", () => {
  const combo = {
    name: "best",
    strategy: "weighted",
    targets: [
      { model: "a/b", weight: 2, connectionId: null },
      { model: "c/d", connectionId: "id", label: "spare" }
    ],
    config: { ownNote: "kept" },
    isActive: true
  } as const

  it("is what is stored while nothing is touched", () => {
    assert.deepStrictEqual(readDraft(draftOf(combo), combo, schema), { value: combo, wrong: {} })
  })

  it("names a weight that is no number by its place, and leaves out a target without a model", () => {
    const draft = draftOf({ ...combo, targets: [{ model: " " }, ...combo.targets] })
    const targets = draft.targets.map((target) => (target.model === "a/b" ? { ...target, weight: "many" } : target))
    const { value, wrong } = readDraft({ ...draft, targets }, combo, schema)
    assert.deepStrictEqual(wrong, { "targets.1.weight": "number" })
    assert.deepStrictEqual(
      value.targets.map(({ model }) => model),
      ["a/b", "c/d"]
    )
  })

  it("moves a target within its list, and shares by weight where one without counts as 1", () => {
    assert.deepStrictEqual(moved(["a", "b", "c"], 0, 2), ["b", "c", "a"])
    assert.deepStrictEqual(moved(["a", "b", "c"], 0, 3), ["a", "b", "c"])
    assert.deepStrictEqual(sharesOf(["3", "", "0", "-1", "x"]), [0.75, 0.25, 0, 0, 0])
    assert.deepStrictEqual(sharesOf(["0"]), [0])
  })
})
