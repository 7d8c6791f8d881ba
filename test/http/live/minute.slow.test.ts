/** A minute of random traffic: the sums of the feed and the usage log say the same of it, to the token and to the nano-dollar. */
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { setTimeout as delay } from "node:timers/promises"
import { makeSeededRandom, type SeededRandom } from "../../../src/kernel/SeededRandom.ts"
import * as Fake from "../../support/FakeUpstream.ts"
import * as TestGateway from "../../support/TestGateway.ts"
import { eventually } from "../../support/eventually.ts"
import { open } from "../ws/support.ts"

const bearer = { authorization: `Bearer ${TestGateway.adminKey}` }
const minuteMs = 60_000
const nanoUsd = 1e9
const clients = 12

interface Row {
  readonly requestId: string
  readonly outcome: "completed" | "failed" | "aborted"
  readonly provider: string | null
  readonly tokens: { readonly in: number; readonly out: number }
  readonly costUsd: number
}

const blank = () => ({ completed: 0, failed: 0, aborted: 0, tokensIn: 0, tokensOut: 0, costNanoUsd: 0 })
type Sums = ReturnType<typeof blank>

type Figures = Omit<Sums, "costNanoUsd"> & { readonly costUsd: number }

const add = (sums: Sums, figures: Figures): void => {
  for (const name of ["completed", "failed", "aborted", "tokensIn", "tokensOut"] as const) sums[name] += figures[name]
  sums.costNanoUsd += Math.round(figures.costUsd * nanoUsd)
}

const sumsOf = (rows: ReadonlyArray<Row>): Sums => {
  const sums = blank()
  for (const { costUsd, outcome, tokens } of rows) {
    add(sums, { ...blank(), [outcome]: 1, tokensIn: tokens.in, tokensOut: tokens.out, costUsd })
  }
  return sums
}

const setUp = Effect.gen(function* () {
  const gateway = yield* TestGateway.start()
  const [good, bad] = [yield* Fake.start, yield* Fake.start]
  good.always(Fake.json(Fake.chatCompletion({ text: "served", usage: { in: 7, out: 3 } })))
  bad.always(Fake.json({ error: { message: "no" } }, { status: 400 }))
  yield* Effect.promise(async () => {
    await gateway.connect("good", good, "chat")
    await gateway.connect("bad", bad, "chat")
    await gateway.combo("pair", "bad/m", "good/m")
    await gateway.manage("PATCH", "/api/pricing", { good: { m: { input: 3, output: 15 } } })
  })
  return gateway
})

/** One request of random form; some of the clients leave at a random moment. */
const askOnce = async (gateway: TestGateway.TestGateway, random: SeededRandom): Promise<void> => {
  const model = ["good/m", "good/m", "pair", "bad/m", "nowhere/x"][random.below(5)] ?? "good/m"
  const path = random.below(4) === 0 ? "/v1/messages" : "/v1/chat/completions"
  const leaving = new AbortController()
  const body = {
    model,
    stream: random.below(3) === 0,
    max_tokens: 1 + random.below(50),
    messages: [{ role: "user", content: "x".repeat(random.below(2_000)) }]
  }
  const asked = fetch(gateway.url + path, {
    method: "POST",
    headers: { ...bearer, "content-type": "application/json" },
    body: JSON.stringify(body),
    signal: leaving.signal
  }).then((answer) => answer.arrayBuffer())
  if (random.below(6) === 0) {
    await delay(random.below(8))
    leaving.abort()
  }
  await asked.catch(() => undefined)
}

const allRows = async (gateway: TestGateway.TestGateway): Promise<ReadonlyArray<Row>> => {
  const rows: Array<Row> = []
  let cursor: string | null = ""
  while (cursor !== null) {
    const page: { readonly logs: ReadonlyArray<Row>; readonly nextCursor: string | null } = await gateway.manage(
      "GET",
      `/api/usage/logs?limit=1000${cursor === "" ? "" : `&cursor=${encodeURIComponent(cursor)}`}`
    )
    for (const row of page.logs) rows.push(row)
    cursor = page.nextCursor
  }
  return rows
}

it.scopedLive(
  "adds up to the log exactly",
  () =>
    Effect.gen(function* () {
      const gateway = yield* setUp
      const client = yield* open(gateway, "/api/live", bearer)
      yield* Effect.promise(async () => {
        client.send({ type: "subscribe", channels: ["stats"] })
        const sums = blank()
        const parts = blank()
        const listening = (async () => {
          for (;;) {
            const frame = await client.next().catch(() => null)
            if (frame === null) return
            if (frame.channel !== "stats") continue
            add(sums, frame.data)
            for (const part of [...frame.data.byProvider, ...(frame.data.rest === null ? [] : [frame.data.rest])]) {
              add(parts, part)
            }
          }
        })()
        const random = makeSeededRandom(20_261_126)
        const endsMs = performance.now() + minuteMs
        const traffic = async (): Promise<void> => {
          while (performance.now() < endsMs) await askOnce(gateway, random)
        }
        await Promise.all(Array.from({ length: clients }, traffic))
        const count = (of: Sums): number => of.completed + of.failed + of.aborted
        const rows = await eventually(
          "the sums of all rows",
          () => allRows(gateway),
          (all) => all.length > 0 && all.length === count(sums)
        )
        const expected = sumsOf(rows)
        assert.isAbove(expected.completed, 0)
        assert.isAbove(expected.failed, 0)
        assert.isAbove(expected.aborted, 0)
        assert.isAbove(expected.costNanoUsd, 0)
        assert.deepStrictEqual(sums, expected)
        assert.deepStrictEqual(parts, expected)
        void listening
      })
    }),
  180_000
)
