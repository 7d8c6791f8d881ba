/** An account as lists and pages name it. */
import type { AnswerOf } from "../../api/client.ts"
import type { providersList } from "../../api/calls.generated.ts"
import { visible } from "../../ui/format.ts"

export type Connection = AnswerOf<typeof providersList>["connections"][number]

export const nameOf = ({ name, provider }: Pick<Connection, "name" | "provider">): string =>
  visible(name === "" || name.toLowerCase() === provider ? provider : `${provider} / ${name}`)

export type Standing = "available" | "cooling" | "terminal" | "inactive"

const terminal: ReadonlySet<Connection["testStatus"]> = new Set(["banned", "expired", "credits_exhausted"])

type Known = Pick<Connection, "isActive" | "testStatus" | "rateLimitedUntil">

/** Decides the use of an account, as the API's filter `state` has it. */
export const standingOf = ({ isActive, rateLimitedUntil, testStatus }: Known, nowMs: number): Standing => {
  if (!isActive) return "inactive"
  if (terminal.has(testStatus)) return "terminal"
  return rateLimitedUntil !== null && Date.parse(rateLimitedUntil) > nowMs ? "cooling" : "available"
}
