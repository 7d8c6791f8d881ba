/** An event in words for people: what happened, how bad it is, and the facts with names in the place of ids. Pure. */
import type { EventNames } from "../OutboxRepo.ts"

export type Severity = "good" | "info" | "warning" | "bad"

export interface Notice {
  readonly event: string
  readonly severity: Severity
  /** One sentence. */
  readonly headline: string
  readonly facts: ReadonlyArray<readonly [label: string, value: string]>
  /** ISO 8601. */
  readonly at: string
  /** Number of events of the same subject that were not sent since the last message. */
  readonly repeats: number
}

export type EventFields = Readonly<Record<string, unknown>>

const maxValueChars = 200

/** A text for one line: without control characters and marks of direction, and bounded. */
const line = (value: unknown): string => {
  const text = (typeof value === "string" ? value : JSON.stringify(value)).slice(0, maxValueChars * 2)
  const plain = text.replaceAll(/[\p{Cc}\p{Bidi_Control}]+/gu, " ").trim()
  return plain.length > maxValueChars ? `${plain.slice(0, maxValueChars - 1)}…` : plain
}

const isPresent = (value: unknown): boolean => value !== null && value !== undefined && value !== ""

const usd = (value: unknown): string | null =>
  typeof value === "number" && value > 0 ? `$${value.toFixed(value < 0.01 ? 6 : 2)}` : null

/** The model as the caller named it; of a combo its name. */
const askedModel = (data: EventFields): unknown => data["requested_model"] ?? data["model"]

interface NoticeContent {
  readonly severity: Severity
  readonly headline: string
  readonly facts: ReadonlyArray<readonly [label: string, value: unknown]>
}

const requestFacts = (data: EventFields, names: EventNames): NoticeContent["facts"] => [
  ["Model asked for", askedModel(data)],
  ["Combo", data["combo"]],
  ["Provider", data["provider"]],
  ["Connection", data["account"] ?? names.connection],
  ["API key", names.key],
  ["Status", data["status"]],
  ["Reason", data["reason"]],
  ["Attempts", data["attempts"]],
  ["Cost", usd(data["cost_usd"])]
]

const quotaWords: Readonly<Record<string, string>> = { budget: "budget", tokens: "token limit", rate: "rate limit" }

/** Things that a message names: Slack takes ten fields. */
const shownOfDigest = 9

const moreOf = (events: ReadonlyArray<EventFields>, total: number): string => {
  const shown = events.slice(0, shownOfDigest).reduce((sum, { count }) => sum + Number(count), 0)
  return `${total - shown} other events`
}

const attentionSeverities: Readonly<Record<string, Severity>> = { error: "bad", warning: "warning" }

/** Of what needs a person, or does not any more (docs/monitoring.md). */
const attentionContent = (event: string, data: EventFields): NoticeContent => {
  const subject = (data["subject"] ?? {}) as EventFields
  const what = `${line(subject["type"])} ${line(subject["name"])}`
  const facts: NoticeContent["facts"] = [
    ["About", what],
    ["Kind", data["kind"]],
    ["Since", data["since"]]
  ]
  if (event === "attention.cleared")
    return { severity: "good", headline: `Over: ${what}. ${line(data["text"])}`, facts }
  return {
    severity: attentionSeverities[String(data["severity"])] ?? "info",
    headline: `${what}: ${line(data["text"])}`,
    facts
  }
}

const spendersText = (value: unknown): string | null => {
  const all = (Array.isArray(value) ? value : []) as ReadonlyArray<EventFields>
  const texts = all
    .filter(({ id }) => id !== null)
    .map(({ cost_usd, id, name }) => `${line(name ?? id)} ${usd(cost_usd) ?? "$0"}`)
  return texts.length === 0 ? null : texts.join(", ")
}

/** Of all that happened in quiet hours. */
const digestContent = (data: EventFields): NoticeContent => {
  const events = (Array.isArray(data["events"]) ? data["events"] : []) as ReadonlyArray<EventFields>
  const total = Number(data["total"])
  const leftOut = Number(data["left_out"])
  const worst = events[0]?.["severity"]
  return {
    severity: attentionSeverities[String(worst)] ?? "info",
    headline: `In quiet hours ${total === 1 ? "one event was" : `${total} events were`} held back.`,
    facts: [
      ...events
        .slice(0, shownOfDigest)
        .map(
          ({ count, event, text }) =>
            [line(event), Number(count) > 1 ? `${line(text)} (${line(count)} times)` : text] as const
        ),
      ["More", events.length > shownOfDigest || leftOut > 0 ? moreOf(events, total) : null]
    ]
  }
}

/** Of a week or a month that is over. */
const reportContent = (data: EventFields): NoticeContent => {
  const isWeek = data["period"] === "weekly"
  // The first day by the clocks of the place that it is for.
  const from = line(data["first_day"] ?? data["from"]).slice(0, 10)
  const when = isWeek ? `The week from ${from}` : `The month ${from.slice(0, 7)}`
  return {
    severity: "info",
    headline: `${when} has cost ${usd(data["cost_usd"]) ?? "$0"} for ${line(data["requests"])} requests.`,
    facts: [
      [isWeek ? "Week before" : "Month before", usd(data["previous_cost_usd"]) ?? "$0"],
      ["Billed", usd(data["billed_usd"])],
      ["Without a price", Number(data["unpriced"]) > 0 ? `${line(data["unpriced"])} requests` : null],
      ["People", spendersText(data["top_people"])],
      ["Teams", spendersText(data["top_teams"])],
      ["Keys", spendersText(data["top_keys"])],
      ["Models", spendersText(data["top_models"])]
    ]
  }
}

const contentOf = (event: string, data: EventFields, names: EventNames): NoticeContent => {
  switch (event) {
    case "request.completed":
      return {
        severity: "good",
        headline: `A request for ${line(askedModel(data))} was answered.`,
        facts: requestFacts(data, names)
      }
    case "request.failed":
      return {
        severity: "bad",
        headline: `A request for ${line(askedModel(data))} failed.`,
        facts: requestFacts(data, names)
      }
    case "provider.error": {
      const isOpen = data["circuit_state"] === "OPEN"
      return {
        severity: isOpen ? "bad" : "warning",
        headline: isOpen
          ? `${line(data["provider"])} keeps failing and is skipped for now.`
          : `${line(data["provider"])} failed.`,
        facts: [
          ["Provider", data["provider"]],
          ["Model", data["model"]],
          ["Connection", names.connection],
          ["Status", data["status"]],
          ["Reason", data["reason"]],
          ["Failures in a row", data["consecutive_failures"]]
        ]
      }
    }
    case "provider.recovered":
      return {
        severity: "good",
        headline: `${line(data["provider"])} answers again.`,
        facts: [["Provider", data["provider"]]]
      }
    case "quota.exceeded": {
      const isWarning = data["threshold"] === "warning"
      const limit = `${line(data["window"])} ${quotaWords[String(data["quota"])] ?? "limit"}`
      const who = names.key === null ? "An API key" : `The API key ${line(names.key)}`
      return {
        severity: isWarning ? "warning" : "bad",
        headline: isWarning ? `${who} nears its ${limit}.` : `${who} has used up its ${limit}.`,
        facts: [
          ["API key", names.key],
          ["Used", data["used"]],
          ["Limit", data["limit"]],
          ["Percent", data["pct"]]
        ]
      }
    }
    case "combo.switched":
      return {
        severity: "warning",
        headline: `The combo ${line(data["combo"])} went on to ${line(data["to"])}.`,
        facts: [
          ["Combo", data["combo"]],
          ["From", data["from"]],
          ["To", data["to"]],
          ["Reason", data["reason"]]
        ]
      }
    case "plugin.error":
      return {
        severity: "bad",
        headline: `The plugin ${line(data["plugin"])} was stopped.`,
        facts: [
          ["Plugin", data["plugin"]],
          ["Reason", data["reason"]]
        ]
      }
    case "attention.raised":
    case "attention.cleared":
      return attentionContent(event, data)
    case "report.weekly":
    case "report.monthly":
      return reportContent(data)
    case "quiet.digest":
      return digestContent(data)
    case "test.ping":
      return { severity: "info", headline: "The gateway can reach this place.", facts: [] }
    default:
      return { severity: "info", headline: `${event}.`, facts: Object.entries(data).slice(0, 20) }
  }
}

/** Severity of an event as alerts have it. */
export const severityOf = (event: string, data: EventFields): "error" | "warning" | "info" => {
  const { severity } = contentOf(event, data, { key: null, connection: null })
  if (severity === "bad") return "error"
  return severity === "warning" ? "warning" : "info"
}

export const noticeOf = (
  { atMs, data, event }: { readonly event: string; readonly atMs: number; readonly data: EventFields },
  names: EventNames,
  repeats: number
): Notice => {
  const { facts, headline, severity } = contentOf(event, data, names)
  return {
    event,
    severity,
    headline,
    facts: facts.flatMap(([label, value]) => (isPresent(value) ? [[label, line(value)] as const] : [])),
    at: new Date(atMs).toISOString(),
    repeats
  }
}

export const repeatsLine = ({ repeats }: Notice): string =>
  repeats === 0 ? "" : `The same happened ${repeats} more time${repeats === 1 ? "" : "s"} since the last message.`

/** Decides whether an event is for people: of a provider's failures only the one that opens its breaker. */
export const isForPeople = (event: string, data: EventFields): boolean =>
  event !== "provider.error" || data["circuit_state"] === "OPEN"

/**
 * Finds the subject of an event: events with the same one are one message within a window. Null: each is a message of
 * its own.
 */
export const subjectOf = (event: string, data: EventFields): string | null => {
  const of = (...members: ReadonlyArray<string>): string =>
    JSON.stringify([event, ...members.map((member) => data[member] ?? null)])
  switch (event) {
    case "provider.error":
      return of("provider")
    case "provider.recovered":
      return of("provider")
    case "request.failed":
      return of("requested_model", "provider", "status", "api_key_id")
    case "combo.switched":
      return of("combo", "from", "to")
    case "quota.exceeded":
      return of("api_key_id", "limitId", "window", "windowStart", "threshold")
    case "plugin.error":
      return of("plugin")
    case "attention.raised":
    case "attention.cleared":
      return of("id")
    default:
      return null
  }
}
