/** Does what a message asks for: a model's answer by the ordinary pipeline, or a report of the management API. */
import * as Effect from "effect/Effect"
import type { ManagementKey } from "../../contract/ManagementRoutes.ts"
import type { InnerAnswer, InnerRequests } from "../../plane/InnerRequests.ts"
import { type Caller, endpointProblem, isManager } from "../mcp/Caller.ts"
import { isArray, type JsonObject, numberOr, objectOr, parseJson, stringOr } from "../../wire/json/Json.ts"
import type { AgentRequest } from "./AgentRequest.ts"
import {
  capabilities,
  costReport,
  healthReport,
  type ListedSkill,
  ownCostReport,
  providerReport,
  quotaReport
} from "./Reports.ts"
import { noFacts, type TaskFacts } from "./Task.ts"
import { asSentence } from "../../kernel/text/Sentence.ts"

/** Outcome of a task. */
export type Outcome =
  | { readonly _tag: "Answered"; readonly answer: string; readonly facts: TaskFacts }
  | { readonly _tag: "Failed"; readonly problem: string; readonly facts: TaskFacts }
  | { readonly _tag: "Refused"; readonly problem: string; readonly facts: TaskFacts }

export interface Sources {
  readonly inner: Pick<typeof InnerRequests.Service, "ask">
  /** Asks an endpoint of the management API in the caller's name; an error is null. Whether the caller may was judged before. */
  readonly manage: (
    caller: Caller,
    key: ManagementKey,
    parameters?: { readonly path?: Record<string, string>; readonly query?: Record<string, string> }
  ) => Effect.Effect<JsonObject | null>
  /** The pages of `/api/agent-skills`. */
  readonly skills: ReadonlyArray<ListedSkill>
}

const answered = (answer: string, facts: TaskFacts = noFacts): Outcome => ({ _tag: "Answered", answer, facts })
const unavailable: Outcome = {
  _tag: "Failed",
  problem: "The gateway could not make this report; its log says why.",
  facts: noFacts
}

const refused = (reason: string): Outcome => ({
  _tag: "Refused",
  problem: reason,
  facts: { ...noFacts, allowed: false, reason }
})

const onlyManagers = "This report needs a key of scope 'manage'."

const textOf = ({ body }: InnerAnswer): string => {
  const answer = objectOr(parseJson(body))
  const [choice] = isArray(answer["choices"]) ? answer["choices"] : []
  return stringOr(objectOr(objectOr(choice)["message"])["content"]) ?? ""
}

const errorOf = ({ body, error, status }: InnerAnswer): string =>
  stringOr(objectOr(objectOr(parseJson(body))["error"])["message"]) ??
  (error === null ? `The request was answered with the status ${status}.` : error.message)

/** Errors of the gateway that say that the caller may not. */
const refusals: ReadonlySet<number> = new Set([401, 402, 403])

const explanationOf = (decision: JsonObject): string | null => {
  const reason = stringOr(decision["reason"])
  const chosen = stringOr(decision["chosen"])
  if (chosen === null) return reason
  return `${chosen} by ${stringOr(decision["strategy"]) ?? "its strategy"}${asSentence(reason === null ? "" : `: ${reason}`)}`
}

const traceOf = (decision: JsonObject): TaskFacts["trace"] =>
  (isArray(decision["attempts"]) ? decision["attempts"] : []).map(objectOr).map((attempt) => ({
    event: attempt["outcome"] === "completed" ? "completed" : (stringOr(attempt["reason"]) ?? "failed"),
    provider: stringOr(attempt["provider"]) ?? "",
    timestamp: stringOr(attempt["startedAt"]) ?? ""
  }))

const sumOf = (ledger: JsonObject, member: string): number | null => {
  const entries = isArray(ledger["entries"]) ? ledger["entries"].map(objectOr) : []
  return entries.length === 0 ? null : entries.reduce((sum, entry) => sum + (numberOr(entry[member]) ?? 0), 0)
}

const smartRouting = ({ inner, manage }: Sources) =>
  Effect.fn("a2a.smartRouting")(function* (asked: AgentRequest, caller: Caller) {
    const answer = yield* inner.ask({
      behalf: { principal: caller.principal, madeFor: "client", category: "chat" },
      path: "/a2a",
      body: { model: asked.model, messages: asked.messages.map(({ content, role }) => ({ role, content })) }
    })
    const { requestId } = answer
    const decision = objectOr((yield* manage(caller, "routing.decision", { path: { requestId } }))?.["decision"])
    const ledger = (yield* manage(caller, "limits.ledger", { query: { requestId } })) ?? {}
    const facts: TaskFacts = {
      ...noFacts,
      routingExplanation: explanationOf(decision),
      estimatedUsd: sumOf(ledger, "reservedUsd"),
      actualUsd: sumOf(ledger, "settledUsd"),
      trace: traceOf(decision)
    }
    if (answer.status < 300) return answered(textOf(answer), facts)
    const problem = errorOf(answer)
    if (!refusals.has(answer.status)) return { _tag: "Failed", problem, facts } satisfies Outcome
    return { _tag: "Refused", problem, facts: { ...facts, allowed: false, reason: problem } } satisfies Outcome
  })

/** `origin` is the address that the caller used. */
export const makeAgent = (sources: Sources) => {
  const { manage, skills } = sources
  const route = smartRouting(sources)

  const report = (caller: Caller, make: Effect.Effect<string | null>): Effect.Effect<Outcome> =>
    isManager(caller)
      ? Effect.map(make, (text) => (text === null ? unavailable : answered(text)))
      : Effect.succeed(refused(onlyManagers))

  const costs = (caller: Caller): Effect.Effect<Outcome> => {
    if (isManager(caller)) {
      return Effect.map(manage(caller, "usageHistory.analytics", { query: { range: "30d" } }), (answer) =>
        answer === null ? unavailable : answered(costReport(answer))
      )
    }
    if (caller.principal._tag !== "Key") return Effect.succeed(refused("This report needs an API key."))
    return Effect.map(manage(caller, "limits.me"), (answer) =>
      answer === null ? unavailable : answered(ownCostReport(answer))
    )
  }

  const run = (asked: AgentRequest, caller: Caller, origin: string): Effect.Effect<Outcome> => {
    switch (asked.skill) {
      case "smart-routing": {
        const problem = endpointProblem(caller, "chat")
        return problem === null ? route(asked, caller) : Effect.succeed(refused(problem))
      }
      case "quota-management":
        return report(
          caller,
          Effect.zipWith(manage(caller, "rateLimits.status"), manage(caller, "providers.list"), (limits, providers) =>
            limits === null || providers === null ? null : quotaReport(limits, providers)
          )
        )
      case "provider-discovery":
        return report(
          caller,
          Effect.map(manage(caller, "providers.list"), (answer) => (answer === null ? null : providerReport(answer)))
        )
      case "cost-analysis":
        return costs(caller)
      case "health-report":
        return report(
          caller,
          Effect.map(manage(caller, "system.health"), (answer) => (answer === null ? null : healthReport(answer)))
        )
      case "list-capabilities":
        return Effect.succeed(answered(capabilities(skills, origin)))
    }
  }
  return run
}

export type Agent = ReturnType<typeof makeAgent>
