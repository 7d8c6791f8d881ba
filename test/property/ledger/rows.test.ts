/** The laws of the ledger over nodes that share rows: transactions that are late, lost or not answered, nodes that die and come back, rows that cannot be reached. */
import { describe, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import { sharedRows } from "../../support/cluster/SharedRows.ts"
import type { ClusterLimits } from "../../support/ledger/Cluster.ts"
import { calm, check, cut, faults, limits, listOf, long } from "../../support/ledger/Laws.ts"
import { counted } from "../../support/slowRun.ts"

const timeoutMs = 300_000
const withoutSessions = (most: ClusterLimits): ClusterLimits => ({ ...most, sessions: 0 })
const sizes = FastCheck.integer({ min: 1, max: 4 })

describe("the laws of the ledger over shared rows", () => {
  it(
    "hold whatever the order of transactions",
    () => check(sizes, listOf(...calm), counted(100, 300), sharedRows),
    timeoutMs
  )

  it(
    "hold over nodes that die, stop and come back, and rows that are gone for a time",
    () => check(sizes, listOf(...calm, ...faults, cut), counted(150, 500), sharedRows),
    timeoutMs
  )

  // Sessions of a node that was not heard of are over, whatever runs there.
  it(
    "hold when leases expire, whatever has become of their nodes",
    () => check(sizes, listOf(...calm, ...faults, long), counted(100, 300), sharedRows, limits.map(withoutSessions)),
    timeoutMs
  )
})
