/** All views of the dashboard, and a gateway that has something to show in each. */
import type { Page } from "playwright-core"
import type { World } from "./world.ts"

export const views = [
  "",
  "?show=all",
  "?show=all&top=keys",
  "requests",
  "requests/{request}",
  "providers",
  "providers?show=inactive",
  "providers/models",
  "providers/quotas",
  "providers/pauses",
  "providers/nodes",
  "providers/add",
  "providers/add/groq",
  "providers/add/own",
  "providers/add/codex",
  "routing?model=auto",
  "routing/new",
  "routing/combo/best",
  "routing/auto",
  "routing/aliases",
  "routing/fallbacks",
  "routing/groups",
  "routing/groups/new",
  "routing/resilience",
  "routing/settings",
  "keys",
  "keys?by=day&and=provider",
  "keys/{key}",
  "keys/{key}/limits",
  "keys/{key}/rules",
  "keys/month",
  "keys/month?by=team&and=model&below=1",
  "keys/prices",
  "keys/bill",
  "playground",
  "inspector",
  "inspector/sessions",
  "inspector/cache",
  "inspector/capture",
  "inspector/agents",
  "login",
  "system/tunnels",
  "system/proxies",
  "system/mcp",
  "system/mcp/tools",
  "system/mcp/calls",
  "system/agents",
  "system/skills",
  "system/skills/cli-serve",
  "system/tools",
  "system/tools/claude",
  "system/evaluations",
  "system/batches",
  "system/backups",
  "system/sync",
  "system/sessions",
  "system/audit",
  "system",
  "system/people",
  "system/teams",
  "system/settings",
  "system/settings?q=cache",
  "system/settings?show=variables",
  "system/flags",
  "system/guardrails",
  "system/cache",
  "system/compression",
  "system/memory",
  "system/plugins",
  "system/webhooks",
  "system/operations",
  "system/keysCreate"
] as const

export interface Furnished {
  /** Addresses of all views, with those of an account and a key that is there. */
  readonly addresses: ReadonlyArray<string>
}

/** Gives a gateway one account, a combo, an alias, a fallback, a key with limits, and requests of which one has failed. */
export const furnish = async ({ ask, manage, upstream }: World): Promise<Furnished> => {
  const keyId = (await manage<{ key: { id: string } }>("POST", "/api/keys", { name: "ci" })).key.id
  await manage("POST", "/api/usage/budget", { apiKeyId: keyId, dailyLimitUsd: 1, monthlyLimitUsd: 20 })
  await manage("POST", "/api/usage/token-limits", { apiKeyId: keyId, scopeType: "global", tokenLimit: 10_000 })
  const { connection } = await manage<{ connection: { id: string } }>("POST", "/api/providers", {
    provider: "openai",
    name: "work",
    apiKey: "sk-abcdefghijklmnopqrstuvwx1",
    baseUrl: upstream().url
  })
  const account = `providers/${connection.id}`
  await manage("POST", "/api/combos", {
    id: "best",
    name: "best",
    strategy: "weighted",
    targets: [
      { model: "openai/gpt-4o", weight: 3 },
      { model: "openai/gpt-4o-mini", label: "spare" }
    ]
  })
  await manage("POST", "/api/models/alias", { alias: "mine", model: "combo:best" })
  await manage("PATCH", "/api/settings", { modelFallbacks: { "claude-haiku-*": "openai/gpt-4o-mini" } })
  for (let n = 0; n < 2; n++) await ask("openai/gpt-4o-mini")
  const { requestId } = await ask("openai/gpt-4o-mini")
  await ask("nope/model")
  const names = { key: keyId, request: requestId }
  const addresses = [...views, account, `${account}/edit`].map((view) =>
    view.replace(/\{(key|request)\}/, (_, name: keyof typeof names) => names[name])
  )
  return { addresses }
}

/** Waits until a view shows what it has to show: nothing is on its way, no trial runs. */
export const shown = async (page: Page): Promise<void> => {
  await page.getByRole("heading", { level: 1 }).first().waitFor()
  await page.waitForFunction(
    () => document.querySelector(".skeleton, main progress, main [role=progressbar], main [aria-busy=true]") === null
  )
}

/**
 * Makes the window as tall as the page, and waits until no colour or place in it changes any more: what lies below the bar at the bottom is seen by
 * scrolling, and is no fault of a view.
 */
export const wholeInSight = async (page: Page, width: number): Promise<void> => {
  const height = await page.evaluate(() => document.documentElement.scrollHeight)
  await page.setViewportSize({ width, height: Math.max(800, height + 80) })
  await page.waitForFunction(() =>
    document
      .getAnimations()
      .every(({ effect, playState }) => playState !== "running" || effect?.getTiming().iterations === Infinity)
  )
}

/** A view in the name of a file: its address without what differs from run to run. */
export const fileOf = (address: string): string =>
  address === ""
    ? "home"
    : address
        .replace(/[0-9a-f]{8}-[0-9a-f-]{27}/, "one")
        .replaceAll(/[^a-zA-Z0-9]+/g, "-")
        .replaceAll(/^-|-$/g, "")
