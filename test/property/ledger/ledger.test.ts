/** Any order of admissions, calls, failures, answers and departures keeps the books of a key right. */
import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import { AccountCommitment, type Commitment } from "../../../src/plane/ledger/Commitment.ts"
import { KeyAccount, Reservation } from "../../../src/plane/ledger/KeyAccount.ts"
import { Meter, type MeterSpec } from "../../../src/plane/ledger/Meter.ts"
import { reservationLine, readReservations } from "../../../src/store/usage/ReservationLines.ts"

const dayMs = 86_400_000
const startMs = Date.UTC(2026, 0, 15)
const models = ["a", "b"]

const rule = (interval: "daily" | "weekly" | "monthly") => ({ interval, resetTime: "00:00", timeZone: "UTC" })

const specs: ReadonlyArray<MeterSpec> = [
  { id: "day", unit: "usd", rule: rule("daily"), limit: 1_000, warningThreshold: 0.8, scope: null },
  { id: "month", unit: "usd", rule: rule("monthly"), limit: 2_500, warningThreshold: 0.8, scope: null },
  { id: "all", unit: "tokens", rule: rule("weekly"), limit: 4_000, warningThreshold: 0.8, scope: null },
  {
    id: "of a",
    unit: "tokens",
    rule: rule("daily"),
    limit: 900,
    warningThreshold: 0.8,
    scope: { provider: "p", model: "a" }
  }
]

type Step =
  | { readonly do: "open"; readonly dayOffset: number }
  | {
      readonly do: "call"
      readonly request: number
      readonly model: string
      readonly nanoUsd: number
      readonly tokens: number
    }
  | { readonly do: "fail"; readonly request: number; readonly call: number }
  | { readonly do: "settle"; readonly request: number; readonly part: number }
  | { readonly do: "leave"; readonly request: number }

const index = FastCheck.nat(12)
const step: FastCheck.Arbitrary<Step> = FastCheck.oneof(
  FastCheck.record({ do: FastCheck.constant("open" as const), dayOffset: FastCheck.integer({ min: -2, max: 20 }) }),
  FastCheck.record({
    do: FastCheck.constant("call" as const),
    request: index,
    model: FastCheck.constantFrom(...models),
    nanoUsd: FastCheck.nat(400),
    tokens: FastCheck.nat(500)
  }),
  FastCheck.record({ do: FastCheck.constant("fail" as const), request: index, call: FastCheck.nat(3) }),
  FastCheck.record({
    do: FastCheck.constant("settle" as const),
    request: index,
    part: FastCheck.double({ min: 0, max: 1, noNaN: true })
  }),
  FastCheck.record({ do: FastCheck.constant("leave" as const), request: index })
)

interface Books {
  readonly commitment: Commitment
  isSettled: boolean
}

const dayOf = (atMs: number): number => Math.floor(atMs / dayMs)

describe("the ledger of a key", () => {
  it("never commits more than a limit, and what was reserved is settled or given back", () => {
    FastCheck.assert(
      FastCheck.property(FastCheck.array(step, { maxLength: 120 }), (steps) => {
        const account = new KeyAccount()
        account.meters = specs.map((spec) => new Meter(spec))
        const requests: Array<Books> = []
        const booked: Array<{ readonly atMs: number; readonly model: string; nanoUsd: number; tokens: number }> = []

        const check = (): void => {
          for (const meter of account.meters) {
            for (const { commitment } of requests) {
              const window = meter.at(commitment.receivedMs)
              assert.isAtMost(window.used + window.reserved, meter.spec.limit)
              const inWindow = (atMs: number): boolean => atMs >= window.startMs && atMs < window.endMs
              const open = requests
                .filter((each) => inWindow(each.commitment.receivedMs))
                .flatMap((each) => each.commitment.open)
                .filter((each) => meter.counts(each.provider, each.model))
              assert.strictEqual(
                window.reserved,
                open.reduce((sum, each) => sum + meter.amountOf(each), 0)
              )
              const used = booked
                .filter((each) => inWindow(each.atMs) && meter.counts("p", each.model))
                .reduce((sum, each) => sum + meter.amountOf(each), 0)
              assert.strictEqual(window.used, used)
            }
          }
        }

        for (const [number, each] of steps.entries()) {
          if (each.do === "open") {
            requests.push({
              commitment: new AccountCommitment({
                account,
                apiKeyId: "key",
                requestId: `r${number}`,
                receivedMs: startMs + each.dayOffset * dayMs,
                session: null
              }),
              isSettled: false
            })
          } else {
            const request = requests[each.request % Math.max(1, requests.length)]
            if (request === undefined || request.isSettled) continue
            const { commitment } = request
            if (each.do === "call") {
              const { model, nanoUsd, tokens } = each
              const target = { provider: "p", connectionId: "c", model }
              const estimate = { nanoUsd, tokens, tokensIn: tokens, tokensOut: 0, price: null }
              const obstacle = commitment.obstacle(target, estimate)
              const reservation = commitment.reserve(target, estimate, commitment.receivedMs)
              assert.strictEqual(reservation === null, obstacle !== null)
            } else if (each.do === "fail") {
              const reservation = commitment.reservations[each.call]
              if (reservation !== undefined) commitment.release(reservation)
            } else if (each.do === "settle") {
              const charges = commitment.open.map(({ model, nanoUsd, tokens }) => ({
                provider: "p",
                model,
                nanoUsd: Math.floor(nanoUsd * each.part),
                tokens: Math.floor(tokens * each.part)
              }))
              commitment.settle(charges)
              for (const charge of charges) booked.push({ ...charge, atMs: commitment.receivedMs })
              request.isSettled = true
            } else {
              commitment.leave()
              request.isSettled = true
            }
          }
          check()
        }
        for (const { commitment } of requests) commitment.leave()
        for (const meter of account.meters) {
          for (const { commitment } of requests) assert.strictEqual(meter.at(commitment.receivedMs).reserved, 0)
        }
        assert.strictEqual(account.holders.size, 0)
        assert.strictEqual(new Set(booked.map(({ atMs }) => dayOf(atMs))).size <= 23, true)
      }),
      { numRuns: 300 }
    )
  })

  it("finds in its file what was open at any moment of a crash, and nothing else", () => {
    const line = (requestId: string, calls: ReadonlyArray<Reservation>): string =>
      reservationLine({
        requestId,
        apiKeyId: "key",
        receivedMs: startMs,
        requestedModel: "p/a",
        sourceWire: "chat",
        streamed: true,
        batchId: null,
        calls
      })
    const call = (nanoUsd: number): Reservation => {
      const price = { input: 1, output: 2 }
      return new Reservation(
        "p",
        "c",
        "a",
        { nanoUsd, tokens: nanoUsd, tokensIn: nanoUsd, tokensOut: 0, price },
        startMs
      )
    }
    FastCheck.assert(
      FastCheck.property(
        FastCheck.array(FastCheck.tuple(FastCheck.nat(5), FastCheck.array(FastCheck.nat(1_000), { maxLength: 3 })), {
          maxLength: 40
        }),
        FastCheck.nat(),
        (writes, cut) => {
          const lines = writes.map(([request, amounts]) => line(`r${request}`, amounts.map(call)))
          const text = lines.map((each) => `${each}\n`).join("")
          const end = text.length === 0 ? 0 : cut % (text.length + 1)
          const whole = text.slice(0, end).split("\n").slice(0, -1)
          const expected = new Map<string, number>()
          for (const [at] of whole.entries()) {
            const [request, amounts] = writes[at] ?? [0, []]
            expected.delete(`r${request}`)
            if (amounts.length > 0)
              expected.set(
                `r${request}`,
                amounts.reduce((sum, amount) => sum + amount, 0)
              )
          }
          // A line without its line feed counts when it is whole: its call may have been made.
          const torn = text.slice(0, end).slice(whole.join("\n").length + (whole.length > 0 ? 1 : 0))
          if (torn !== "" && torn === lines[whole.length]) {
            const [request, amounts] = writes[whole.length] ?? [0, []]
            expected.delete(`r${request}`)
            if (amounts.length > 0)
              expected.set(
                `r${request}`,
                amounts.reduce((sum, amount) => sum + amount, 0)
              )
          }
          const found = readReservations([text.slice(0, end)])
          assert.deepStrictEqual(
            found.map(({ calls, requestId }) => [requestId, calls.reduce((sum, { nanoUsd }) => sum + nanoUsd, 0)]),
            [...expected]
          )
        }
      ),
      { numRuns: 200 }
    )
  })
})
