/** Formats the reports of `gateway route simulate` and `gateway route replay`. */
import type { ReplayView, SimulationView } from "../../api/Groups/Routing.ts"
import type { Column } from "./Table.ts"

export const ms = (value: number | null): string => (value === null ? "-" : `${Math.round(value)} ms`)
export const percent = (value: number | null): string => (value === null ? "-" : `${(value * 100).toFixed(1)} %`)

type Simulated = SimulationView["targets"][number]
type Share = ReplayView["providers"][number]

const right = { align: "right" } as const

/** `cooldown 40 s`, or `banned` where only an operator can help. */
const stateOf = ({ remainingMs, rule }: NonNullable<Simulated["left"]>): string =>
  remainingMs === null ? rule : `${rule} ${Math.ceil(remainingMs / 1_000)} s`

export const simulatedColumns: ReadonlyArray<Column<Simulated>> = [
  { header: "TARGET", value: ({ model, provider }) => `${provider}/${model}` },
  { header: "CONNECTION", value: ({ connectionId }) => connectionId },
  { header: "WEIGHT", value: ({ weightShare }) => percent(weightShare), ...right },
  { header: "SHARE", value: ({ share }) => percent(share), ...right },
  { header: "SERVED", value: ({ served }) => String(served), ...right },
  { header: "FIRST", value: ({ firstChoices }) => String(firstChoices), ...right },
  { header: "ERRORS", value: ({ errors }) => String(errors), ...right },
  { header: "429", value: ({ rateLimited }) => String(rateLimited), ...right },
  { header: "COOLED", value: ({ cooldowns }) => String(cooldowns), ...right },
  { header: "OPENED", value: ({ breakerOpenings }) => String(breakerOpenings), ...right },
  { header: "LAST FAILURE", value: ({ lastFailure }) => (lastFailure === null ? "-" : lastFailure.kind) },
  { header: "AT THE END", value: ({ left }) => (left === null ? "well" : stateOf(left)) },
  { header: "P50", value: ({ p50Ms }) => ms(p50Ms), ...right },
  { header: "P95", value: ({ p95Ms }) => ms(p95Ms), ...right },
  { header: "USD", value: ({ costUsd, priced }) => (priced ? costUsd.toFixed(6) : "unpriced"), ...right }
]

export const shareColumns: ReadonlyArray<Column<Share>> = [
  { header: "PROVIDER", value: ({ provider }) => provider },
  { header: "BEFORE", value: ({ before, shareBefore }) => `${before} (${percent(shareBefore)})`, ...right },
  { header: "AFTER", value: ({ after, shareAfter }) => `${after} (${percent(shareAfter)})`, ...right }
]
