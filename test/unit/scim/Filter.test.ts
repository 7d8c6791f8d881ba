/** Filters of SCIM: what they find, and what they refuse. */
import { assert, describe, it } from "@effect/vitest"
import { ScimError } from "../../../src/subjects/scim/entity.ts"
import { type Attributes, readFilter, testOf, valuesIn } from "../../../src/subjects/scim/Filter.ts"

interface Thing {
  readonly name: string
  readonly id: string | null
  readonly active: boolean
}

const attributes: Attributes<Thing> = {
  name: { isExact: false, valuesOf: ({ name }) => [name] },
  id: { isExact: true, valuesOf: ({ id }) => [id] },
  active: { isExact: false, valuesOf: ({ active }) => [active] },
  members: { isExact: true, valuesOf: () => [], has: ({ name }, value) => name === value }
}

const things: ReadonlyArray<Thing> = [
  { name: 'A "quoted" name', id: "X", active: true },
  { name: "Bob", id: null, active: false },
  { name: "and", id: "x", active: true }
]

const found = (text: string): string => {
  const filter = readFilter(text)
  if (filter instanceof ScimError) return filter.detail
  const test = testOf(filter, attributes)
  return test instanceof ScimError ? test.detail : things.flatMap((thing, at) => (test(thing) ? [at] : [])).join(" ")
}

describe("a filter", () => {
  for (const [text, expected] of [
    ['name eq "bob"', "1"],
    ['NAME Eq "BOB"', "1"],
    ['id eq "x"', "2"],
    ['id ne "x"', "0 1"],
    ["id eq null", "1"],
    ["id ne null", "0 2"],
    ["id pr", "0 2"],
    ['name sw "a"', "0 2"],
    ['name ew "NAME"', "0"],
    ['name co "\\"quoted\\""', "0"],
    ['name co "\\u0022quoted"', "0"],
    ["active eq true", "0 2"],
    ['active eq "False"', "1"],
    ["active eq TRUE", "0 2"],
    // `and` binds more strongly than `or`.
    ['name eq "bob" or active eq true and id eq "x"', "1 2"],
    ['(name eq "bob" or active eq true) and id eq "x"', "2"],
    ['not (active eq true) or name eq "and"', "1 2"],
    ['members eq "Bob"', "1"],
    ['members ne "Bob"', "0 2"],
    ['members co "Bob"', "Members are compared by 'eq' and 'ne' with a text only."],
    ["id co null", "null is compared by 'eq' and 'ne' only."],
    ['constructor eq "a"', "Resources are filtered by name, id, active, members."],
    ["name eq", "A comparison in the filter has no value."],
    ["name eq bob", "A value in the filter is neither a text in quotes, a number, true, false nor null."],
    ['name eq "a" name', "The filter goes on where it should end."],
    ['name eq "a" and', "The filter lacks the name of an attribute."],
    ['(name eq "a"', "The filter has a parenthesis that is not closed."],
    ['not name eq "a"', "'not' in the filter needs parentheses."],
    ["", "The filter lacks the name of an attribute."],
    ['name gt "a"', "The filter has an operator besides eq, ne, co, sw, ew and pr."],
    ['name eq "a', "The filter has a text without its closing quote."]
  ] as const) {
    it(`${text === "" ? "of no text" : text} gives ${expected}`, () => assert.strictEqual(found(text), expected))
  }

  it("that names members by their values says which", () => {
    const valuesOf = (text: string) => {
      const filter = readFilter(text)
      return filter instanceof ScimError ? null : valuesIn(filter)
    }
    assert.deepStrictEqual(valuesOf('value eq "a" or value eq "b"'), ["a", "b"])
    assert.isNull(valuesOf('value eq "a" and value eq "b"'))
    assert.isNull(valuesOf('value sw "a"'))
  })
})
