/** Builds what is known of a failure, as the attempt loop would. */
import type { FailureSignal } from "../../../../src/plane/resilience/failure/Signal.ts"
import { readUpstreamError, streamProblem } from "../../../../src/wire/UpstreamError.ts"
import { parseJson } from "../../../../src/wire/json/Json.ts"

/** Saturday, 2026-11-21 12:00:00 UTC. */
export const nowMs = Date.UTC(2026, 10, 21, 12)

export const lookup = (headers: Readonly<Record<string, string>>) => {
  const lower = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
  return (name: string): string | null => lower.get(name) ?? null
}

const base: FailureSignal = {
  status: null,
  header: () => null,
  bodyText: "",
  problem: null,
  place: "status",
  cause: null,
  message: "our own words",
  contentBegan: false,
  bannedTexts: [],
  sent: null,
  nowMs,
  providerId: "acme",
  providerClass: "apikey",
  authType: "apikey",
  canRefresh: false
}

export type Body = string | Readonly<Record<string, unknown>> | ReadonlyArray<unknown>

const textOf = (body: Body): string => (typeof body === "string" ? body : JSON.stringify(body))

export interface Extra extends Partial<FailureSignal> {
  readonly headers?: Readonly<Record<string, string>>
}

/** An answer with an error status. A plain string stands for `{error:{message}}`; text that starts with `<` for itself. */
export const answered = (status: number, body: Body, { headers = {}, ...more }: Extra = {}): FailureSignal => {
  const bodyText =
    typeof body === "string" && !body.startsWith("<") ? textOf({ error: { message: body } }) : textOf(body)
  return { ...base, status, bodyText, problem: readUpstreamError(status, bodyText), header: lookup(headers), ...more }
}

/** An error event inside a 200 stream. */
export const inStream = (body: Body, more: Extra = {}): FailureSignal => {
  const bodyText = textOf(body)
  const problem = streamProblem(parseJson(bodyText))
  return { ...base, status: 200, place: "stream", bodyText, problem, ...more }
}

/** An error in the body of a 200. */
export const inAnswer = (body: Body, more: Extra = {}): FailureSignal => {
  const bodyText = textOf(body)
  return { ...base, status: 200, place: "answer", bodyText, problem: readUpstreamError(502, bodyText), ...more }
}

export const caused = (cause: NonNullable<FailureSignal["cause"]>, more: Extra = {}): FailureSignal => ({
  ...base,
  cause,
  ...more
})

export const oauth: Extra = { providerClass: "oauth", authType: "oauth" }
export const refreshable: Extra = { ...oauth, canRefresh: true }
export const local: Extra = { providerClass: "local", authType: "none" }
