/** Token limits of keys, found by their id and by their key. As many as the table has. Plain and synchronous. */
import type { TokenLimit } from "../../subjects/limits/entity.ts"

const none: ReadonlyArray<never> = []

export class TokenLimits {
  readonly #byId = new Map<string, TokenLimit>()
  readonly #byKey = new Map<string, Map<string, TokenLimit>>()

  get(id: string): TokenLimit | undefined {
    return this.#byId.get(id)
  }

  /** Lists the limits of a key, oldest first. */
  of(apiKeyId: string): ReadonlyArray<TokenLimit> {
    const found = this.#byKey.get(apiKeyId)
    return found === undefined ? none : [...found.values()]
  }

  list(): ReadonlyArray<TokenLimit> {
    return [...this.#byId.values()]
  }

  /** Adds a limit, or replaces the one of the same id. */
  put(limit: TokenLimit): void {
    const before = this.#byId.get(limit.id)
    if (before !== undefined && before.apiKeyId !== limit.apiKeyId) this.delete(limit.id)
    this.#byId.set(limit.id, limit)
    const ofKey = this.#byKey.get(limit.apiKeyId) ?? new Map<string, TokenLimit>()
    ofKey.set(limit.id, limit)
    this.#byKey.set(limit.apiKeyId, ofKey)
  }

  delete(id: string): void {
    const known = this.#byId.get(id)
    if (known === undefined) return
    this.#byId.delete(id)
    const ofKey = this.#byKey.get(known.apiKeyId)
    ofKey?.delete(id)
    if (ofKey?.size === 0) this.#byKey.delete(known.apiKeyId)
  }

  forgetKey(apiKeyId: string): void {
    for (const { id } of this.of(apiKeyId)) this.delete(id)
  }
}
