/** The areas of the system, each loaded when it is opened at `system/<path>`; an object of one stands behind it: `system/<path>/<part>`. */
import { lazy } from "preact-iso"
import { words } from "../../words/system/areas.ts"

export interface Area {
  readonly path: string
  readonly name: string
  readonly view: ReturnType<typeof lazy<() => preact.JSX.Element>>
}

export const areas: ReadonlyArray<Area> = [
  {
    path: "tunnels",
    name: words.tunnels,
    view: lazy(async () => (await import("./tunnels/Tunnels.tsx")).Tunnels)
  },
  {
    path: "proxies",
    name: words.proxies,
    view: lazy(async () => (await import("./proxies/Proxies.tsx")).Proxies)
  },
  { path: "mcp", name: words.mcp, view: lazy(async () => (await import("./mcp/Mcp.tsx")).Mcp) },
  { path: "agents", name: words.agents, view: lazy(async () => (await import("./agents/Agents.tsx")).Agents) },
  { path: "skills", name: words.skills, view: lazy(async () => (await import("./skills/Skills.tsx")).Skills) },
  { path: "tools", name: words.tools, view: lazy(async () => (await import("./tools/Tools.tsx")).Tools) },
  {
    path: "evaluations",
    name: words.evaluations,
    view: lazy(async () => (await import("./evals/Evaluations.tsx")).Evaluations)
  },
  { path: "batches", name: words.batches, view: lazy(async () => (await import("./batches/Batches.tsx")).Batches) },
  { path: "backups", name: words.backups, view: lazy(async () => (await import("./backups/Backups.tsx")).Backups) },
  { path: "sync", name: words.sync, view: lazy(async () => (await import("./sync/Sync.tsx")).Sync) },
  {
    path: "sessions",
    name: words.sessions,
    view: lazy(async () => (await import("./sessions/Sessions.tsx")).Sessions)
  },
  { path: "audit", name: words.audit, view: lazy(async () => (await import("./audit/Audit.tsx")).Audit) }
]
