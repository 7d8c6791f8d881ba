/** `/.well-known/agent-card.json` and `/api/a2a`. */
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { agentCard } from "../../agents/a2a/Card.ts"
import { agentSkillIds } from "../../agents/a2a/SkillIds.ts"
import { AgentTasks } from "../../agents/a2a/Tasks.ts"
import { contractOf } from "../../contract/GroupContract.ts"
import { A2a } from "./routes.ts"
import { requestedAddress } from "../auth/Credentials.ts"
import { GatewaySettings } from "../flags/StoredFlags.ts"

const origin = Effect.map(HttpServerRequest.HttpServerRequest, ({ headers }) => requestedAddress(headers) ?? "")

/** The card names the address that was asked. */
const cardHeaders = { "Cache-Control": "public, max-age=3600", Vary: "Host, X-Forwarded-Proto, X-Forwarded-Prefix" }

const card = Effect.map(origin, (address) =>
  HttpServerResponse.text(JSON.stringify(agentCard(address)), {
    contentType: "application/json",
    headers: cardHeaders
  })
)

export const layer = HttpApiBuilder.group(contractOf(A2a), "a2a", (handlers) =>
  Effect.gen(function* () {
    const settings = yield* GatewaySettings
    const tasks = yield* AgentTasks
    return handlers
      .handle("card", () => card)
      .handle("formerCard", () => card)
      .handle("status", () =>
        Effect.zipWith(origin, Clock.currentTimeMillis, (address, nowMs) => ({
          enabled: settings.current().a2aEnabled,
          url: `${address}/a2a`,
          skills: [...agentSkillIds],
          tasks: tasks.counts(nowMs)
        }))
      )
  })
)
