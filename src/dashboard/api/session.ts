/** The session of this page. Its CSRF token is in memory only; the cookie no script can read. */
import { signal } from "@preact/signals"

/** `unknown` until the gateway has said; `over` when a session has ended while the page was used: the page keeps what was typed. */
export type SessionState = "unknown" | "none" | "open" | "over"

export const sessionState = signal<SessionState>("unknown")
export const csrfToken = signal<string | null>(null)
/** There is a password to log in with. */
export const hasPassword = signal(true)

export const opened = (token: string): void => {
  csrfToken.value = token
  sessionState.value = "open"
}

/** An answer said that there is no session. */
export const ended = (): void => {
  csrfToken.value = null
  sessionState.value = sessionState.value === "open" || sessionState.value === "over" ? "over" : "none"
}
