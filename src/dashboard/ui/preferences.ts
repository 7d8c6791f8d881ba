/** Choices of look, the only thing that the page keeps in the browser. */
import { signal } from "@preact/signals"

export type Theme = "system" | "light" | "dark"
export type Density = "usual" | "compact" | "roomy"

/** All that is kept in the browser; nothing else is written there. */
type Choice = "theme" | "density" | "shortcuts"

const read = (name: Choice): string | null => {
  try {
    return localStorage.getItem(`gateway.${name}`)
  } catch {
    return null
  }
}

/** Null takes it away. */
const keep = (name: Choice, value: string | null): void => {
  try {
    if (value === null) localStorage.removeItem(`gateway.${name}`)
    else localStorage.setItem(`gateway.${name}`, value)
  } catch {
    // Storage is blocked: it holds until the page is left.
  }
}

const shown = (name: Exclude<Choice, "shortcuts">, value: string | null): void => {
  if (value === null) delete document.documentElement.dataset[name]
  else document.documentElement.dataset[name] = value
  keep(name, value)
}

const look = (name: Exclude<Choice, "shortcuts">): string | undefined => document.documentElement.dataset[name]

const keptTheme = look("theme")
export const theme = signal<Theme>(keptTheme === "light" || keptTheme === "dark" ? keptTheme : "system")

export const setTheme = (next: Theme): void => {
  theme.value = next
  shown("theme", next === "system" ? null : next)
}

const keptDensity = look("density")
export const density = signal<Density>(keptDensity === "compact" || keptDensity === "roomy" ? keptDensity : "usual")

export const setDensity = (next: Density): void => {
  density.value = next
  shown("density", next === "usual" ? null : next)
}

/** Keys of the whole page count. */
export const hasShortcuts = signal(read("shortcuts") !== "off")

export const setShortcuts = (next: boolean): void => {
  hasShortcuts.value = next
  keep("shortcuts", next ? null : "off")
}
