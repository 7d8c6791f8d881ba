/** `/api/settings`. */
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as Effect from "effect/Effect"
import { GatewayApi } from "../../api/Api.ts"
import { GatewaySettings } from "../../flags/GatewaySettings.ts"
import { answered } from "./Answers.ts"

export const layer = HttpApiBuilder.group(GatewayApi, "gatewaySettings", (handlers) =>
  Effect.map(GatewaySettings, (settings) =>
    handlers
      .handle("get", () => Effect.sync(settings.current))
      .handle("update", ({ payload }) => answered(settings.patch(payload)))
      .handle("put", ({ payload }) => answered(settings.patch(payload)))
      .handle("ipFilter", () => Effect.sync(settings.access.ipFilter.current))
      .handle("setIpFilter", ({ payload }) => answered(settings.access.ipFilter.patch(payload)))
      .handle("thinkingBudget", () => Effect.sync(settings.access.thinkingBudget.current))
      .handle("setThinkingBudget", ({ payload }) => answered(settings.access.thinkingBudget.patch(payload)))
      .handle("systemPrompt", () => Effect.sync(settings.access.systemPrompt.current))
      .handle("setSystemPrompt", ({ payload }) => answered(settings.access.systemPrompt.patch(payload)))
      .handle("requireLogin", () => Effect.sync(settings.access.requireLogin.current))
      .handle("setRequireLogin", ({ payload }) => answered(settings.access.requireLogin.patch(payload)))
  )
)
