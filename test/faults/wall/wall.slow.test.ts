/**
 * The fault wall: every fault × streamed or not × one target or two × the official SDKs of three wires. `npm run faults` runs all of
 * it and prints the table; a plain test run takes some of it and a slow one twice as much, without the heaviest rows, and they print the
 * table only when something is wrong. `FAULTS=503,cut` runs the rows whose names contain a word, `WORKERS=4` and
 * `TEST_STORE=postgres` all over the built program.
 */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import { once } from "node:events"
import { createServer } from "node:net"
import type { AddressInfo } from "node:net"
import * as Fake from "../../support/FakeUpstream.ts"
import * as Program from "../../support/Program.ts"
import * as TestGateway from "../../support/TestGateway.ts"
import { type Cell, open, type Row, type Wall } from "./Cell.ts"
import { type Fault, provider } from "./Fault.ts"
import { oddAnswers, slow } from "./faults/answers.ts"
import { network, streams } from "./faults/breaks.ts"
import { accounts, rateLimits, requests, troubles } from "./faults/statuses.ts"
import { serve } from "./Provider.ts"
import * as Story from "./Story.ts"
import { nameOf, render, type Verdict, ways } from "./Table.ts"
import { problems } from "./Verdict.ts"

const all = [...network, ...slow, ...rateLimits, ...accounts, ...requests, ...troubles, ...oddAnswers, ...streams]

/** Cells of a row that run side by side. */
const atOnce = 12

/** `all`, or words that the names of the wanted rows contain. */
const wanted = process.env["FAULTS"] ?? ""
const words = wanted.split(",").filter((word) => word !== "" && word !== "all")
const isWanted = ({ name, oneByOne }: Fault): boolean =>
  words.length > 0 ? words.some((word) => name.includes(word)) : wanted === "all" || oneByOne !== true
const faults = all.filter(isWanted)

/** A plain run has no translated ways, and of the rows that would have none anyway it takes one wire each, in turn. */
const isInPlainRun = ({ client, upstream }: (typeof ways)[number], fault: Fault): boolean =>
  client === upstream && (fault.translated === true || ways[all.indexOf(fault) % 3]?.client === client)

const tellsToolsWhole = ({ client }: (typeof ways)[number]): boolean => client === "gemini" || client === "ollama"

const cellsOf = (fault: Fault): ReadonlyArray<Cell> => {
  const cells: Array<Cell> = []
  for (const way of ways) {
    if (way.client !== way.upstream && !fault.translated) continue
    if (wanted === "" && !isInPlainRun(way, fault)) continue
    if (fault.wires !== undefined && !fault.wires.includes(way.upstream)) continue
    for (const streamed of [false, true]) {
      const told = streamed ? fault.stream : fault.whole
      if (told === null) continue
      // A tool call that breaks has not begun for a client whose wire tells it in one piece.
      const expected = told.ends === "broken" && fault.asksForTool && tellsToolsWhole(way) ? provider(502) : told
      cells.push({ ...way, fault, expected, streamed, targets: 1 })
      if (!fault.oneByOne) cells.push({ ...way, fault, expected, streamed, targets: 2 })
    }
  }
  return cells
}

/** A port without a listener. */
const closedPort = async (): Promise<number> => {
  const server = createServer().listen(0, "127.0.0.1")
  await once(server, "listening")
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, "close")
  return port
}

describe("the fault wall", () => {
  const verdicts: Array<Verdict> = []
  const scope = Effect.runSync(Scope.make())
  let wall: Wall

  beforeAll(async () => {
    const within = <A>(effect: Effect.Effect<A, never, Scope.Scope>): Promise<A> =>
      Effect.runPromise(Scope.extend(effect, scope))
    const { adminKey, client, start } = TestGateway
    const gateway = await within(
      Program.isAsked ? Effect.map(Program.start({ GATEWAY_ADMIN_KEY: adminKey }), ({ url }) => client(url)) : start()
    )
    wall = await open(gateway, serve(await within(Fake.start), all), await closedPort())
  })

  afterAll(async () => {
    if (wanted !== "" || verdicts.some(({ problems: found }) => found.length > 0)) {
      process.stdout.write(`\n${render(verdicts)}\n`)
    }
    await Effect.runPromise(Scope.close(scope, Exit.void))
  })

  const judge = async (cell: Cell): Promise<Verdict> => {
    const seen = await wall.run(cell)
    const verdict = { cell, seen, problems: problems(cell, seen) }
    verdicts.push(verdict)
    return verdict
  }

  it("tells a story of sixty words", () => {
    assert.strictEqual(Story.wordList.length, 60)
    assert.strictEqual(Story.pieces.join(""), Story.text)
  })

  for (const fault of faults) {
    it(`${fault.name}`, { timeout: 120_000 }, async () => {
      await wall.startRow(fault.timeouts ?? {})
      const cells = cellsOf(fault)
      const judged: Array<Verdict> = []
      const queue = [...cells]
      const worker = async (): Promise<void> => {
        for (let cell = queue.shift(); cell !== undefined; cell = queue.shift()) judged.push(await judge(cell))
      }
      await Promise.all(Array.from({ length: fault.oneByOne ? 1 : atOnce }, worker))
      const bad = judged.filter((verdict) => verdict.problems.length > 0)
      assert.isEmpty(bad.map(({ cell, problems: found }) => `${nameOf(cell)}: ${found.join("; ")}`).join("\n"))
    })
  }

  it("exactly one usage row for every request", async () => {
    const counted = new Map<string, number>()
    let cursor: string | null = null
    do {
      const page: { logs: ReadonlyArray<Row>; nextCursor: string | null } = await wall.gateway.manage(
        "GET",
        `/api/usage/logs?limit=1000${cursor === null ? "" : `&cursor=${cursor}`}`
      )
      for (const { requestedModel } of page.logs) counted.set(requestedModel, (counted.get(requestedModel) ?? 0) + 1)
      cursor = page.nextCursor
    } while (cursor !== null)
    assert.deepStrictEqual(counted, new Map(wall.sent))
  })
})
