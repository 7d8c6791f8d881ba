/** The areas of the system, each loaded when it is opened at `system/<path>`; an object of one stands behind it: `system/<path>/<part>`. */
import { lazy } from "preact-iso"
import { words as operationWords } from "../../words/system/areas.ts"
import { words } from "../../words/system/names.ts"

export interface Area {
  readonly path: string
  readonly name: string
  readonly view: ReturnType<typeof lazy<() => preact.JSX.Element>>
}

export const areas: ReadonlyArray<Area> = [
  {
    path: "settings",
    name: words.settings,
    view: lazy(async () => (await import("./settings/Settings.tsx")).Settings)
  },
  { path: "people", name: words.people, view: lazy(async () => (await import("./people/People.tsx")).People) },
  { path: "teams", name: words.teams, view: lazy(async () => (await import("./people/Teams.tsx")).Teams) },
  { path: "flags", name: words.flags, view: lazy(async () => (await import("./flags/Flags.tsx")).Flags) },
  {
    path: "guardrails",
    name: words.guardrails,
    view: lazy(async () => (await import("./guardrails/Guardrails.tsx")).Guardrails)
  },
  { path: "cache", name: words.cache, view: lazy(async () => (await import("./Cache.tsx")).Cache) },
  {
    path: "compression",
    name: words.compression,
    view: lazy(async () => (await import("./compression/Compression.tsx")).Compression)
  },
  { path: "memory", name: words.memory, view: lazy(async () => (await import("./memory/Memory.tsx")).Memory) },
  { path: "plugins", name: words.plugins, view: lazy(async () => (await import("./plugins/Plugins.tsx")).Plugins) },
  {
    path: "webhooks",
    name: words.webhooks,
    view: lazy(async () => (await import("./webhooks/Webhooks.tsx")).Webhooks)
  },
  {
    path: "tunnels",
    name: operationWords.tunnels,
    view: lazy(async () => (await import("./tunnels/Tunnels.tsx")).Tunnels)
  },
  {
    path: "proxies",
    name: operationWords.proxies,
    view: lazy(async () => (await import("./proxies/Proxies.tsx")).Proxies)
  },
  { path: "mcp", name: operationWords.mcp, view: lazy(async () => (await import("./mcp/Mcp.tsx")).Mcp) },
  { path: "agents", name: operationWords.agents, view: lazy(async () => (await import("./agents/Agents.tsx")).Agents) },
  { path: "skills", name: operationWords.skills, view: lazy(async () => (await import("./skills/Skills.tsx")).Skills) },
  { path: "tools", name: operationWords.tools, view: lazy(async () => (await import("./tools/Tools.tsx")).Tools) },
  {
    path: "evaluations",
    name: operationWords.evaluations,
    view: lazy(async () => (await import("./evals/Evaluations.tsx")).Evaluations)
  },
  {
    path: "batches",
    name: operationWords.batches,
    view: lazy(async () => (await import("./batches/Batches.tsx")).Batches)
  },
  {
    path: "backups",
    name: operationWords.backups,
    view: lazy(async () => (await import("./backups/Backups.tsx")).Backups)
  },
  { path: "sync", name: operationWords.sync, view: lazy(async () => (await import("./sync/Sync.tsx")).Sync) },
  {
    path: "sessions",
    name: operationWords.sessions,
    view: lazy(async () => (await import("./sessions/Sessions.tsx")).Sessions)
  },
  { path: "audit", name: operationWords.audit, view: lazy(async () => (await import("./audit/Audit.tsx")).Audit) }
]
