/** Event that tells of all that were held in quiet hours. Pure. */
import { objectOr, parseJson } from "../../../wire/json/Json.ts"
import type { OutgoingEvent } from "../entity.ts"
import { severityOf, subjectOf } from "../messages/Notice.ts"
import type { WaitingEvent } from "../OutboxRepo.ts"

/** Things that a digest names; the others are counted. */
export const mostNamed = 50
/** Things of which it is known that they are the same; what comes beyond is counted with its event. */
const mostSubjects = 10_000

const ranks = { error: 0, warning: 1, info: 2 } as const

interface Thing {
  readonly event: string
  readonly severity: keyof typeof ranks
  count: number
  firstMs: number
  /** The newest of them. */
  last: WaitingEvent
}

/** Collects what was held; no more of it is kept than is told. */
export interface Gathered {
  readonly things: Map<string, Thing>
  readonly counts: Map<string, number>
  total: number
  fromMs: number
  toMs: number
}

export const nothingHeld = (): Gathered => ({
  things: new Map(),
  counts: new Map(),
  total: 0,
  fromMs: Number.POSITIVE_INFINITY,
  toMs: Number.NEGATIVE_INFINITY
})

export const gather = (gathered: Gathered, held: WaitingEvent): void => {
  const data = objectOr(parseJson(held.data))
  const subject = subjectOf(held.event, data) ?? JSON.stringify([held.event, held.eventId])
  const known = gathered.things.get(subject)
  if (known !== undefined) {
    known.count += 1
    known.firstMs = Math.min(known.firstMs, held.atMs)
    if (held.atMs >= known.last.atMs) known.last = held
  } else if (gathered.things.size < mostSubjects) {
    const severity = severityOf(held.event, data)
    gathered.things.set(subject, { event: held.event, severity, count: 1, firstMs: held.atMs, last: held })
  }
  gathered.counts.set(held.event, (gathered.counts.get(held.event) ?? 0) + 1)
  gathered.total += 1
  gathered.fromMs = Math.min(gathered.fromMs, held.atMs)
  gathered.toMs = Math.max(gathered.toMs, held.atMs)
}

/** The things that are named: the gravest first, then those that came first. */
export const namedOf = ({ things }: Gathered): ReadonlyArray<Thing> =>
  [...things.values()]
    .toSorted((one, other) => ranks[one.severity] - ranks[other.severity] || one.firstMs - other.firstMs)
    .slice(0, mostNamed)

const iso = (atMs: number): string => new Date(atMs).toISOString()

/** `texts`: of each of `namedOf`, in its order. */
export const digestOf = (id: string, atMs: number, gathered: Gathered, texts: ReadonlyArray<string>): OutgoingEvent => {
  const named = namedOf(gathered)
  const told = named.reduce((sum, { count }) => sum + count, 0)
  return {
    id,
    event: "quiet.digest",
    atMs,
    data: {
      from: iso(gathered.fromMs),
      to: iso(gathered.toMs),
      total: gathered.total,
      counts: Object.fromEntries(gathered.counts),
      events: named.map(({ count, event, firstMs, last, severity }, place) => ({
        id: last.eventId,
        event,
        severity,
        count,
        first: iso(firstMs),
        last: iso(last.atMs),
        text: texts[place] ?? "",
        data: objectOr(parseJson(last.data))
      })),
      left_out: gathered.total - told
    }
  }
}
