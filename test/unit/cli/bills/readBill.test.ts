/** Exports of both providers in the shapes they have, and files that are none. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { readBill } from "../../../../src/subjects/usage/commands/cost/readBill.ts"

const fixture = (name: string): string => new URL(`../../../fixtures/bills/${name}`, import.meta.url).pathname

const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "bills-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true }))
)

const written = (content: string | Buffer) =>
  Effect.map(folder, (path) => {
    const file = join(path, "bill")
    writeFileSync(file, content)
    return file
  })

const shown = (name: string) =>
  Effect.map(readBill(fixture(name)), ({ billed, ...bill }) => ({
    ...bill,
    billed: billed.map(({ date, item, lines, usd }) => [date, item, Number(usd.toFixed(12)), lines])
  }))

describe("a provider's bill", () => {
  it.effect("is read from the answer of OpenAI's costs API, whose amounts are numbers or decimal texts", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* shown("openai-costs.json"), {
        form: "openai-costs-json",
        inCents: false,
        goesOn: false,
        billed: [
          ["2026-09-19", "gpt-4o-mini-2024-07-18, input", 0.00015, 1],
          ["2026-09-19", "gpt-4o-mini-2024-07-18, cached input", 0.0000375, 1],
          ["2026-09-19", "gpt-4o-mini-2024-07-18, output", 0.00012, 1],
          ["2026-09-19", "web search tool calls", 0.01, 1]
        ]
      })
    })
  )

  it.effect("is read from OpenAI's export, which may name nothing but days", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* shown("openai-costs.csv"), {
        form: "openai-costs-csv",
        inCents: false,
        goesOn: false,
        billed: [
          ["2026-09-19", null, 0.895874, 1],
          ["2026-09-20", null, 0, 1],
          ["2026-09-21", null, 0.3409, 1]
        ]
      })
    })
  )

  it.effect("is read from the answer of Anthropic's cost report, whose amounts are cents", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* shown("anthropic-cost.json"), {
        form: "anthropic-cost-json",
        inCents: false,
        goesOn: true,
        billed: [
          ["2026-09-19", "claude-sonnet-4-5-20250929", 1.2438912, 2],
          ["2026-09-19", "Web Search Usage", 0.02, 1]
        ]
      })
    })
  )

  it.effect("is read from Anthropic's export, keys and kinds of tokens together", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* shown("anthropic-cost.csv"), {
        form: "anthropic-cost-csv",
        inCents: true,
        goesOn: false,
        billed: [
          ["2026-09-19", "Claude Haiku 4.5", 0.17, 3],
          ["2026-09-20", "web_search", 0.01, 1]
        ]
      })
    })
  )

  it.scoped("may be several pages in a list, or values between semicolons or tabs", () =>
    Effect.gen(function* () {
      const page = { data: [{ start_time: 1_789_776_000, results: [{ amount: { value: 1, currency: "usd" } }] }] }
      const pages = yield* written(
        JSON.stringify([
          { ...page, has_more: true },
          { ...page, has_more: false }
        ])
      )
      const both = yield* readBill(pages)
      assert.deepStrictEqual([both.billed[0]?.usd, both.goesOn], [2, false])
      for (const separator of [";", "\t"]) {
        const file = yield* written(`usage_date_utc,model,cost_usd\n2026-09-19,m,1.5\n`.replaceAll(",", separator))
        const { billed } = yield* readBill(file)
        assert.deepStrictEqual(billed, [{ date: "2026-09-19", item: "m", usd: 1.5, lines: 1 }])
      }
    })
  )

  const header = "usage_date_utc,model,cost_usd\n"
  const bucket = (result: object): string =>
    JSON.stringify({ data: [{ start_time: 1_789_776_000, results: [result] }] })
  const broken: ReadonlyArray<readonly [what: string, content: string | Buffer, problem: string]> = [
    ["nothing", "", "is empty"],
    ["blanks", " \n \n", "is empty"],
    ["a picture", Buffer.from("89504e470d0a1a0a0000000d49484452", "hex"), "is no text"],
    ["JSON that is cut", JSON.stringify({ data: [] }).slice(0, 7), "is cut short"],
    ["very deep JSON", "[".repeat(200_000), "is cut short"],
    ["other JSON", '{"users":[]}', "is no cost export"],
    ["a list of numbers", "[1,2]", "is no cost export"],
    ["a report of no day", '{"data":[]}', "has no day in it"],
    [
      "a usage report",
      bucket({ object: "organization.usage.completions.result", input_tokens: 1 }),
      "has tokens and no amounts"
    ],
    ["another currency", bucket({ amount: { value: 1, currency: "eur" } }), "is not in USD"],
    [
      "an amount that is none",
      bucket({ amount: { value: "1e999", currency: "usd" } }),
      "has an amount that is no number"
    ],
    ["a negative infinity", `${header}2026-09-19,m,-Infinity\n`, "has an amount that is no number"],
    [
      "a day that is none",
      JSON.stringify({ data: [{ start_time: 1e300, results: [{ amount: {} }] }] }),
      "has a day that is none"
    ],
    ["another table", "name,age\nada,36\n", "is no cost export"],
    ["prose", "Dear customer,\nthank you.\n", "is no cost export"],
    ["a usage table", "usage_date_utc,usage_input_tokens_no_cache\n2026-09-19,7\n", "has tokens and no amounts"],
    ["a table without rows", header, "has no amount in it"],
    ["a table whose last row is cut", `${header}2026-09-19,m,1\n2026-09-1`, "is cut short"],
    ["a quote that stays open", `${header}2026-09-19,"m,1\n`, "is cut short"],
    ["a row without an end", `${header}${"x".repeat(100_000)}`, "is cut short"],
    [
      "more items than an account has",
      `${header}${Array.from({ length: 50_001 }, (_, n) => `2026-09-19,m${n},1\n`).join("")}`,
      "has more than 50000 days and items"
    ]
  ]
  for (const [what, content, problem] of broken) {
    it.scoped(`is not read from ${what}`, () =>
      Effect.gen(function* () {
        const file = yield* written(content)
        const failure = yield* Effect.flip(readBill(file))
        assert.strictEqual(failure._tag, "BadArgument")
        assert.include(failure.message, `'${file}' ${problem}`)
      })
    )
  }

  it.scoped("is not read from a folder, or a file that is not there", () =>
    Effect.gen(function* () {
      const path = yield* folder
      mkdirSync(join(path, "bills"))
      assert.include((yield* Effect.flip(readBill(join(path, "bills")))).message, "is no file")
      assert.include((yield* Effect.flip(readBill(join(path, "none")))).message, "cannot be read")
    })
  )
})
