/** A state in colour, icon and word: never by colour alone. */
import type { ComponentChildren } from "preact"
import { Icon, type IconName } from "./Icon.tsx"

export type Kind = "good" | "warning" | "bad" | "trial" | "quiet"

const icons: Readonly<Record<Kind, IconName>> = {
  good: "good",
  warning: "warning",
  bad: "bad",
  trial: "info",
  quiet: "none"
}

export const State = ({ children, icon, kind }: { kind: Kind; icon?: IconName; children: ComponentChildren }) => (
  <span class={`state ${kind}`}>
    <Icon name={icon ?? icons[kind]} />
    {children}
  </span>
)
