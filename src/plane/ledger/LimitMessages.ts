/** Writes the message for a caller about a limit it has reached. Pure. */
import { nanoUsdPerUsd } from "../../contract/domain/Usage.ts"
import { usdText } from "../../kernel/text/UsdText.ts"
import type { MeterSpec, MeterWindow } from "./Meter.ts"

const amount = ({ limit, unit }: MeterSpec): string => {
  switch (unit) {
    case "usd":
      return usdText(limit / nanoUsdPerUsd)
    case "tokens":
      return `${limit} tokens`
    case "requests":
      return `${limit} requests`
  }
}

const scopeOf = ({ scope }: MeterSpec): string => {
  if (scope === null) return ""
  return scope.model === null ? ` of ${scope.provider}` : ` of ${scope.provider}/${scope.model}`
}

const nameOf = ({ unit }: MeterSpec): string =>
  unit === "usd" ? "budget" : unit === "tokens" ? "token limit" : "limit of requests"

/** Names the caller's key, or the owner of it whose limit it is. */
const subjectOf = ({ owner }: MeterSpec): string =>
  owner === undefined
    ? "This API key"
    : `The ${owner.kind === "team" ? "team" : "person"} '${owner.name}' of this API key`

/** `isReserved`: what is left is reserved for calls that still run. Without the last full stop. */
export const limitReached = (spec: MeterSpec, { endMs }: MeterWindow, isReserved: boolean): string => {
  const what = `its ${spec.rule.interval} ${nameOf(spec)} of ${amount(spec)}${scopeOf(spec)}`
  return isReserved
    ? `${subjectOf(spec)} has reserved what is left of ${what} for requests that still run`
    : `${subjectOf(spec)} has reached ${what}, which is renewed at ${new Date(endMs).toISOString()}`
}

export const tooManyRequests = (limit: number, windowMs: number): string =>
  `This API key may send ${limit} request${limit === 1 ? "" : "s"} in ${windowMs / 1_000} seconds`

export const tooManySessions = (limit: number): string =>
  `This API key may have ${limit} session${limit === 1 ? "" : "s"} at once; wait until a request of another one has ended`
