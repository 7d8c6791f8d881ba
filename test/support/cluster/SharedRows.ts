/** Nodes of a cluster that share rows in memory, in the place of an owner: calls of the rows are the messages that are late, lost or killed. */
import { refOfMeter } from "../../../src/plane/ledger/rows/Refs.ts"
import type { LedgerRows } from "../../../src/plane/ledger/rows/Rows.ts"
import { RowsLink } from "../../../src/plane/ledger/rows/RowsLink.ts"
import { windowId } from "../../../src/plane/ledger/rows/Books.ts"
import type { Booked } from "../../../src/plane/ledger/LedgerTruth.ts"
import type { OwnerLink } from "../../../src/plane/state/link/OwnerLink.ts"
import type { WorkerId } from "../../../src/plane/state/link/WorkerLinks.ts"
import { type Cluster, type RowsSide, startMs } from "../ledger/Cluster.ts"
import { MemoryRows } from "./MemoryRows.ts"

const topic = "rows"

type Call = readonly [name: keyof LedgerRows, ...values: ReadonlyArray<unknown>]

/** The rows at the other end of a link. */
const rowsOver = ({ ask }: typeof OwnerLink.Service): LedgerRows => {
  const call =
    (name: keyof LedgerRows) =>
    (...all: ReadonlyArray<unknown>): void => {
      const then = all.at(-1) as (outcome: unknown) => void
      ask(topic, [name, ...all.slice(0, -1)] satisfies Call, then)
    }
  return {
    join: call("join"),
    turn: call("turn"),
    revive: call("revive"),
    wanted: call("wanted"),
    sweep: call("sweep"),
    standing: call("standing")
  } as LedgerRows
}

export const sharedRows = (cluster: Cluster): RowsSide & { readonly rows: MemoryRows } => {
  const rows = new MemoryRows(() => startMs + cluster.nowMs)
  const links = new Map<number, RowsLink>()
  /** What is in the files of a place and was not told, by request. */
  const files = new Map<number, Map<string, Booked>>()
  const settled = new Set<RowsLink>()
  const acknowledged = new Set<string>()
  let holders = 0
  return {
    rows,
    serve: () => {
      cluster.links.owner.serve(topic, (_, body, answer) => {
        const [name, ...values] = body as Call
        answer((rows[name] as (...of: ReadonlyArray<unknown>) => unknown).apply(rows, [...values]))
      })
    },
    join: ({ place }: WorkerId, link) => {
      links.get(place)?.close()
      const { after, monotonicMs, nowMs } = cluster.timers(place)
      const team = cluster.newTeam()
      const made = new RowsLink({
        node: `node ${place}`,
        rows: rowsOver(link),
        truth: cluster.truthOf(cluster.newAccounts(team), team),
        newHolder: () => `holder ${(holders += 1)}`,
        nowMs,
        monotonicMs,
        after,
        soon: (run) => cluster.soon(place, run),
        acknowledged: (ids) => {
          for (const id of ids) {
            acknowledged.add(id)
            files.get(place)?.delete(id)
          }
        }
      })
      links.set(place, made)
      return made.service
    },
    kill: ({ place }, left) => {
      const file = files.get(place) ?? new Map<string, Booked>()
      files.set(place, file)
      for (const booked of left) if (!acknowledged.has(booked.requestId)) file.set(booked.requestId, booked)
    },
    settle: (place) => {
      const file = files.get(place)
      const link = links.get(place)
      // Each life does it once.
      if (file === undefined || link === undefined || settled.has(link)) return
      settled.add(link)
      link.settleLeft([...file.values()])
    },
    standing: (_, meter, atMs) => {
      const row = rows.windows.get(windowId(refOfMeter(meter, meter.at(atMs), 1)))
      return { used: row?.used ?? 0, reserved: (row?.held ?? 0) + (row?.doubt ?? 0) }
    },
    sessions: (key) =>
      new Set([...rows.sessions.values()].filter((row) => row.key === key).map(({ session }) => session)).size,
    rates: (key) =>
      [...rows.windows.values()]
        .filter(({ name }) => name.startsWith(`rate/${key} `))
        .reduce((sum, { held }) => sum + held, 0)
  }
}
