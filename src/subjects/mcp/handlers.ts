/** `/api/mcp`. */
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { contractOf } from "../../contract/GroupContract.ts"
import { Mcp } from "./routes.ts"
import type { McpCallView } from "./routes.ts"
import { requestedAddress } from "../auth/Credentials.ts"
import { Flags } from "../flags/service.ts"
import { GatewaySettings } from "../flags/StoredFlags.ts"
import { countOf, Directory, toolsOf } from "../../agents/mcp/Directory.ts"
import { Upstreams } from "../../agents/mcp/upstream/Upstreams.ts"
import { type McpCall, McpAuditRepo } from "./repo.ts"
import { answered } from "../../entry/handling/Answers.ts"
import { iso, isoOrNull } from "../../entry/handling/Views.ts"

const dayMs = 86_400_000
const usualLimit = 100

const viewOf = ({ apiKeyId, atMs, durationMs, id, inputHash, outputSummary, success, tool }: McpCall): McpCallView => ({
  id,
  timestamp: iso(atMs),
  tool,
  apiKeyId,
  inputHash,
  outputSummary,
  durationMs,
  success
})

const origin = Effect.map(HttpServerRequest.HttpServerRequest, ({ headers }) => requestedAddress(headers) ?? "")

export const layer = HttpApiBuilder.group(contractOf(Mcp), "mcp", (handlers) =>
  Effect.gen(function* () {
    const audit = yield* McpAuditRepo
    const directory = yield* Directory
    const flags = yield* Flags
    const settings = yield* GatewaySettings
    const upstreams = yield* Upstreams
    return handlers
      .handle("status", () =>
        Effect.gen(function* () {
          const nowMs = yield* Clock.currentTimeMillis
          const sums = yield* answered(audit.sums(nowMs - dayMs))
          const count = yield* countOf(directory)
          const { mcpEnabled } = settings.current()
          return {
            status: mcpEnabled ? ("online" as const) : ("off" as const),
            online: mcpEnabled,
            enabled: mcpEnabled,
            transport: "streamable-http" as const,
            httpTransport: { url: `${yield* origin}/mcp`, sessions: directory.server()?.sessions() ?? 0 },
            scopesEnforced: flags.isOn("GATEWAY_MCP_ENFORCE_SCOPES"),
            tools: count,
            activity: {
              totalCalls24h: sums.calls,
              successRate: sums.calls === 0 ? null : sums.succeeded / sums.calls,
              avgDurationMs: sums.avgDurationMs,
              topTools: sums.byTool,
              lastCallAt: isoOrNull(sums.lastAtMs),
              lastCallTool: sums.lastTool
            }
          }
        })
      )
      .handle("restart", () =>
        answered(
          Effect.map(upstreams.restart, (servers) => ({
            restarted: true as const,
            sessions: directory.server()?.endSessions() ?? 0,
            servers
          }))
        )
      )
      .handle("tools", () =>
        Effect.map(toolsOf(directory), (tools) => ({
          tools: tools.map(({ description, effect, name, scopes, server, title }) => ({
            name,
            server: server ?? null,
            title,
            description,
            scopes: [...scopes],
            effect
          }))
        }))
      )
      .handle("audit", ({ urlParams: { limit, offset, tool } }) =>
        Effect.map(answered(audit.list(tool ?? null, limit ?? usualLimit, offset ?? 0)), (calls) => ({
          calls: calls.map(viewOf)
        }))
      )
  })
)
