/** Agents of the Agent Client Protocol: those that are known, and those that the owner of the machine has added. */
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { isAbsolute } from "node:path"
import { makeLane } from "../../kernel/Lane.ts"
import type { StoreError } from "../../store/Errors.ts"
import { SettingsRepo } from "../../subjects/settings/repo.ts"
import { type AcpAgent, acpAgents } from "./catalogue/Tools.ts"
import { Detector } from "./detection/Detector.ts"
import { isProgram } from "../../platform/programs/ProgramFile.ts"

const Custom = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  binary: Schema.String,
  protocol: Schema.Literal("stdio", "http"),
  spawnArgs: Schema.Array(Schema.String),
  providerAlias: Schema.NullOr(Schema.String)
})
export type CustomAgent = typeof Custom.Type
const decode = Schema.decodeUnknownEither(Custom)

export interface AgentStatus extends AcpAgent {
  readonly version: string | null
  readonly installed: boolean
  readonly reason: string | null
}

/** `message` is a sentence for people. */
export class AgentRefused extends Data.TaggedError("AgentRefused")<{
  readonly message: string
  readonly param: string
}> {}

export class AcpAgents extends Context.Tag("gateway/agents/tools/AcpAgents")<
  AcpAgents,
  {
    readonly list: (fresh: boolean) => Effect.Effect<ReadonlyArray<AgentStatus>, StoreError>
    /** Adds an agent. The permission is checked before: the program is started for its version. */
    readonly add: (agent: CustomAgent) => Effect.Effect<AgentStatus, AgentRefused | StoreError>
    /** False: there is none of this id that was added. */
    readonly remove: (id: string) => Effect.Effect<boolean, StoreError>
  }
>() {}

const namespace = "acp_agents"
/** Agents that may be added. */
const most = 100
const mostAtOnce = 4

export const make = Effect.gen(function* () {
  const repo = yield* SettingsRepo
  const detector = yield* Detector
  const oneAtATime = makeLane(1)

  const customs = Effect.map(repo.list(namespace), (rows) =>
    Array.from(rows.values()).flatMap((row) => {
      const read = decode(row)
      return Either.isRight(read) ? [read.right] : []
    })
  )

  const statusOf = (agent: AcpAgent, fresh: boolean): Effect.Effect<AgentStatus> =>
    Effect.map(detector.detect(agent.id, agent.binary, fresh), ({ installed, reason, version }) => ({
      ...agent,
      version,
      installed,
      reason
    }))

  const ofCustom = ({ binary, id, name, protocol }: CustomAgent): AcpAgent => ({
    id,
    name,
    binary,
    protocol,
    isCustom: true
  })

  const refused = (param: string, message: string) => new AgentRefused({ param, message })

  const add = Effect.fn("AcpAgents.add")(function* (agent: CustomAgent) {
    if (acpAgents.some(({ id }) => id === agent.id))
      return yield* refused("id", `'${agent.id}' is an agent that is known already.`)
    if (!isAbsolute(agent.binary)) return yield* refused("binary", "The program must be named by an absolute path.")
    if (!isProgram(agent.binary)) return yield* refused("binary", "There is no program at this path.")
    const known = yield* customs
    if (known.some(({ id }) => id === agent.id)) return yield* refused("id", `There is an agent '${agent.id}' already.`)
    if (known.length >= most) return yield* refused("id", `There may be ${most} agents at most.`)
    yield* repo.set(namespace, agent.id, agent)
    return yield* statusOf(ofCustom(agent), true)
  }, oneAtATime.inTurn)

  return AcpAgents.of({
    list: Effect.fn("AcpAgents.list")(function* (fresh: boolean) {
      const all = [...acpAgents, ...(yield* customs).map(ofCustom)]
      return yield* Effect.forEach(all, (agent) => statusOf(agent, fresh), { concurrency: mostAtOnce })
    }),
    add,
    remove: (id) => repo.remove(namespace, id)
  })
})

export const layer: Layer.Layer<AcpAgents, never, Detector | SettingsRepo> = Layer.effect(AcpAgents, make)
