/** Says whether a plugin is called. */
import type { Kind } from "../../../ui/State.tsx"
import { State } from "../../../ui/State.tsx"
import { words } from "../../../words/system/plugins.ts"

type Status = keyof typeof words.states

const kinds: Readonly<Record<Status, Kind>> = { active: "good", inactive: "quiet", installed: "quiet", error: "bad" }

export const PluginState = ({ status }: { readonly status: Status }) => (
  <State kind={kinds[status]}>{words.states[status]}</State>
)
