/** `/api/v1/management/proxies` and `/api/settings/proxy`. */
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { contractOf } from "../../contract/GroupContract.ts"
import { Proxies as ProxiesGroup } from "./routes.ts"
import type { ProxyView } from "./routes.ts"
import { maskSecret } from "../../kernel/text/Masking.ts"
import { Proxies, type ProxyReport } from "./service.ts"
import { answered } from "../../entry/handling/Answers.ts"
import { paged } from "../../entry/handling/Pages.ts"
import { iso, isoOrNull } from "../../entry/handling/Views.ts"

const viewOf = ({ condition, isUsable, proxy }: ProxyReport): ProxyView => ({
  id: proxy.id,
  name: proxy.name,
  type: proxy.type,
  host: proxy.host,
  port: proxy.port,
  username: proxy.username,
  password: proxy.password === null ? null : maskSecret(Redacted.value(proxy.password)),
  family: proxy.family,
  source: proxy.source,
  isActive: proxy.isActive,
  usable: isUsable,
  health: {
    state: condition === null ? "unknown" : condition.isWorking ? "working" : "failing",
    checkedAt: isoOrNull(condition?.atMs ?? null),
    latencyMs: condition?.latencyMs ?? null
  },
  createdAt: iso(proxy.createdAtMs),
  updatedAt: iso(proxy.updatedAtMs)
})

const one = (report: ProxyReport) => ({ proxy: viewOf(report) })

export const layer = HttpApiBuilder.group(contractOf(ProxiesGroup), "proxies", (handlers) =>
  Effect.map(Proxies, (proxies) =>
    handlers
      .handle("list", () =>
        Effect.map(
          Effect.flatMap(proxies.list, (all) => paged(all, ({ proxy }) => proxy.id)),
          ({ items, nextCursor, total }) => ({ proxies: items.map(viewOf), nextCursor, total })
        )
      )
      .handle("create", ({ payload }) => answered(Effect.map(proxies.create(payload), one)))
      .handle("update", ({ payload }) => answered(Effect.map(proxies.update(payload), one)))
      .handle("remove", ({ urlParams }) => answered(proxies.remove(urlParams.id)))
      .handle("assignments", () => answered(Effect.map(proxies.assignments, (assignments) => ({ assignments }))))
      .handle("assign", ({ payload }) =>
        answered(Effect.map(proxies.assign(payload), (assignment) => ({ assignment })))
      )
      .handle("settings", () => answered(proxies.settings))
      .handle("setSettings", ({ payload }) => answered(proxies.setSettings(payload)))
      .handle("test", ({ payload }) => answered(proxies.test(payload)))
      .handle("findFree", () =>
        answered(
          Effect.map(proxies.findFree, ({ proxies: working, ...counts }) => ({
            ...counts,
            proxies: working.map(viewOf)
          }))
        )
      )
  )
)
