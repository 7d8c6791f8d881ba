import { assert, describe, it } from "@effect/vitest"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as FastCheck from "effect/FastCheck"
import * as Schema from "effect/Schema"
import * as Column from "../../../src/cli/output/Column.ts"
import { csv, csvOfObjects, fieldName } from "../../../src/cli/output/Csv.ts"
import { type Format, formats, OutputFormat } from "../../../src/cli/output/Format.ts"
import * as Output from "../../../src/cli/output/Output.ts"
import { Screen } from "../../../src/cli/output/Screen.ts"
import { table, widthOf } from "../../../src/cli/output/Table.ts"
import { localTime } from "../../../src/cli/output/Time.ts"

const Lamp = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  watts: Schema.NullOr(Schema.Number),
  lit: Schema.Boolean,
  bought: Schema.NullOr(Schema.String),
  note: Schema.NullOr(Schema.String)
})
type Lamp = typeof Lamp.Type
const Lamps = Schema.Struct({ lamps: Schema.Array(Lamp), nextCursor: Schema.NullOr(Schema.String) })

const columns: ReadonlyArray<Column.Column<Lamp>> = [
  Column.name("NAME", ({ name }) => name),
  Column.number("WATTS", ({ watts }) => watts),
  Column.yesNo("LIT", ({ lit }) => lit),
  Column.time("BOUGHT", ({ bought }) => bought),
  Column.prose("NOTE", ({ note }) => note),
  Column.text("MAKER", () => "Lumen & Sons", { in: "wide" }),
  Column.id("ID", ({ id }) => id)
]

const ids = ["01a2051c-95b2-7000-b3e1-8caaabfd1fa4", "01a2051c-95b2-7000-b3e1-9caaabfd1fa4"] as const
const lamps: ReadonlyArray<Lamp> = [
  { id: ids[0], name: "desk", watts: 5, lit: true, bought: "2030-01-02T03:04:05.000Z", note: 'says "hi", often' },
  { id: ids[1], name: "-hall", watts: null, lit: false, bought: null, note: "=1+1" }
]

const printed = (work: Effect.Effect<void>, format: Format, width: number | null = null) =>
  Effect.gen(function* () {
    const out: Array<string> = []
    const err: Array<string> = []
    const console = yield* Console.consoleWith(Effect.succeed)
    yield* work.pipe(
      Effect.provideService(OutputFormat, format),
      Effect.provideService(Screen, { columns: () => width }),
      Effect.withConsole({
        ...console,
        log: (...text) => Effect.sync(() => void out.push(text.join(" "))),
        error: (...text) => Effect.sync(() => void err.push(text.join(" ")))
      })
    )
    return { stdout: out.join("\n"), stderr: err.join("\n") }
  })

const list = (rows: ReadonlyArray<Lamp>) =>
  Output.list({ schema: Lamps, value: { lamps: rows, nextCursor: null }, rows, columns, empty: "There are no lamps." })

describe("a list", () => {
  it.effect("is a table with numbers at the right, short ids that stay apart, and what only 'wide' has left out", () =>
    Effect.gen(function* () {
      const { stdout } = yield* printed(list(lamps), "table")
      const [head = "", first = "", second = ""] = stdout.split("\n")
      assert.match(head, /^NAME +WATTS +LIT +BOUGHT +NOTE +ID$/)
      assert.isTrue(first.endsWith(ids[0].slice(0, 25)), first)
      assert.isTrue(second.endsWith(ids[1].slice(0, 25)), second)
      assert.strictEqual(first.indexOf("5") + 1, head.indexOf("WATTS") + "WATTS".length)
      assert.notInclude(stdout, "Lumen")
      const wide = yield* printed(list(lamps), "wide", 40)
      assert.include(wide.stdout, "Lumen & Sons")
      assert.include(wide.stdout, ids[1])
    })
  )

  it.effect("is the answer of the contract in json, and its rows in jsonl", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(JSON.parse((yield* printed(list(lamps), "json")).stdout), { lamps, nextCursor: null })
      const lines = (yield* printed(list(lamps), "jsonl")).stdout.split("\n")
      assert.deepStrictEqual(
        lines.map((line): unknown => JSON.parse(line)),
        [...lamps]
      )
    })
  )

  it.effect("is csv with every column, whole ids, ISO times and no formulas", () =>
    Effect.gen(function* () {
      const { stdout } = yield* printed(list(lamps), "csv")
      assert.strictEqual(
        stdout,
        [
          "name,watts,lit,bought,note,maker,id\r\n",
          `desk,5,true,2030-01-02T03:04:05.000Z,"says ""hi"", often",Lumen & Sons,${ids[0]}\r\n`,
          `'-hall,,false,,'=1+1,Lumen & Sons,${ids[1]}\r`
        ].join("")
      )
    })
  )

  it.effect("is a name a line with 'name'", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* printed(list(lamps), "name")).stdout, "desk\n-hall")
    })
  )

  it.effect("says that it is empty to people only, and on stderr", () =>
    Effect.gen(function* () {
      for (const format of formats) {
        const { stderr, stdout } = yield* printed(list([]), format)
        assert.strictEqual(stderr, format === "table" || format === "wide" ? "There are no lamps." : "", format)
        if (format === "json") assert.deepStrictEqual(JSON.parse(stdout), { lamps: [], nextCursor: null })
        else if (format !== "csv") assert.strictEqual(stdout, "")
      }
    })
  )
})

describe("a result", () => {
  const result = Output.result({
    schema: Schema.Struct({ lamp: Lamp }),
    value: { lamp: lamps[0] ?? { id: "", name: "", watts: 0, lit: false, bought: null, note: null } },
    text: Output.note("The lamp is lit."),
    name: "desk"
  })

  it.effect("is a sentence for people and the record for programs", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* printed(result, "table"), { stdout: "", stderr: "The lamp is lit." })
      assert.deepStrictEqual(yield* printed(result, "name"), { stdout: "desk", stderr: "" })
      assert.deepStrictEqual(JSON.parse((yield* printed(result, "json")).stdout), { lamp: lamps[0] })
      assert.notInclude((yield* printed(result, "jsonl")).stdout, "\n")
      assert.include((yield* printed(result, "csv")).stdout, "id,name,watts,lit,bought,note\r\n")
    })
  )
})

describe("a table that is wider than the terminal", () => {
  const layout = (width: number) => ({ columns: width, nowMs: 0, wide: false })

  it("leaves out columns from the right, and shortens prose only", () => {
    const [head = ""] = table(lamps, columns, layout(60)).split("\n")
    assert.match(head, /^NAME .* ID$/)
    assert.notInclude(head, "BOUGHT")
    const narrow = table(lamps, columns, layout(34))
    for (const { id, name } of lamps) assert.match(narrow, new RegExp(`^${name} .*${id.slice(0, 25)}$`, "m"))
  })

  it("never cuts or leaves out a name or an id", () => {
    const lamp = FastCheck.record({
      id: FastCheck.uuid(),
      name: FastCheck.stringMatching(/^[a-z]{1,30}$/),
      watts: FastCheck.option(FastCheck.nat(100_000)),
      lit: FastCheck.boolean(),
      bought: FastCheck.constant(null),
      note: FastCheck.option(FastCheck.string())
    })
    FastCheck.assert(
      FastCheck.property(
        FastCheck.array(lamp, { maxLength: 8 }),
        FastCheck.integer({ min: 10, max: 120 }),
        (rows, width) => {
          const short = Column.shortener(rows.map(({ id }) => id))
          const lines = table(rows, columns, layout(width)).split("\n")
          rows.forEach(({ id, name }, index) => {
            const line = lines[index + 1] ?? ""
            assert.isTrue(line.startsWith(name), line)
            assert.isTrue(line.endsWith(short(id)), line)
            // Nothing but what has to be whole makes a line wider.
            const whole = Math.max(4, ...rows.map((row) => row.name.length)) + 2 + Math.max(2, short(id).length)
            assert.isAtMost(widthOf(line), Math.max(width, whole))
          })
        }
      ),
      { seed: 5 }
    )
  })

  it("shortens ids so that each is the beginning of one only", () => {
    FastCheck.assert(
      FastCheck.property(FastCheck.array(FastCheck.uuid(), { minLength: 1, maxLength: 30 }), (all) => {
        const short = Column.shortener(all)
        for (const id of all) {
          assert.isAtLeast(short(id).length, 8)
          assert.lengthOf(
            [...new Set(all)].filter((each) => each.startsWith(short(id))),
            1
          )
        }
      }),
      { seed: 7 }
    )
    assert.strictEqual(Column.shortener(["env:openai"])("env:openai"), "env:openai")
  })
})

describe("csv", () => {
  it("can be read back by the rules of RFC 4180", () => {
    const read = (text: string): ReadonlyArray<ReadonlyArray<string>> =>
      [...text.matchAll(/((?:(?:"(?:[^"]|"")*"|[^",\r\n]*),?)*)\r\n/g)].map(([, record = ""]) =>
        [...`${record},`.matchAll(/("(?:[^"]|"")*"|[^",\r\n]*),/g)].map(([, cell = ""]) =>
          cell.startsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell
        )
      )
    const cell = FastCheck.stringMatching(/^[a-z ,"\n;]{0,12}$/)
    FastCheck.assert(
      FastCheck.property(FastCheck.array(FastCheck.tuple(cell, cell), { minLength: 1 }), (records) => {
        assert.deepStrictEqual(read(csv(records)), records)
      }),
      { seed: 3 }
    )
  })

  it("makes formulas harmless, but leaves numbers", () => {
    assert.strictEqual(csv([["=a", "+b", "-c", "@d", "\te", -5]]), "'=a,'+b,'-c,'@d,'\te,-5\r\n")
  })

  it("names fields as the API does, and takes objects as they are", () => {
    assert.strictEqual(fieldName("DEFAULT MODEL"), "defaultModel")
    assert.strictEqual(
      csvOfObjects([
        { a: 1, b: null },
        { a: "x", c: [1] }
      ]),
      "a,b,c\r\n1,,\r\nx,,[1]\r\n"
    )
  })
})

describe("localTime", () => {
  it("shows the time of today, and the day of other days", () => {
    const here = new Date(2030, 5, 15, 9, 8, 7)
    const nowMs = new Date(2030, 5, 15, 23).getTime()
    assert.strictEqual(localTime(here.toISOString(), nowMs), "09:08:07")
    assert.strictEqual(localTime(here.toISOString(), nowMs + 86_400_000), "2030-06-15 09:08")
    assert.strictEqual(localTime(null, nowMs), "-")
  })
})
