/** A stream cut in the middle is continued in every client's wire, from every upstream's wire to every other: official clients only. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { WireName } from "../../../../src/contract/domain/Wire.ts"
import * as Fake from "../../../support/FakeUpstream.ts"
import { counted } from "../../../support/slowRun.ts"
import * as TestGateway from "../../../support/TestGateway.ts"
import { answer, ask, cut, wires } from "./Streams.ts"

const first = ["The quick", " brown fox"]
const second = [" jumps over", " the lazy dog."]
const story = "The quick brown fox jumps over the lazy dog."

/** What the second target was shown of the answer. */
const shown = (body: string): string => {
  const { contents, input, messages } = JSON.parse(body) as Record<string, ReadonlyArray<unknown>>
  return JSON.stringify(contents ?? input ?? messages)
}

const prefills: ReadonlySet<WireName> = new Set(["messages", "gemini"])

/** Triples of a client and two upstreams. A plain run takes those in which each two of the three meet once; a slow one takes all. */
const targetsOf = (client: WireName, from: WireName): ReadonlyArray<WireName> => {
  const turn = wires.indexOf(client) + wires.indexOf(from)
  return counted(
    wires.filter((_, index) => (turn + index) % wires.length === 0),
    wires
  )
}

for (const client of wires) {
  describe(`a cut stream in front of the official client of ${client}`, () => {
    it.scopedLive(
      "goes on, whatever the upstreams speak",
      () =>
        Effect.gen(function* () {
          const gateway = yield* TestGateway.start({
            environment: new Map([["STREAM_RECOVERY_MIDSTREAM_ENABLED", "true"]])
          })
          for (const from of wires) {
            for (const to of targetsOf(client, from)) {
              const [one, two] = [yield* Fake.start, yield* Fake.start]
              one.always(cut(from, first, { usage: { in: 20, out: 9 } }))
              two.always(answer(to, second, { usage: { in: 30, out: 5 } }))
              const name = `${client}-${from}-${to}`
              yield* Effect.promise(async () => {
                await gateway.connect(`a-${name}`, one, from)
                await gateway.connect(`b-${name}`, two, to)
                await gateway.combo(name, `a-${name}/m`, `b-${name}/m`)
                const heard = await ask(client, gateway.url, name)
                assert.deepInclude(heard, { text: story, isClean: true, error: null }, name)
                assert.lengthOf(one.requests, 1, name)
                assert.lengthOf(two.requests, 1, name)
                const body = shown(two.requests[0]?.body ?? "")
                assert.include(body, "The quick brown fox", name)
                assert.strictEqual(body.includes("The connection broke"), !prefills.has(to), name)
                assert.notStrictEqual(heard.requestId, "", name)
                const row = await gateway.usageRow(heard.requestId)
                assert.deepInclude(
                  row,
                  { outcome: "completed", provider: `b-${name}`, attempts: 2, targetWire: to },
                  name
                )
                const { in: paidIn, out } = row.tokens
                assert.deepStrictEqual([heard.in, heard.out], [paidIn, out], `${name}: one usage for client and books`)
                assert.isAtLeast(paidIn, 31, name)
                assert.isAtLeast(out, 6, name)
              })
            }
          }
        }),
      60_000
    )
  })
}
