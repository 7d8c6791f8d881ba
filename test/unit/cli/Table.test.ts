import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import { fields, fit, table, widthOf } from "../../../src/cli/output/Table.ts"
import { harmless } from "../../../src/kernel/text/TerminalText.ts"

interface Pet {
  readonly name: string
  readonly legs: number
}

const columns = [
  { header: "NAME", value: (pet: Pet) => pet.name, fit: "cut" as const },
  { header: "LEGS", value: (pet: Pet) => String(pet.legs), align: "right" as const, fit: "keep" as const }
]

const at = (width: number | null) => ({ columns: width, nowMs: 0, wide: false })

describe("table", () => {
  it("gives each column the width of its widest cell", () => {
    const pets = [
      { name: "tortoise", legs: 4 },
      { name: "hen", legs: 2 }
    ]
    assert.strictEqual(table(pets, columns, at(null)), "NAME      LEGS\ntortoise     4\nhen          2")
  })

  it("shortens the widest column to fit the terminal", () => {
    const text = table([{ name: "a very long name indeed", legs: 4 }], columns, at(20))
    assert.strictEqual(text, "NAME            LEGS\na very long n…     4")
  })

  it("counts wide characters as two cells", () => {
    assert.strictEqual(widthOf("日本"), 4)
    assert.strictEqual(widthOf("e\u0301"), 1)
    assert.strictEqual(fit("日本語", 4), "日…")
    const pets = [
      { name: "日本", legs: 1 },
      { name: "abcd", legs: 2 }
    ]
    assert.strictEqual(table(pets, columns, at(null)), "NAME  LEGS\n日本     1\nabcd     2")
  })

  it("lets no value drive the terminal", () => {
    assert.strictEqual(harmless("a\u001b[31mb\nc\u202ed"), "a?[31mb?c?d")
    assert.notInclude(table([{ name: "\u001b]0;x\u0007", legs: 1 }], columns, at(null)), "\u001b")
  })

  it("never makes a line wider than the terminal while columns can shrink", () => {
    const pet = FastCheck.record({ name: FastCheck.string({ unit: "grapheme" }), legs: FastCheck.nat(9) })
    FastCheck.assert(
      FastCheck.property(FastCheck.array(pet), FastCheck.integer({ min: 20, max: 120 }), (pets, width) => {
        const lines = table(pets, columns, at(width)).split("\n")
        assert.strictEqual(lines.length, pets.length + 1)
        for (const line of lines) assert.isAtMost(widthOf(line), width)
      }),
      { seed: 11 }
    )
  })
})

describe("fields", () => {
  it("lines up values", () => {
    assert.strictEqual(
      fields([
        ["a", "1"],
        ["long", "2"]
      ]),
      "a     1\nlong  2"
    )
  })
})
