/** Explains decisions (`POST /api/routing/explain`): the same steps as for a real request, up to the call. */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import { ApiKeys } from "../subjects/auth/ApiKeys.ts"
import type { DecisionRecord } from "../subjects/routing/entity.ts"
import { describe, InvalidRequest, ModelNotFound, NoTarget } from "../contract/domain/Errors.ts"
import * as IdGen from "../platform/IdGen.ts"
import * as Timers from "../platform/Timers.ts"
import { recordOf } from "./routing/records/DecisionLog.ts"
import * as Engine from "./routing/decide/Engine.ts"
import { Explainer, type ExplainRequest } from "./routing/decide/Explainer.ts"
import type { Decided } from "./routing/decide/Decide.ts"
import { permitted } from "./routing/decide/Refusals.ts"
import { type Denials, denialsOf } from "./routing/resolve/KeyModels.ts"
import type { Resolution } from "./routing/resolve/ModelResolver.ts"
import * as Resolutions from "./routing/resolve/Resolutions.ts"
import { startsPrompt } from "./routing/decide/SessionAffinity.ts"
import { sessionIdOf, sessionKeyOf } from "./routing/decide/SessionKey.ts"
import { TargetHealth } from "./routing/health/TargetHealth.ts"
import * as Settings from "./resilience/Settings.ts"
import { leftOutOf } from "./routing/walk/Preview.ts"
import { routePolicy } from "./routing/walk/RoutePolicy.ts"
import { codecs } from "../wire/Codec.ts"
import { isObject, type JsonObject, parseJson } from "../wire/json/Json.ts"
import { featuresOf } from "./request/RequestFeatures.ts"

/** Denies nothing: for a caller without rules. */
const anything = (resolution: Resolution): Denials => ({ allowed: resolution, targets: new Map(), refusal: null })

/** The decision with what the key may not have among its exclusions. */
const withDenials = (decided: Decided, { refusal, targets }: Denials): Decided => {
  if (targets.size === 0) return decided
  const exclusions = new Map(decided.exclusions)
  for (const [target, detail] of targets) exclusions.set(target, { rule: "key", untilMs: null, detail })
  if (refusal === null) return { ...decided, exclusions }
  const { code, status } = describe(refusal)
  return { ...decided, order: [], exclusions, reason: { _tag: "Refused", status, code } }
}

const noKey = (): InvalidRequest => {
  const message = "apiKeyId: is not the id of an API key of this gateway; gateway keys list shows them"
  return new InvalidRequest({ message, param: "apiKeyId", details: [{ field: "apiKeyId", message }] })
}

type Explained = Effect.Effect<DecisionRecord, ModelNotFound | NoTarget | InvalidRequest>

/** Smallest body that makes a request, where the question leaves it out. */
const emptyPrompt: Readonly<Record<ExplainRequest["wire"], JsonObject>> = {
  chat: { messages: [{ role: "user", content: "" }] },
  messages: { messages: [{ role: "user", content: "" }], max_tokens: 1_024 },
  responses: { input: "" },
  gemini: { contents: [{ role: "user", parts: [{ text: "" }] }] },
  ollama: { messages: [{ role: "user", content: "" }] }
}

export const layer = Layer.effect(
  Explainer,
  Effect.gen(function* () {
    const engine = yield* Engine.Engine
    const resolutions = yield* Resolutions.Resolutions
    const ids = yield* IdGen.IdGen
    const timers = yield* Timers.Timers
    const health = yield* TargetHealth
    const settings = yield* Settings.Settings
    const keys = yield* ApiKeys

    /** Waits until the event loop has done what is ready now. */
    const turn = Effect.async<void>((resume) => timers.soon(() => resume(Effect.void)))

    const explain = (request: ExplainRequest) =>
      Effect.suspend((): Explained => {
        const { headers, model, wire } = request
        const codec = codecs[wire]
        const text = JSON.stringify({ ...emptyPrompt[wire], ...request.body, model })
        const body = parseJson(text)
        if (!isObject(body)) {
          const message = "body: expected a request of the wire"
          return Effect.fail(new InvalidRequest({ message, param: "body", details: [] }))
        }
        const wrong = codec.misspelt(body)
        if (wrong !== null) {
          const { message, path } = wrong
          return Effect.fail(new InvalidRequest({ message, param: path, details: [{ field: path, message }] }))
        }
        const envelope = codec.checkEnvelope(body)
        if (Either.isLeft(envelope)) return Effect.fail(envelope.left)
        const { apiKeyId, combo } = request
        const key = apiKeyId === null ? null : keys.get(apiKeyId)
        if (apiKeyId !== null && key === null) return Effect.fail(noKey())
        const resolution = combo === null ? resolutions.requested(model) : resolutions.tried(combo, model)
        if (resolution instanceof ModelNotFound || resolution instanceof NoTarget) return Effect.fail(resolution)
        const denials = key === null ? anything(resolution) : denialsOf(key, model, resolution)
        const open = denials.allowed ?? resolution
        const sessionId = sessionIdOf(headers, body)
        const sessionKey = sessionId === null ? null : sessionKeyOf(apiKeyId ?? "", model, sessionId)
        const nowMs = timers.nowMs()
        const decided = engine.decide({
          model,
          resolution: open,
          features: () =>
            featuresOf(
              { wire },
              envelope.right,
              { parsed: body, conversation: () => codec.decodeRequest(body) },
              sessionKey
            ),
          sessionKey,
          startsPrompt: () => startsPrompt(wire, body),
          modeHeader: headers["x-gateway-mode"] ?? null,
          budgetHeader: headers["x-gateway-budget"] ?? null,
          seed: request.seed ?? ids.seed(),
          nowMs
        })
        const refusals = engine.shares.refusals(open, apiKeyId, nowMs, model)
        const decision = withDenials(permitted(decided, refusals, nowMs).decision, denials)
        const record = () =>
          recordOf({
            requestId: ids.next(nowMs),
            requestedModel: model,
            resolution,
            decision,
            attempts: [],
            // A refused target is not asked, whatever its health.
            exclusions: leftOutOf({
              order: open.targets.filter((target) => !refusals.has(target) && !denials.targets.has(target)),
              policy: routePolicy(settings.current(), resolution.policy),
              unready: health.unready,
              nowMs
            }),
            chosen: null
          })
        // Over a thousand accounts the decision, its record and the answer take some milliseconds each.
        return Effect.zipLeft(Effect.map(turn, record), turn)
      })
    return Explainer.of({ explain })
  })
)
