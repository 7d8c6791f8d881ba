/** The areas of the system, each loaded when it is opened at `system/<path>`; an object of one stands behind it: `system/<path>/<part>`. */
import { lazy } from "preact-iso"
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
  }
]
