/** The time of a request as parts that follow each other: what was done before the first call, each call, its first token, its answer. Pure. */
export interface TimedCall {
  readonly provider: string
  readonly connectionId: string
  readonly model: string
  readonly status: number | null
  readonly outcome: "completed" | "failed" | "aborted"
  readonly reason: string
  readonly startedAt: string
  readonly latencyMs: number
}

/** The whole request, from its arrival to the end of its answer. */
export interface WholeTime {
  readonly startedAt: string
  readonly latencyMs: number
  /** Null: there was no content. */
  readonly ttftMs: number | null
}

export interface TimePart {
  readonly kind: "before" | "failed" | "aborted" | "call" | "firstToken" | "answer" | "after"
  /** Null: of the gateway itself. */
  readonly call: TimedCall | null
  /** Milliseconds since the begin. */
  readonly fromMs: number
  readonly forMs: number
}

/** Times are whole milliseconds, and the sum of two may be off by so much. */
const roundedMs = 2

const partsOf = (call: TimedCall, fromMs: number, firstMs: number | null): ReadonlyArray<TimePart> => {
  if (call.outcome !== "completed") return [{ kind: call.outcome, call, fromMs, forMs: call.latencyMs }]
  const untilFirst = firstMs === null ? null : firstMs - fromMs
  if (untilFirst === null || untilFirst < -roundedMs || untilFirst > call.latencyMs + roundedMs) {
    return [{ kind: "call", call, fromMs, forMs: call.latencyMs }]
  }
  const forMs = Math.min(Math.max(0, untilFirst), call.latencyMs)
  return [
    { kind: "firstToken", call, fromMs, forMs },
    { kind: "answer", call, fromMs: fromMs + forMs, forMs: call.latencyMs - forMs }
  ]
}

/** Returns the parts and how long all of them take. Without the whole, the calls alone. */
export const timeParts = (
  calls: ReadonlyArray<TimedCall>,
  whole: WholeTime | null
): { readonly parts: ReadonlyArray<TimePart>; readonly wholeMs: number } => {
  const sorted = calls.toSorted((one, other) => Date.parse(one.startedAt) - Date.parse(other.startedAt))
  const [first] = sorted
  const begin = whole === null ? Date.parse(first?.startedAt ?? "") : Date.parse(whole.startedAt)
  const placed = sorted.map((call) => ({ call, fromMs: Math.max(0, Date.parse(call.startedAt) - begin) }))
  const endMs = Math.max(0, ...placed.map(({ call, fromMs }) => fromMs + call.latencyMs))
  const wholeMs = Math.max(1, endMs, whole?.latencyMs ?? 0)
  const beforeMs = placed[0]?.fromMs ?? whole?.latencyMs ?? 0
  const parts = placed.flatMap(({ call, fromMs }) => partsOf(call, fromMs, whole?.ttftMs ?? null))
  if (whole === null) return { parts, wholeMs }
  const before: TimePart = { kind: "before", call: null, fromMs: 0, forMs: beforeMs }
  const restMs = whole.latencyMs - endMs
  const after: ReadonlyArray<TimePart> =
    placed.length > 0 && restMs >= 1 ? [{ kind: "after", call: null, fromMs: endMs, forMs: restMs }] : []
  return { parts: [before, ...parts, ...after], wholeMs }
}
