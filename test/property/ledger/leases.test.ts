/**
 * The laws of the ledger: over one process, and over an owner and workers whose messages are late, whose processes end at any message, and whose
 * limits change. What calls have cost is counted by the test, beside all processes.
 */
import { describe, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import { calm, check, faults, listOf } from "../../support/ledger/Laws.ts"
import { counted } from "../../support/slowRun.ts"

const timeoutMs = 300_000

describe("the laws of the ledger", () => {
  it("hold in one process", () => check(FastCheck.constant(0), listOf(...calm), counted(60, 600)), timeoutMs)

  it(
    "hold over workers whose messages come in any order",
    () => check(FastCheck.integer({ min: 1, max: 4 }), listOf(...calm), counted(100, 1_500)),
    timeoutMs
  )

  it(
    "hold over workers and owners that end or stop at any message",
    () => check(FastCheck.integer({ min: 1, max: 4 }), listOf(...calm, ...faults), counted(150, 2_500)),
    timeoutMs
  )
})
