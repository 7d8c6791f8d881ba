/** Choices of look, the only thing that the page keeps in the browser. */
import { signal } from "@preact/signals"

export type Theme = "system" | "light" | "dark"

const name = "gateway.theme"

const kept = (): Theme => {
  const value = document.documentElement.dataset["theme"]
  return value === "light" || value === "dark" ? value : "system"
}

export const theme = signal<Theme>(kept())

export const setTheme = (next: Theme): void => {
  theme.value = next
  if (next === "system") delete document.documentElement.dataset["theme"]
  else document.documentElement.dataset["theme"] = next
  try {
    if (next === "system") localStorage.removeItem(name)
    else localStorage.setItem(name, next)
  } catch {
    // Storage is blocked: it holds until the page is left.
  }
}
