import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { aggressive } from "../../../src/plane/compression/engines/Aggressive.ts"
import { isFaithful } from "../../../src/plane/compression/Spans.ts"
import { ultra } from "../../../src/plane/compression/ultra/Ultra.ts"

const pieces = [
  "The build is really very slow. ",
  "We decided to use the cache of the runner.\n",
  "I looked at it for a while and it was quite interesting.\n\n",
  "Do not delete /etc/passwd, it is the only copy. ",
  "It took 12.5 s, as `npm test` says. ",
  "```ts\nconst a = 1\n\n\nlet b\n```\n",
  "Plan A is better. ",
  "> the quote is of the author\n",
  "- the item of a list\n",
  "Error: the file was missing\n",
  "Der Bau ist sehr langsam, und die Datei ist nicht das, was sie war. ",
  "El archivo es muy grande y la casa está bien con los que son. ",
  "see https://example.com/a?b=1. ",
  "这 是 文件。",
  "\ud800",
  "a\n".repeat(40),
  "same line of output here\n".repeat(5),
  "  \n"
]

const text = fc
  .array(
    fc.oneof(
      { weight: 4, arbitrary: fc.constantFrom(...pieces) },
      { weight: 1, arbitrary: fc.string({ unit: "binary" }) }
    ),
    {
      minLength: 1,
      maxLength: 14
    }
  )
  .map((parts) => parts.join(""))

const engines: ReadonlyArray<readonly [string, (given: string) => string | null]> = [
  ["ultra", (given) => ultra(given)],
  ["aggressive", (given) => aggressive(given, "text")],
  ["aggressive, on an output", (given) => aggressive(given, "tool-result")],
  ...(["light", "moderate", "full"] as const).flatMap((depth) => [
    [`aggressive, ${depth}`, (given: string) => aggressive(given, "text", depth)] as const,
    [`aggressive, ${depth}, on an output`, (given: string) => aggressive(given, "tool-result", depth)] as const
  ])
]

describe("engines for prose", () => {
  for (const [name, engine] of engines) {
    it(`${name}: smaller, faithful, and the same once more`, () => {
      fc.assert(
        fc.property(text, (given) => {
          const once = engine(given)
          if (once === null) return
          assert.isBelow(once.length, given.length)
          assert.isTrue(isFaithful(given, once))
          assert.strictEqual(engine(once) ?? once, once)
          assert.strictEqual(engine(given), once)
        }),
        { numRuns: 400 }
      )
    })
  }
})
