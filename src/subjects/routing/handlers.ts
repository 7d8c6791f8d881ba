/** `/api/routing`. */
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import { contractOf } from "../../contract/GroupContract.ts"
import { Routing } from "./routes.ts"
import { BadRequest, NotFound, Unavailable } from "../../contract/Errors.ts"
import type { ExplainInput } from "./routes.ts"
import * as Trials from "./Trials.ts"
import { Combos } from "../combos/service.ts"
import * as Errors from "../Errors.ts"
import {
  describe,
  type InvalidRequest,
  type ModelNotFound,
  type NoTarget,
  type Overloaded
} from "../../contract/domain/Errors.ts"
import { DecisionLog } from "../../plane/routing/records/DecisionLog.ts"
import { RunningRequests } from "../../plane/request/RunningRequests.ts"
import { Explainer } from "../../plane/routing/decide/Explainer.ts"
import { Simulator } from "../../observe/simulation/Simulator.ts"
import type { StoreError } from "../../store/Errors.ts"
import { SharedDatabase } from "../../plane/state/SharedDatabase.ts"
import type { DecisionRecord } from "./entity.ts"
import { answered, badField } from "../../entry/handling/Answers.ts"
import { withProgressEvents } from "../../entry/handling/ProgressEvents.ts"

type Refusal = ModelNotFound | NoTarget | InvalidRequest | Overloaded

/** The error of the request itself, as an answer of the management routes. */
export const refused = (error: Refusal): NotFound | Unavailable | BadRequest => {
  const { code, details, message, param, retryAfterMs } = describe(error)
  const fields = { message, code, details, ...(param === null ? {} : { param }) }
  switch (error._tag) {
    case "ModelNotFound":
      return new NotFound(fields)
    case "NoTarget":
    case "Overloaded":
      return new Unavailable({ ...fields, ...(retryAfterMs === null ? {} : { retryAfterMs }) })
    case "InvalidRequest":
      return new BadRequest(fields)
  }
}

const refusals: ReadonlySet<string> = new Set<Refusal["_tag"]>([
  "ModelNotFound",
  "NoTarget",
  "InvalidRequest",
  "Overloaded"
])

const isRefusal = (error: unknown): error is Refusal =>
  Predicate.hasProperty(error, "_tag") && refusals.has(String(error._tag))

/** Header names are lower-case internally; of several spellings the last counts. */
const lowerCase = (headers: NonNullable<ExplainInput["headers"]>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value)]))

/** Answers a refusal as the routes of inference would. */
const asRefused = <A, E, R>(effect: Effect.Effect<A, E | Refusal, R>) =>
  Effect.catchIf(effect, isRefusal, (error) => Effect.fail(refused(error)))

/** The combo of a body as it would be stored, and the model id that is meant. */
const chosenOf = ({ combo, model }: Pick<ExplainInput, "combo" | "model">) =>
  Effect.gen(function* () {
    if (combo === undefined) {
      return model === undefined
        ? yield* badField("model", "is missing; give a model id, or a combo that is tried")
        : { model, combo: null }
    }
    const combos = yield* Combos
    const draft = yield* combos.draft(combo).pipe(Effect.mapError(Errors.within("combo")), answered)
    return { model: model ?? draft.name, combo: draft }
  })

export const layer = HttpApiBuilder.group(contractOf(Routing), "routing", (handlers) =>
  Effect.gen(function* () {
    const log = yield* DecisionLog
    const explainer = yield* Explainer
    const simulator = yield* Simulator
    const combos = yield* Combos
    const shared = yield* SharedDatabase
    const ofThis = shared === null ? {} : { node: shared.node }
    const running = yield* RunningRequests
    /** One that has just ended is in the log before it is no longer under way. */
    const found = (requestId: string): Effect.Effect<DecisionRecord | null, StoreError> =>
      Effect.gen(function* () {
        const isHere = log.get(requestId) !== null
        const now = isHere ? null : yield* running.decisionEverywhere(requestId)
        if (now !== null) return { state: "running", ...now, ...ofThis }
        const record = yield* log.find(requestId)
        return record && { ...record, ...(isHere ? ofThis : {}), state: "ended" }
      })
    const chosen = (payload: Parameters<typeof chosenOf>[0]) => Effect.provideService(chosenOf(payload), Combos, combos)
    return handlers
      .handle("explain", ({ payload }) =>
        Effect.flatMap(chosen(payload), (tried) =>
          explainer
            .explain({
              ...tried,
              wire: payload.wire ?? "chat",
              body: payload.body ?? {},
              headers: lowerCase(payload.headers ?? {}),
              apiKeyId: payload.apiKeyId ?? null,
              seed: payload.seed ?? null
            })
            .pipe(Effect.mapBoth({ onFailure: refused, onSuccess: (decision) => ({ decision }) }))
        )
      )
      .handle("simulate", ({ payload }) =>
        Effect.gen(function* () {
          const work = yield* asRefused(simulator.simulate(Trials.simulationOf(payload, yield* chosen(payload))))
          return yield* withProgressEvents((tell) => Effect.map(work(tell), Trials.simulationAnswer))
        })
      )
      .handle("replay", ({ payload }) =>
        Effect.gen(function* () {
          const work = yield* asRefused(simulator.replay(Trials.replayOf(payload, yield* chosen(payload))))
          return yield* withProgressEvents((tell) => answered(Effect.map(work(tell), Trials.replayAnswer)))
        })
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
