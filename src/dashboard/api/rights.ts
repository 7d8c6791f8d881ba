/** The caller of this page and the rights it has, as the gateway says. What they do not open is not shown; the gateway refuses it in any case. */
import { signal } from "@preact/signals"
import { authMe } from "./calls.generated.ts"
import type { AnswerOf } from "./client.ts"

export type Me = AnswerOf<typeof authMe>
export type Operation = keyof Me["rights"]
type Reach = Me["rights"][Operation]

/** Null until the gateway has answered, and without a session. */
export const me = signal<Me | null>(null)

/** Learns who has the session of the browser. */
export const learnMe = async (): Promise<void> => {
  try {
    me.value = await authMe()
  } catch {
    // Views say why they are refused.
    me.value = null
  }
}

export const reachOf = (operation: Operation): Reach => me.value?.rights[operation] ?? "all"

/** The administrator by password, or a person whose role administers the gateway. */
export const isAdministrator = (): boolean => reachOf("administer") === "all"

/** Checks whether an operation reaches more than what is the person's own. */
export const reachesOthers = (operation: Operation): boolean => ["team", "all"].includes(reachOf(operation))

/** The person who has signed in by a directory; null: the administrator has logged in. */
export const signedIn = (): Me["person"] => me.value?.person ?? null
