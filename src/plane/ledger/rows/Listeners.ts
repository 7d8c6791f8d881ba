/** Listeners of the messages to the ledger of a node, by topic. Plain and synchronous. */
import type { Unlisten } from "../../state/link/OwnerLink.ts"

export class Listeners {
  readonly #topics = new Map<string, Set<(body: unknown) => void>>()
  readonly #watchers = new Set<(isUp: boolean) => void>()

  listen(topic: string, listener: (body: unknown) => void): Unlisten {
    const listeners = this.#topics.get(topic) ?? new Set()
    this.#topics.set(topic, listeners.add(listener))
    return () => void listeners.delete(listener)
  }

  watch(listener: (isUp: boolean) => void): Unlisten {
    this.#watchers.add(listener)
    return () => void this.#watchers.delete(listener)
  }

  tell(topic: string, body: unknown): void {
    for (const listener of this.#topics.get(topic) ?? []) listener(body)
  }

  tellUp(isUp: boolean): void {
    for (const watcher of this.#watchers) watcher(isUp)
  }
}
