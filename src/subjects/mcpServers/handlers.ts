/** `/api/mcp/servers`. */
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { contractOf } from "../../contract/GroupContract.ts"
import { McpServers as McpServersGroup } from "./routes.ts"
import type { McpServerTested, McpServerView } from "./routes.ts"
import { type McpServerReport, McpServers } from "./service.ts"
import { shownArguments } from "./rules.ts"
import { offeredName } from "../../agents/mcp/upstream/ForeignTools.ts"
import { answered } from "../../entry/handling/Answers.ts"
import { atTheMachine } from "../../entry/handling/AtTheMachine.ts"
import { paged } from "../../entry/handling/Pages.ts"
import { iso, isoOrNull } from "../../entry/handling/Views.ts"

const viewOf = ({ server, state }: McpServerReport): McpServerView => ({
  id: server.id,
  name: server.name,
  transport: server.url === null ? "stdio" : "http",
  url: server.url,
  headerNames: Object.keys(server.headers ?? {}),
  command: server.program?.command ?? null,
  args: server.program === null ? null : shownArguments(server.program.args),
  envNames: Object.keys(server.program?.env ?? {}),
  timeoutMs: server.timeoutMs,
  enabled: server.isEnabled,
  allowedTools: server.allowedTools,
  allowedKeys: server.allowedKeys,
  status: state.status,
  lastError: state.lastError,
  toolCount: state.tools?.length ?? null,
  serverInfo: state.info,
  protocolVersion: state.version,
  lastSeenAt: isoOrNull(state.seenAtMs),
  createdAt: iso(server.createdAtMs),
  updatedAt: iso(server.updatedAtMs)
})

const one = (report: McpServerReport) => ({ server: viewOf(report) })

const testedOf = ({ server, state }: McpServerReport, latencyMs: number): McpServerTested => ({
  ok: state.lastError === null,
  error: state.lastError,
  latencyMs: Math.round(latencyMs),
  tools: (state.tools ?? []).map(({ description, name, title }) => ({
    name: offeredName(server.name, name),
    title,
    description
  }))
})

const atMachine = atTheMachine("Naming or starting a program", ["Owner"])

export const layer = HttpApiBuilder.group(contractOf(McpServersGroup), "mcpServers", (handlers) =>
  Effect.gen(function* () {
    const servers = yield* McpServers

    const guardProgram = (id: string) =>
      Effect.flatMap(answered(servers.get(id)), ({ server }) => (server.url === null ? atMachine : Effect.void))

    return handlers
      .handle("list", () =>
        Effect.gen(function* () {
          const { items, nextCursor, total } = yield* paged(yield* answered(servers.list), ({ server }) => server.id)
          return { servers: items.map(viewOf), nextCursor, total }
        })
      )
      .handle("create", ({ payload }) =>
        Effect.gen(function* () {
          if (payload.command !== undefined) yield* atMachine
          return one(yield* answered(servers.create(payload)))
        })
      )
      .handle("get", ({ path: { id } }) => Effect.map(answered(servers.get(id)), one))
      .handle("update", ({ path: { id }, payload }) =>
        Effect.gen(function* () {
          yield* guardProgram(id)
          return one(yield* answered(servers.update(id, payload)))
        })
      )
      .handle("remove", ({ path: { id } }) => answered(servers.remove(id)))
      .handle("test", ({ path: { id } }) =>
        Effect.gen(function* () {
          yield* guardProgram(id)
          const [took, report] = yield* Effect.timed(answered(servers.test(id)))
          return testedOf(report, Duration.toMillis(took))
        })
      )
  })
)
