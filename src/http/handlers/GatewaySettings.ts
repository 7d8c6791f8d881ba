/** `/api/settings`. */
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { GatewayApi } from "../../api/Api.ts"
import type { ChangeSettings } from "../../api/Groups/GatewaySettings.ts"
import { GatewaySettings } from "../../flags/GatewaySettings.ts"
import { maskSecret } from "../../kernel/Masking.ts"
import { CloudSync } from "../../management/CloudSync.ts"
import { answered } from "./Answers.ts"

export const layer = HttpApiBuilder.group(GatewayApi, "gatewaySettings", (handlers) =>
  Effect.map(Effect.all([GatewaySettings, CloudSync]), ([settings, sync]) => {
    const whole = Effect.map(sync.state, ({ cloudUrl, sharedKey }) => ({
      ...settings.current(),
      cloudUrl,
      sharedKey: sharedKey === null ? null : maskSecret(Redacted.value(sharedKey))
    }))
    const change = ({ cloudUrl, sharedKey, ...others }: ChangeSettings) =>
      Effect.gen(function* () {
        // First what can be refused.
        if (cloudUrl !== undefined || sharedKey !== undefined) yield* sync.configure({ cloudUrl, sharedKey })
        yield* settings.patch(others)
        return yield* whole
      })
    return handlers
      .handle("get", () => answered(whole))
      .handle("update", ({ payload }) => answered(change(payload)))
      .handle("put", ({ payload }) => answered(change(payload)))
      .handle("ipFilter", () => Effect.sync(settings.access.ipFilter.current))
      .handle("setIpFilter", ({ payload }) => answered(settings.access.ipFilter.patch(payload)))
      .handle("thinkingBudget", () => Effect.sync(settings.access.thinkingBudget.current))
      .handle("setThinkingBudget", ({ payload }) => answered(settings.access.thinkingBudget.patch(payload)))
      .handle("systemPrompt", () => Effect.sync(settings.access.systemPrompt.current))
      .handle("setSystemPrompt", ({ payload }) => answered(settings.access.systemPrompt.patch(payload)))
      .handle("requireLogin", () => Effect.sync(settings.access.requireLogin.current))
      .handle("setRequireLogin", ({ payload }) => answered(settings.access.requireLogin.patch(payload)))
  })
)
