/** MCP servers of others: which there are, and which of their tools are offered. A change holds from the next list of tools on. */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { isAbsolute } from "node:path"
import { makeLane } from "../../kernel/Lane.ts"
import type { CreateMcpServer, UpdateMcpServer } from "./routes.ts"
import type { McpServer, McpServerSettings } from "./entity.ts"
import { ApiKeys } from "../auth/ApiKeys.ts"
import { Flags } from "../flags/service.ts"
import { Upstreams } from "../../agents/mcp/upstream/Upstreams.ts"
import type { ServerState } from "../../agents/mcp/upstream/UpstreamServer.ts"
import { IdGen } from "../../platform/IdGen.ts"
import { isProgram } from "../../platform/programs/ProgramFile.ts"
import type { StoreError } from "../../store/Errors.ts"
import { McpServerRepo, type StoredMcpServer } from "./repo.ts"
import { addressProblem } from "../connections/rules.ts"
import * as Errors from "../Errors.ts"
import * as Rules from "./rules.ts"

export interface McpServerReport {
  readonly server: StoredMcpServer
  readonly state: ServerState
}

type Missing = Errors.EntityNotFound | StoreError

export class McpServers extends Context.Tag("gateway/subjects/mcpServers/McpServers")<
  McpServers,
  {
    /** Oldest first. No server is asked. */
    readonly list: Effect.Effect<ReadonlyArray<McpServerReport>, StoreError>
    readonly get: (id: string) => Effect.Effect<McpServerReport, Missing>
    /** Registers a server. The permission to name a program is checked before. */
    readonly create: (
      input: CreateMcpServer
    ) => Effect.Effect<McpServerReport, Errors.InvalidInput | Errors.StateConflict | StoreError>
    /** Updates a server, as `create`. */
    readonly update: (
      id: string,
      input: UpdateMcpServer
    ) => Effect.Effect<McpServerReport, Errors.InvalidInput | Errors.StateConflict | Missing>
    readonly remove: (id: string) => Effect.Effect<void, Missing>
    /** Connects now; the state after it. */
    readonly test: (id: string) => Effect.Effect<McpServerReport, Missing>
  }
>() {}

export const maxMcpServers = 32

export const make = Effect.gen(function* () {
  const flags = yield* Flags
  const keys = yield* ApiKeys
  const ids = yield* IdGen
  const repo = yield* McpServerRepo
  const upstreams = yield* Upstreams
  // A change is read, checked and written without another one in between.
  const oneAtATime = makeLane(1).inTurn

  const find = Effect.fnUntraced(function* (id: string) {
    return (yield* repo.get(id)) ?? (yield* new Errors.EntityNotFound({ entity: "MCP server", id }))
  })
  const reported = (server: StoredMcpServer): Effect.Effect<McpServerReport> =>
    Effect.map(upstreams.state(server), (state) => ({ server, state }))

  const nameTaken = (name: string) => () => Errors.nameTaken("an MCP server", name)

  const checkProgram = ({ program }: McpServerSettings) => {
    if (program === null) return Effect.void
    if (!isAbsolute(program.command)) return Errors.invalid("command", "must be an absolute path")
    return isProgram(program.command) ? Effect.void : Errors.invalid("command", "there is no program at this path")
  }
  const checkKeys = ({ allowedKeys }: { readonly allowedKeys?: ReadonlyArray<string> | null }) => {
    const unknown = allowedKeys?.find((id) => keys.get(id) === null)
    return unknown === undefined ? Effect.void : Errors.invalid("allowedKeys", `there is no API key '${unknown}'`)
  }
  const checkUrl = ({ url }: McpServerSettings) => Errors.refuseOne(addressProblem("url", url, flags.isOn))

  const create = Effect.fn("McpServers.create")(function* (input: CreateMcpServer) {
    if (input.url === undefined && input.command === undefined) {
      return yield* Errors.invalid("url", "is missing; a program has 'command' instead")
    }
    yield* Errors.refuseOne(Rules.inputProblem(input, input.command !== undefined))
    const nowMs = yield* Clock.currentTimeMillis
    const server: McpServer = {
      ...Rules.settingsOf(input),
      id: ids.next(nowMs),
      createdAtMs: nowMs,
      updatedAtMs: nowMs
    }
    yield* checkUrl(server)
    yield* checkKeys(input)
    yield* checkProgram(server)
    if ((yield* repo.list).length >= maxMcpServers) return yield* Errors.tooMany(maxMcpServers, "MCP servers")
    yield* Effect.catchTag(repo.insert(server), "AlreadyStored", nameTaken(server.name))
    yield* upstreams.reload
    return yield* reported({ ...server, locked: false })
  }, oneAtATime)

  const update = Effect.fn("McpServers.update")(function* (id: string, input: UpdateMcpServer) {
    const before = yield* find(id)
    yield* Errors.refuseOne(Rules.inputProblem(input, before.url === null))
    // Two changes within a millisecond are two states.
    const updatedAtMs = Math.max(yield* Clock.currentTimeMillis, before.updatedAtMs + 1)
    const after = { ...Rules.changed(before, input), updatedAtMs }
    yield* checkUrl(after)
    yield* checkKeys(input)
    if (Rules.namesProgram(input)) yield* checkProgram(after)
    yield* Errors.refuseOne(Rules.moveProblem(before, after))
    yield* Effect.catchTag(repo.update(after), "AlreadyStored", nameTaken(after.name))
    yield* upstreams.reload
    return yield* reported(yield* find(id))
  }, oneAtATime)

  const remove = Effect.fn("McpServers.remove")(function* (id: string) {
    if (!(yield* repo.remove(id))) return yield* new Errors.EntityNotFound({ entity: "MCP server", id })
    yield* upstreams.reload
  }, oneAtATime)

  return McpServers.of({
    list: Effect.withSpan(
      Effect.flatMap(repo.list, (all) => Effect.forEach(all, reported)),
      "McpServers.list"
    ),
    get: Effect.fn("McpServers.get")((id: string) => Effect.flatMap(find(id), reported)),
    create,
    update,
    remove,
    test: Effect.fn("McpServers.test")(function* (id: string) {
      const server = yield* find(id)
      return { server, state: yield* upstreams.test(server) }
    })
  })
})

export const layer: Layer.Layer<McpServers, never, ApiKeys | Flags | IdGen | McpServerRepo | Upstreams> = Layer.effect(
  McpServers,
  make
)
