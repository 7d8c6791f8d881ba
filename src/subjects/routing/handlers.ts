/** `/api/routing`. */
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as Effect from "effect/Effect"
import { contractOf } from "../../contract/GroupContract.ts"
import { Routing } from "./routes.ts"
import { BadRequest, NotFound, Unavailable } from "../../contract/Errors.ts"
import type { ExplainInput, SimulateInput } from "./routes.ts"
import { describe, type InvalidRequest, type ModelNotFound, type NoTarget } from "../../domain/Errors.ts"
import { DecisionLog } from "../../plane/routing/records/DecisionLog.ts"
import { RunningRequests } from "../../plane/request/RunningRequests.ts"
import { Explainer } from "../../plane/routing/decide/Explainer.ts"
import type { SimulatedSessions } from "../../observe/simulation/Simulation.ts"
import * as Simulator from "../../observe/simulation/Simulator.ts"
import type { StoreError } from "../../store/Errors.ts"
import type { DecisionRecord } from "./entity.ts"
import { answered } from "../../entry/handling/Answers.ts"

/** The error of the request itself, as an answer of the management routes. */
export const refused = (error: ModelNotFound | NoTarget | InvalidRequest): NotFound | Unavailable | BadRequest => {
  const { code, details, message, param, retryAfterMs } = describe(error)
  const fields = { message, code, details, ...(param === null ? {} : { param }) }
  switch (error._tag) {
    case "ModelNotFound":
      return new NotFound(fields)
    case "NoTarget":
      return new Unavailable({ ...fields, ...(retryAfterMs === null ? {} : { retryAfterMs }) })
    case "InvalidRequest":
      return new BadRequest(fields)
  }
}

/** Header names are lower-case internally; of several spellings the last counts. */
const lowerCase = (headers: NonNullable<ExplainInput["headers"]>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value)]))

const plansOf = (faults: NonNullable<SimulateInput["faults"]>): Simulator.SimulationRequest["behaviours"]["faults"] =>
  Object.fromEntries(
    Object.entries(faults).map(([name, plans]) => [
      name,
      plans.map(({ everyMs = null, fault, forMs = null, fromMs = 0, rate = 1 }) => ({
        fault,
        rate,
        fromMs,
        forMs,
        everyMs
      }))
    ])
  )

const sessionsOf = ({ sessions }: SimulateInput): SimulatedSessions | null =>
  sessions === undefined ? null : { count: sessions.count, turnsPerPrompt: sessions.turnsPerPrompt ?? 10 }

const simulationOf = (payload: SimulateInput): Simulator.SimulationRequest => ({
  model: payload.model,
  requests: payload.requests ?? 10_000,
  seed: payload.seed ?? 1,
  ratePerSecond: payload.ratePerSecond ?? 10,
  burst: payload.burst ?? 1,
  behaviours: {
    errors: payload.errors ?? {},
    latency: payload.latency ?? {},
    quotas: payload.quotas ?? {},
    faults: plansOf(payload.faults ?? {})
  },
  scenario: payload.scenario ?? null,
  streamed: payload.stream ?? null,
  sessions: sessionsOf(payload),
  promptTokens: payload.promptTokens ?? 1_000,
  outputTokens: payload.outputTokens ?? 300
})

export const layer = HttpApiBuilder.group(contractOf(Routing), "routing", (handlers) =>
  Effect.gen(function* () {
    const log = yield* DecisionLog
    const explainer = yield* Explainer
    const simulator = yield* Simulator.Simulator
    const running = yield* RunningRequests
    /** One that has just ended is in the log before it is no longer under way. */
    const found = (requestId: string): Effect.Effect<DecisionRecord | null, StoreError> =>
      Effect.suspend(() => {
        const now = log.get(requestId) === null ? running.decision(requestId) : null
        if (now !== null) return Effect.succeed<DecisionRecord | null>({ ...now, state: "running" })
        return Effect.map(log.find(requestId), (record) => record && { ...record, state: "ended" })
      })
    return handlers
      .handle("explain", ({ payload }) =>
        explainer
          .explain({
            model: payload.model,
            wire: payload.wire ?? "chat",
            body: payload.body ?? {},
            headers: lowerCase(payload.headers ?? {}),
            apiKeyId: payload.apiKeyId ?? null,
            seed: payload.seed ?? null
          })
          .pipe(Effect.mapBoth({ onFailure: refused, onSuccess: (decision) => ({ decision }) }))
      )
      .handle("simulate", ({ payload }) =>
        simulator
          .simulate(simulationOf(payload))
          .pipe(Effect.mapBoth({ onFailure: refused, onSuccess: (simulation) => ({ simulation }) }))
      )
      .handle("replay", ({ payload: { model, seed, sinceMs } }) =>
        simulator.replay({ model, sinceMs, seed: seed ?? 1 }).pipe(
          Effect.map((replay) => ({ replay })),
          Effect.catchTags({
            ModelNotFound: (error) => Effect.fail(refused(error)),
            NoTarget: (error) => Effect.fail(refused(error)),
            InvalidRequest: (error) => Effect.fail(refused(error))
          }),
          answered
        )
      )
      .handle("decision", ({ path }) =>
        Effect.flatMap(answered(found(path.requestId)), (decision) =>
          decision === null
            ? new NotFound({ message: `No decision is kept for the request '${path.requestId}'.`, param: "requestId" })
            : Effect.succeed({ decision })
        )
      )
  })
)
