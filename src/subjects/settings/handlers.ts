/** `/api/settings`. */
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { contractOf } from "../../contract/GroupContract.ts"
import { GatewaySettings as GatewaySettingsGroup } from "./routes.ts"
import type { ChangeSettings } from "./routes.ts"
import { GatewaySettings } from "../flags/StoredFlags.ts"
import { maskSecret } from "../../kernel/text/Masking.ts"
import { CloudSync } from "../sync/service.ts"
import { IssueReports } from "../issueReports/service.ts"
import { answered } from "../../entry/handling/Answers.ts"
import { makeOrigins } from "./OriginViews.ts"

const masked = (secret: Redacted.Redacted | null): string | null =>
  secret === null ? null : maskSecret(Redacted.value(secret))

export const layer = HttpApiBuilder.group(contractOf(GatewaySettingsGroup), "gatewaySettings", (handlers) =>
  Effect.map(
    Effect.all([GatewaySettings, CloudSync, IssueReports, makeOrigins]),
    ([settings, sync, reports, origins]) => {
      const whole = Effect.zipWith(sync.state, reports.tracker, ({ cloudUrl, sharedKey }, { token, ...tracker }) => ({
        ...settings.current(),
        cloudUrl,
        sharedKey: masked(sharedKey),
        issues: { ...tracker, token: masked(token) }
      }))
      const change = ({ cloudUrl, issues, sharedKey, ...others }: ChangeSettings) =>
        Effect.gen(function* () {
          // First what can be refused.
          const saveIssues = issues === undefined ? Effect.void : yield* reports.prepare(issues)
          if (cloudUrl !== undefined || sharedKey !== undefined) yield* sync.configure({ cloudUrl, sharedKey })
          yield* saveIssues
          yield* settings.patch(others)
          return yield* whole
        })
      return handlers
        .handle("get", () => answered(whole))
        .handle("update", ({ payload }) => answered(change(payload)))
        .handle("put", ({ payload }) => answered(change(payload)))
        .handle("origins", () => answered(Effect.flatMap(whole, origins)))
        .handle("ipFilter", () => Effect.sync(settings.access.ipFilter.current))
        .handle("setIpFilter", ({ payload }) => answered(settings.access.ipFilter.patch(payload)))
        .handle("thinkingBudget", () => Effect.sync(settings.access.thinkingBudget.current))
        .handle("setThinkingBudget", ({ payload }) => answered(settings.access.thinkingBudget.patch(payload)))
        .handle("systemPrompt", () => Effect.sync(settings.access.systemPrompt.current))
        .handle("setSystemPrompt", ({ payload }) => answered(settings.access.systemPrompt.patch(payload)))
        .handle("requireLogin", () => Effect.sync(settings.access.requireLogin.current))
        .handle("setRequireLogin", ({ payload }) => answered(settings.access.requireLogin.patch(payload)))
    }
  )
)
