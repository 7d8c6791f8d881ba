/** The file of reservations, on disk: whatever is written and closed, what is read after a crash is what is open. */
import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { readReservations, reservationLine } from "../../../src/store/usage/ReservationLines.ts"
import { Filed, makeFile } from "../../../src/store/usage/Reservations.ts"
import * as Segments from "../../../src/store/usage/JournalSegments.ts"

const lineOf = (requestId: string, padding: number): string =>
  reservationLine({
    requestId,
    apiKeyId: "key",
    receivedMs: 1,
    requestedModel: "m".repeat(padding),
    sourceWire: "chat",
    streamed: false,
    batchId: null,
    calls: [
      {
        provider: "up",
        connectionId: "c",
        model: "m",
        nanoUsd: 1,
        tokensIn: 1,
        tokensOut: 1,
        createdAtMs: 1,
        price: null
      }
    ]
  })

interface Turns {
  readonly soon: (run: () => void) => void
  /** Runs all that waits, and what that adds. */
  readonly end: () => void
}

const makeTurns = (): Turns => {
  let waiting: Array<() => void> = []
  return {
    soon: (run) => void waiting.push(run),
    end: () => {
      while (waiting.length > 0) {
        const now = waiting
        waiting = []
        for (const run of now) run()
      }
    }
  }
}

const inFolder = (body: (folder: string) => void): void => {
  const folder = mkdtempSync(join(tmpdir(), "reservations-"))
  try {
    body(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** As at the start after a crash. */
const openIn = (folder: string): ReadonlyArray<string> =>
  readReservations(Segments.leftovers(folder).map((path) => readFileSync(path, "utf8")))
    .map(({ requestId }) => requestId)
    .toSorted()

const fileIn = (folder: string, soon: Turns["soon"]) =>
  makeFile({
    segments: Segments.inFolder(folder),
    soon,
    lost: (cause) => {
      throw cause
    },
    defect: (cause) => {
      throw cause
    }
  })

describe("the file of reservations", () => {
  it("says after every turn what is open, whatever order requests come and go in", () => {
    const step = FastCheck.record({
      request: FastCheck.nat(9),
      isClosing: FastCheck.boolean(),
      isTurn: FastCheck.boolean()
    })
    FastCheck.assert(
      FastCheck.property(FastCheck.array(step, { minLength: 1, maxLength: 120 }), (steps) =>
        inFolder((folder) => {
          const turns = makeTurns()
          const file = fileIn(folder, turns.soon)
          const open = new Map<number, Filed>()
          let made = 0
          for (const { isClosing, isTurn, request } of steps) {
            const known = open.get(request)
            if (isClosing && known !== undefined) {
              file.close(known)
              open.delete(request)
            } else {
              const filed = known ?? new Filed(`r${request}-${(made += 1)}`)
              open.set(request, filed)
              // A few lines fill a file.
              file.write(filed, lineOf(filed.requestId, 60_000), () => {})
            }
            if (!isTurn) continue
            turns.end()
            assert.deepStrictEqual(openIn(folder), [...open.values()].map(({ requestId }) => requestId).toSorted())
          }
          for (const filed of open.values()) file.close(filed)
          turns.end()
          assert.deepStrictEqual(openIn(folder), [])
        })
      ),
      { numRuns: 60, seed: 41 }
    )
  })

  it("is not kept large by one long call, which is still known", () =>
    inFolder((folder) => {
      const turns = makeTurns()
      const file = fileIn(folder, turns.soon)
      const long = new Filed("long")
      file.write(long, lineOf("long", 100), () => {})
      turns.end()
      for (let index = 0; index < 200; index += 1) {
        const short = new Filed(`short-${index}`)
        file.write(short, lineOf(short.requestId, 60_000), () => {})
        turns.end()
        file.close(short)
        turns.end()
      }
      assert.isAtMost(readdirSync(folder).length, 10)
      assert.deepStrictEqual(openIn(folder), ["long"])
      file.close(long)
      turns.end()
      file.finish()
      assert.deepStrictEqual(readdirSync(folder), [])
    }))

  it("says that a request has ended once the disk takes lines again", () =>
    inFolder((folder) => {
      const turns = makeTurns()
      const real = Segments.inFolder(folder)
      let isFull = false
      let failures = 0
      const file = makeFile({
        segments: {
          ...real,
          append: (lines) => {
            if (isFull) throw new Error("no space")
            real.append(lines)
          }
        },
        soon: turns.soon,
        lost: () => {
          failures += 1
        },
        defect: (cause) => {
          throw cause
        }
      })
      const one = new Filed("one")
      file.write(one, lineOf("one", 10), () => {})
      turns.end()
      isFull = true
      file.close(one)
      turns.end()
      assert.strictEqual(failures, 1)
      isFull = false
      const two = new Filed("two")
      file.write(two, lineOf("two", 10), () => {})
      turns.end()
      assert.deepStrictEqual(openIn(folder), ["two"])
    }))
})
