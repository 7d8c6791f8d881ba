/**
 * The agent bridge: requests of coding agents that were decrypted on their way to the vendor are answered by this gateway where their model is
 * mapped, through the ordinary pipeline and in the agent's own wire. All others go on to the vendor; the listener that decrypts does that.
 */
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as FiberSet from "effect/FiberSet"
import * as Layer from "effect/Layer"
import { makeLane } from "../../kernel/Lane.ts"
import type { RequestHeaders } from "../../subjects/auth/Credentials.ts"
import { type AgentState, initialState, type ModelMapping } from "../../subjects/agentBridge/entity.ts"
import type { Principal } from "../../subjects/keys/entity.ts"
import * as InnerRequests from "../../plane/InnerRequests.ts"
import { changingHead, withHeaders } from "../../plane/reply/ReplyHeaders.ts"
import type { ClientReply } from "../../plane/request/Exchange.ts"
import { GatewayCapture } from "../../plane/tap/GatewayCapture.ts"
import { TrafficTap } from "../../plane/tap/TrafficTap.ts"
import type { ClientSocket } from "../../observe/inspector/Attribution.ts"
import * as Timers from "../../platform/Timers.ts"
import type { StoreError } from "../../store/Errors.ts"
import { BridgeRepo } from "../../subjects/agentBridge/repo.ts"
import { readForeignJson } from "../../wire/json/Bounds.ts"
import { isObject, type JsonObject } from "../../wire/json/Json.ts"
import { replaceModelBytes } from "../../wire/json/TopLevelSplice.ts"
import { streamedArray } from "../../wire/StreamedArray.ts"
import type { Agent } from "./agents/Agent.ts"
import { agentById } from "./agents/Agents.ts"
import { agentOf, decide, isAnswerable, type ReadMapping, readMapping } from "./Decide.ts"
import { problemOf } from "./Globs.ts"
import { ownHeaders } from "./Headers.ts"
import { showingModel } from "./ShownModel.ts"
import { type RequestFormat, requestFormatOf } from "./RequestWire.ts"
import * as CloudCode from "./CloudCode.ts"

/** No agent has this id. */
export class UnknownAgent extends Data.TaggedError("UnknownAgent")<{ readonly id: string }> {}

/** A setting that cannot be used. `field` as in the request, such as `mappings[1].sourceModel`. */
export class InvalidBridgeSetting extends Data.TaggedError("InvalidBridgeSetting")<{
  readonly field: string
  readonly message: string
}> {}

/** A decrypted request. */
export interface BridgedRequest {
  readonly host: string
  readonly scheme: "http" | "https"
  readonly method: string
  /** Path with its query. */
  readonly path: string
  /** Lower-case names. */
  readonly headers: RequestHeaders
  /** The same as they came, names and values in turn. */
  readonly rawHeaders: ReadonlyArray<string>
  /** Body as it came, perhaps compressed. */
  readonly sent: Buffer
  /** Body without its compression. */
  readonly body: Buffer
  readonly client?: ClientSocket
}

/** A request that this gateway answers. */
export interface BridgedCall {
  readonly request: BridgedRequest
  readonly agent: Agent
  readonly spoken: RequestFormat
  /** Request to answer: the client's own bytes where there is no wrapper around them, with its own model. */
  readonly parsed: JsonObject
  readonly sourceModel: string
  readonly targetModel: string
}

export class Bridge extends Context.Tag("gateway/agents/bridge/Bridge")<
  Bridge,
  {
    /** Hot: a decrypted request to a host has come. The first one to an agent's host shows that its set-up is complete. */
    readonly noticed: (host: string) => void
    /** Hot: checks whether requests to a host may be answered here: models of its agent are mapped. */
    readonly answersFor: (host: string) => boolean
    /** Hot: decides whether the body of a request has to be read to know who answers it. False: it goes on. */
    readonly wantsBody: (request: Pick<BridgedRequest, "host" | "method" | "path">) => boolean
    /** Null: it goes on to the vendor as it is. */
    readonly judge: (request: BridgedRequest) => BridgedCall | null
    /** Answers a call. Never throws; `over` is called once, when nothing more is done. */
    readonly serve: (call: BridgedCall, reply: ClientReply, over?: () => void) => void
    readonly state: (agentId: string) => Effect.Effect<AgentState, UnknownAgent>
    readonly change: (
      agentId: string,
      change: Partial<AgentState>
    ) => Effect.Effect<AgentState, UnknownAgent | StoreError>
    readonly mappings: (agentId: string) => Effect.Effect<ReadonlyArray<ModelMapping>, UnknownAgent>
    /** Replaces those of the agent. */
    readonly setMappings: (
      agentId: string,
      mappings: ReadonlyArray<ModelMapping>
    ) => Effect.Effect<ReadonlyArray<ModelMapping>, UnknownAgent | InvalidBridgeSetting | StoreError>
  }
>() {}

export const maxMappings = 200
const maxModelChars = 256

/** An intercepted program runs on this machine and has no key of this gateway. */
const caller: Principal = { _tag: "Anonymous" }

const none: ReadonlyArray<ReadMapping> = []

/** Null: they are fine. */
export const problemInMappings = (mappings: ReadonlyArray<ModelMapping>): InvalidBridgeSetting | null => {
  const wrong = (field: string, message: string): InvalidBridgeSetting => new InvalidBridgeSetting({ field, message })
  if (mappings.length > maxMappings) return wrong("mappings", `An agent has at most ${maxMappings} mappings.`)
  const seen = new Set<string>()
  for (const [at, { sourceModel, targetModel }] of mappings.entries()) {
    const problem = problemOf(sourceModel)
    if (problem !== null) return wrong(`mappings[${at}].sourceModel`, problem)
    if (seen.has(sourceModel)) return wrong(`mappings[${at}].sourceModel`, "This model is mapped already.")
    seen.add(sourceModel)
    if (targetModel.trim() === "" || targetModel.length > maxModelChars) {
      return wrong(`mappings[${at}].targetModel`, `A model has 1 to ${maxModelChars} characters.`)
    }
  }
  return null
}

/** The body with the model that answers, everything else as the client wrote it. */
const bodyFor = ({ agent, parsed, request, spoken, targetModel }: BridgedCall): Buffer => {
  if (agent.wrapper !== null) {
    const { model: _named, ...inner } = parsed
    return Buffer.from(JSON.stringify(inner))
  }
  return spoken.fromPath === null ? replaceModelBytes(request.body, parsed, targetModel) : request.body
}

/** Returns the request without the agent's wrapper. */
const askedOf = ({ wrapper }: Agent, body: JsonObject): JsonObject | null =>
  wrapper === null ? body : CloudCode.unwrapRequest(body)

const knownAgent = (id: string): Effect.Effect<Agent, UnknownAgent> => {
  const agent = agentById.get(id)
  return agent === undefined ? new UnknownAgent({ id }) : Effect.succeed(agent)
}

/** The agents' states and mappings, in memory and in the store. */
const makeSettings = Effect.gen(function* () {
  const repo = yield* BridgeRepo
  const timers = yield* Timers.Timers
  const oneAtATime = makeLane(1)

  const states = new Map((yield* repo.states).map(({ agentId, ...state }) => [agentId, state] as const))
  const mappings = new Map<string, ReadonlyArray<ReadMapping>>()
  for (const { agentId, sourceModel, targetModel } of yield* repo.mappings) {
    mappings.set(agentId, [...(mappings.get(agentId) ?? none), readMapping({ sourceModel, targetModel })])
  }
  const mappingsOf = (agentId: string): ReadonlyArray<ReadMapping> => mappings.get(agentId) ?? none

  const state = (agentId: string) => Effect.map(knownAgent(agentId), ({ id }) => states.get(id) ?? initialState)

  const change = Effect.fn("Bridge.change")(function* (agentId: string, changed: Partial<AgentState>) {
    const next = { ...(yield* state(agentId)), ...changed }
    yield* repo.saveState({ agentId, ...next })
    states.set(agentId, next)
    return next
  }, oneAtATime.inTurn)

  const setMappings = Effect.fn("Bridge.setMappings")(function* (agentId: string, wanted: ReadonlyArray<ModelMapping>) {
    yield* knownAgent(agentId)
    const problem = problemInMappings(wanted)
    if (problem !== null) return yield* problem
    yield* repo.saveMappings(agentId, wanted, timers.nowMs())
    mappings.set(agentId, wanted.map(readMapping))
    return wanted
  }, oneAtATime.inTurn)

  const completed = [...states].flatMap(([agentId, { setupCompleted }]) => (setupCompleted ? [agentId] : []))
  return { completed, mappingsOf, state, change, setMappings }
})

type Settings = Effect.Effect.Success<typeof makeSettings>

/** Notes that an agent's set-up is complete when the first request to one of its hosts comes. */
const makeNoticed = ({ change, completed }: Settings) =>
  Effect.gen(function* () {
    const inBackground = yield* FiberSet.makeRuntime<never>()
    /** Agents whose set-up is known to be complete, or is being noted as it. At most one entry per agent. */
    const settled = new Set(completed)

    const finishSetUp = Effect.fn("Bridge.finishSetUp")((agentId: string) =>
      change(agentId, { setupCompleted: true }).pipe(
        Effect.catchAll((error) => Effect.logWarning(`The set-up of ${agentId} could not be kept.`, error))
      )
    )

    return (host: string): void => {
      const agent = agentOf(host)
      if (agent === null || settled.has(agent.id)) return
      settled.add(agent.id)
      inBackground(finishSetUp(agent.id))
    }
  })

/** Decides who answers a request. */
const makeJudging = ({ mappingsOf }: Settings) => {
  const answersFor = (host: string): boolean => {
    const agent = agentOf(host)
    return agent !== null && mappingsOf(agent.id).length > 0
  }

  const wantsBody = ({ host, method, path }: Pick<BridgedRequest, "host" | "method" | "path">): boolean => {
    const agent = agentOf(host)
    return agent !== null && answersFor(host) && isAnswerable(agent, method, path)
  }

  const judge = (request: BridgedRequest): BridgedCall | null => {
    const agent = agentOf(request.host)
    if (agent === null || !wantsBody(request)) return null
    const body = readForeignJson(request.body.toString("utf8"))
    const parsed = isObject(body) ? askedOf(agent, body) : null
    const spoken = parsed === null ? null : requestFormatOf(request.path, parsed)
    if (parsed === null || spoken === null) return null
    // Events are all that clients of the wrapper ask for: nothing is known of how it looks around an array.
    if (agent.wrapper !== null && spoken.codec === streamedArray) return null
    const decision = decide({ ...request, model: spoken.model }, mappingsOf)
    return decision._tag === "Target" ? { ...decision, request, spoken, parsed } : null
  }

  return { answersFor, wantsBody, judge }
}

/** Lists what the inspector keeps of a call. */
const factsOf = ({ agent, request, sourceModel, targetModel }: BridgedCall) =>
  ({
    source: "agent-bridge",
    agent: agent.id,
    scheme: request.scheme,
    host: request.host,
    path: request.path,
    headers: request.rawHeaders,
    body: request.sent,
    sourceModel,
    mappedModel: targetModel,
    ...(request.client === undefined ? {} : { client: request.client })
  }) as const

export const make = Effect.gen(function* () {
  const requests = yield* InnerRequests.InnerRequests
  const tap = yield* TrafficTap
  const sink = yield* (yield* GatewayCapture).sink
  const settings = yield* makeSettings

  const serve = (call: BridgedCall, reply: ClientReply, over?: () => void): void => {
    const { agent, request, sourceModel, spoken, targetModel } = call
    const { fromPath } = spoken
    const facts = factsOf(call)
    requests.relay(
      {
        behalf: { principal: caller, madeFor: "client", category: spoken.category },
        path: `/api/tools/agent-bridge/agents/${agent.id}`,
        format: { ...spoken, fromPath: fromPath === null ? null : { ...fromPath, model: targetModel } },
        body: bodyFor(call),
        headers: ownHeaders(request.headers),
        reply: changingHead(reply, (_, headers) => withHeaders(headers, ["X-Gateway-Mapped-Model", targetModel])),
        prepared: (exchange) => {
          const made = tap.recorded(exchange, facts, sink)
          const spokenTo = agent.wrapper === null ? made.reply : CloudCode.wrappingReply(made.reply)
          return { ...made, reply: showingModel(spokenTo, spoken.codec, sourceModel) }
        }
      },
      over
    )
  }

  return Bridge.of({
    ...makeJudging(settings),
    noticed: yield* makeNoticed(settings),
    serve,
    state: settings.state,
    change: settings.change,
    mappings: (agentId) =>
      Effect.map(knownAgent(agentId), ({ id }) =>
        settings.mappingsOf(id).map(({ sourceModel, targetModel }) => ({ sourceModel, targetModel }))
      ),
    setMappings: settings.setMappings
  })
})

export const layer: Layer.Layer<
  Bridge,
  StoreError,
  BridgeRepo | InnerRequests.InnerRequests | TrafficTap | Timers.Timers | GatewayCapture
> = Layer.scoped(Bridge, make)
