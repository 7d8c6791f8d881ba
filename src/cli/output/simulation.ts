/** Formats the reports of `gateway route simulate` and `gateway route replay`. */
import type { ReplayView, SimulationView } from "../../subjects/routing/routes.ts"
import * as Column from "./Column.ts"

export const ms = (value: number | null): string => (value === null ? "-" : `${Math.round(value)} ms`)
export const percent = (value: number | null): string => (value === null ? "-" : `${(value * 100).toFixed(1)} %`)

type Simulated = SimulationView["targets"][number]
type Share = ReplayView["providers"][number]

/** `cooldown 40 s`, or `banned` where only an operator can help. */
const stateOf = ({ remainingMs, rule }: NonNullable<Simulated["left"]>): string =>
  remainingMs === null ? rule : `${rule} ${Math.ceil(remainingMs / 1_000)} s`

const target = (value: Simulated): string => `${value.provider}/${value.model}`

export const simulatedColumns: ReadonlyArray<Column.Column<Simulated>> = [
  Column.name("TARGET", target),
  Column.id("CONNECTION", ({ connectionId }) => connectionId),
  Column.number("WEIGHT", ({ weightShare }) => weightShare, percent),
  Column.number("SHARE", ({ share }) => share, percent),
  Column.number("SERVED", ({ served }) => served),
  Column.number("FIRST", ({ firstChoices }) => firstChoices),
  Column.number("ERRORS", ({ errors }) => errors),
  Column.number("429", ({ rateLimited }) => rateLimited),
  Column.number("COOLED", ({ cooldowns }) => cooldowns),
  Column.number("OPENED", ({ breakerOpenings }) => breakerOpenings),
  Column.text("LAST FAILURE", ({ lastFailure }) => lastFailure?.kind),
  Column.text("AT THE END", ({ left }) => (left === null ? "well" : stateOf(left))),
  Column.number("P50", ({ p50Ms }) => p50Ms, ms),
  Column.number("P95", ({ p95Ms }) => p95Ms, ms),
  {
    header: "USD",
    value: ({ costUsd, priced }) => (priced ? costUsd.toFixed(6) : "unpriced"),
    data: ({ costUsd, priced }) => (priced ? costUsd : null),
    align: "right"
  }
]

export const shareColumns: ReadonlyArray<Column.Column<Share>> = [
  Column.name("PROVIDER", ({ provider }) => provider),
  {
    header: "BEFORE",
    value: ({ before, shareBefore }) => `${before} (${percent(shareBefore)})`,
    data: ({ before }) => before,
    align: "right"
  },
  {
    header: "AFTER",
    value: ({ after, shareAfter }) => `${after} (${percent(shareAfter)})`,
    data: ({ after }) => after,
    align: "right"
  }
]

/** A difference with its sign. */
export const signed = (value: number | null, digits = 0): string =>
  value === null ? "-" : `${value > 0 ? "+" : ""}${value.toFixed(digits)}`
