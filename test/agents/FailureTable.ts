/** How agents ended whose provider refused, as a table; and whether one was worse off with the gateway than without it. */
import { columns } from "./Table.ts"
import type { Kind } from "./Refusals.ts"

/** Without the gateway, through it, or through it once more when it knows already. */
export type Path = "direct" | "gateway" | "again"

export interface Failure {
  readonly agent: string
  readonly kind: Kind
  readonly path: Path
  readonly upstream: string
  /** Which of the provider's refusals. */
  readonly refusal: string
  /** Requests the agent made, a WebSocket counting as one. */
  readonly asked: number
  /** Requests the provider got, and how many of them it refused. */
  readonly calls: number
  readonly refused: number
  readonly ms: number
  /** Exit code; null when the agent did not end in time. */
  readonly code: number | null
  readonly shown: string
  /** All it printed. */
  readonly output: string
}

/** What the words shown must speak of. */
const topics: Readonly<Record<Kind, RegExp>> = {
  quota: /quota|credit|billing|usage limit/iu,
  overflow: /too long|context|token/iu,
  flagged: /flagged|policy|policies|blocked|prohibited|safety|refus|filter/iu
}

const isClear = ({ kind, output }: Failure): boolean => topics[kind].test(output)

/**
 * What was worse with the gateway than at the provider itself. Refusals that have no counterpart there are held against the worst of their
 * kind. Of an agent that does not end in time it is not known how it would: how often it asks tells only how fast the answers came.
 */
export const worse = (failure: Failure, direct: ReadonlyArray<Failure>): ReadonlyArray<string> => {
  const same = direct.filter(({ refusal, upstream }) => upstream === failure.upstream && refusal === failure.refusal)
  const others = same.length === 0 ? direct : same
  const ended = others.filter(({ code }) => code !== null)
  const most = (count: (each: Failure) => number): number =>
    others.some(({ code }) => code === null) ? Number.POSITIVE_INFINITY : Math.max(...others.map(count))
  return [
    ...(others.length === 0 ? ["there is no direct run to compare with"] : []),
    ...(failure.refused === 0 && failure.path !== "again" ? ["the provider was never asked what it refuses"] : []),
    ...(failure.calls > most(({ calls }) => calls)
      ? [`${failure.calls} calls at the provider, direct: ${most(({ calls }) => calls)}`]
      : []),
    ...(failure.asked > most(({ asked }) => asked)
      ? [`${failure.asked} requests, direct: ${most(({ asked }) => asked)}`]
      : []),
    ...(failure.code === null && others.some(({ code }) => code !== null) ? ["no end, direct it ends"] : []),
    ...(failure.code === 0 && ended.length > 0 && ended.every(({ code }) => code !== 0)
      ? ["exit code 0, direct it fails"]
      : []),
    ...(!isClear(failure) && others.every(isClear) ? [`unclear words: ${failure.shown}`] : [])
  ]
}

const pathOf = ({ path, refusal, upstream }: Failure): string => `${path} → ${upstream}: ${refusal}`

const endOf = ({ code }: Failure): string => (code === null ? "none" : `exit ${code}`)

const maxShownChars = 150

const rowOf = (failure: Failure): ReadonlyArray<string> => [
  failure.agent,
  failure.kind,
  pathOf(failure),
  String(failure.asked),
  String(failure.calls),
  (failure.ms / 1000).toFixed(1),
  endOf(failure),
  failure.shown.slice(0, maxShownChars)
]

/** One run, as soon as it is over. */
export const line = (failure: Failure): string => rowOf(failure).join(" | ")

const head = ["agent", "kind", "path", "asked", "calls", "seconds", "end", "words shown"]

export const renderFailures = (failures: ReadonlyArray<Failure>): string =>
  ["", ...columns([head, ...failures.map(rowOf)]), "", `${failures.length} runs`, ""].join("\n")
